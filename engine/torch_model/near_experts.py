"""A processor that multiplies by experts of mixtures where they lie in RAM, beside a card that multiplies by
those that it holds.

Only the rows cross the link, to RAM, and what the experts give them, to the card. There it is added up with
what the card's own experts give, in the order of the router's choice.
"""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from engine.compiled.matrix import StreamedMatrix, can_tile
from engine.compiled.pool import ComputePool
from engine.compiled.stored_experts import StoredExperts
from engine.compiled.table import address
from engine.planner.expert_times import ROWS, ExpertTimes
from engine.quantization import Experts
from engine.streaming import Streamer
from engine.streaming.device_experts import DeviceExperts
from engine.streaming.device_ring import DeviceLink
from engine.streaming.expert_loan import ExpertLoan
from engine.torch_model.near_rooms import Rooms, copyable

# Experts and rows of the products that are timed.
_TRIED = 8
_MANY_ROWS = 8
_TIMES = 3

Rows = Sequence[NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class NearMixture:
    """A mixture by whose experts the processor can multiply. Attributes: `experts`; `numbers`, those of the
    experts in the card's cache, in the order of the mixture; `matrices` of each expert; `begins`: where each
    of these begins in the expert's bytes."""

    experts: Experts
    numbers: tuple[int, ...]
    matrices: tuple[tuple[StreamedMatrix, ...], ...]
    begins: tuple[tuple[int, ...], ...]

    @property
    def shape(self) -> tuple[Any, ...]:
        """What is common to mixtures that share the memory of their products."""
        of_one = tuple(matrix.shape for matrix in self.matrices[0])
        return self.experts.kinds, len(self.matrices), of_one

    def locate(self, slabs: Mapping[int, NDArray[np.uint8]], experts: Sequence[int]) -> None:
        """Note where the bytes of these experts lie. slabs: those of each, by its number in the cache."""
        for expert in experts:
            start = address(slabs[self.numbers[expert]])
            for matrix, begin in zip(self.matrices[expert], self.begins[expert], strict=True):
                matrix.place[0] = start + begin


def near_mixtures(module: nn.Module, streamer: Streamer) -> list[NearMixture]:
    """Return the mixtures of a model, all of one shape, whose experts have formats of compiled passes."""
    found: list[NearMixture] = []
    places = streamer.expert_places
    for experts in module.modules():
        if isinstance(experts, Experts) and (near := _near_mixture(experts, places)):
            found.append(near)
    return [mixture for mixture in found if mixture.shape == found[0].shape]


def _near_mixture(experts: Experts, places: Mapping[int, tuple[int, tuple[int, ...]]]) -> NearMixture | None:
    numbers, matrices, begins = [], [], []
    for expert in range(experts.count):
        of_expert: list[StreamedMatrix] = []
        begin_at: list[int] = []
        for matrix in experts.matrices([expert]):
            number, parts = places[id(matrix)]
            if len(parts) != 1 or not can_tile(matrix.format.name, matrix.shape):
                return None
            place = np.zeros(1, np.int64)
            of_expert.append(StreamedMatrix(matrix.format.name, matrix.shape, number, place))
            begin_at += parts
        numbers.append(of_expert[0].chunk)
        matrices.append(tuple(of_expert))
        begins.append(tuple(begin_at))
    return NearMixture(experts, tuple(numbers), tuple(matrices), tuple(begins))


class ExpertProcessor:
    """The processor's products for the mixtures of one model. A thread leads them, while the caller launches
    those of the card.

    Attribute: `loan`, which divides the experts that the card lacks.
    """

    def __init__(
        self,
        mixtures: Sequence[NearMixture],
        chosen: int,
        cache: DeviceExperts,
        device: str,
        link: DeviceLink,
        pool: ComputePool,
    ) -> None:
        """mixtures: as `near_mixtures` returns them. chosen: how many experts a row uses. cache: that of the
        card, from which two experts can be lent. device: the card. pool: the processor's threads."""
        self._mixtures, self._cache, self._link = mixtures, cache, link
        self._choices = choices = ROWS * chosen
        self._into = StoredExperts([[one[:-1] for one in each.matrices] for each in mixtures], pool, choices)
        self._down = StoredExperts([[one[-1:] for one in each.matrices] for each in mixtures], pool, choices)
        self._device, self._width = device, mixtures[0].matrices[0][0].shape[1]
        self._input = torch.from_numpy(copyable(link, 4 * ROWS * self._width).view(np.float32))
        self._rooms = Rooms(link, 4 * choices * self._width)
        # In RAM, because the processor adds them.
        self._biases = [
            {name: bias.detach().cpu() for name, bias in each.experts.named_parameters(recurse=False)}
            for each in mixtures
        ]
        self._leader = ThreadPoolExecutor(1, thread_name_prefix="near experts")
        self._job: Future[tuple[Tensor, Tensor, float]] | None = None  # room, output in it, seconds
        self._like = torch.empty(0)
        self._rows: list[int] = []  # of each expert of the job
        self._slabs: dict[int, NDArray[np.uint8]] = {}  # of the experts that are lent
        try:
            self.loan = ExpertLoan(self._timed())
        except BaseException:
            self.close()
            raise

    def help(self) -> None:
        """Let the processor multiply by experts from now on."""
        for number, mixture in enumerate(self._mixtures):
            mixture.experts.near = _OwnExperts(self, number)

    def close(self) -> None:
        """End the thread."""
        self._drop()
        self._leader.shutdown()

    def take(self, mixture: int, used: Sequence[int], rows: Sequence[int]) -> list[int]:
        """See `engine.quantization.NearExperts`. Experts that are in RAM now are lent until `finish`."""
        self._drop()
        if sum(rows) > self._choices:
            return []
        numbers = self._mixtures[mixture].numbers
        local = {numbers[expert]: expert for expert in used}
        of_each = {numbers[expert]: count for expert, count in zip(used, rows, strict=True)}
        lacking = self._cache.lacking(list(local))
        self._slabs = self._cache.lend(self.loan.take(lacking, of_each))
        self.loan.lent([of_each[number] for number in self._slabs], len(lacking) - len(self._slabs))
        return [local[number] for number in self._slabs]

    def start(self, mixture: int, x: Tensor, experts: Sequence[int], rows: Rows) -> None:
        """See `engine.quantization.NearExperts`. Experts that are worth it are copied to the card meanwhile,
        for later passes, as far as the link has time."""
        self._start(mixture, x, experts, rows)
        if ahead := self.loan.ahead():
            for expert in list(experts)[-ahead:]:  # the last one is worth most, of those with as many rows
                self._cache.bring(self._mixtures[mixture].numbers[expert])

    def finish(self) -> Tensor:
        """See `engine.quantization.NearExperts`."""
        output, seconds = self._finish()
        self.loan.done(self._rows, seconds)
        return output

    def _start(self, mixture: int, x: Tensor, experts: Sequence[int], rows: Rows) -> None:
        self._like = x
        self._rows = [len(each) for each in rows]
        self._mixtures[mixture].locate(self._slabs, experts)
        numbers = self._input[: x.numel()].view(x.shape)
        numbers.copy_(x.float(), non_blocking=True)
        sent = self._link.used()
        self._job = self._leader.submit(self._multiply, mixture, numbers.numpy(), sent, list(experts), rows)

    def _finish(self) -> tuple[Tensor, float]:
        assert self._job is not None
        job, self._job = self._job, None
        try:
            room, output, seconds = job.result()
        finally:
            self._give_back()
        return self._rooms.send(room, output, self._like), seconds

    def _drop(self) -> None:
        """Wait for products that a pass has left behind when it ended early."""
        job, self._job = self._job, None
        if job and not job.cancel() and job.exception() is None:
            self._rooms.give_back(job.result()[0])
        self._give_back()

    def _give_back(self) -> None:
        """Nobody multiplies by the experts that were lent."""
        if self._slabs:
            self._slabs = self._cache.lend(())

    # -- the thread ------------------------------------------------------------------------------------------

    def _multiply(
        self, mixture: int, x: NDArray[np.float32], sent: Any, experts: list[int], rows: Rows
    ) -> tuple[Tensor, Tensor, float]:
        self._link.wait(sent)
        begun = time.perf_counter()
        module, biases = self._mixtures[mixture].experts, self._biases[mixture]
        counts = [len(each) for each in rows]
        of_choice = torch.from_numpy(np.repeat(experts, counts))

        def biased(kind: str, numbers: NDArray[np.float32]) -> Tensor:
            bias, product = biases.get(f"{kind}_bias"), torch.from_numpy(numbers)
            return product if bias is None else product + bias[of_choice]

        products = self._into.multiply(mixture, experts, counts, x[np.concatenate(rows)])
        of_kind = dict(zip(module.kinds, products, strict=False))
        inner = module.inner(lambda kind: biased(kind, of_kind[kind])).numpy()
        (down,) = self._down.multiply(mixture, experts, counts, inner)
        room = self._rooms.take()
        output = room[: down.size].view(down.shape)
        output.copy_(biased(module.kinds[-1], down))
        return room, output, time.perf_counter() - begun

    # -- the trial at loading --------------------------------------------------------------------------------

    def _timed(self) -> ExpertTimes:
        """Return the seconds of products and of copies, both at once, because both read RAM; and those in
        which rows and results cross the link. The least of some trials with experts of different mixtures,
        which are in no cache of the processor."""
        few: list[float] = []
        many: list[float] = []
        copies, exchanges = [], []
        for trial in range(_TIMES + 1):
            for seconds, rows in ((few, 1), (many, _MANY_ROWS)):
                self._lend(2 * trial)
                self._try(2 * trial, rows)
                copies.append(self._copied(2 * trial + 1))
                seconds.append(self._finish()[1])
            self._lend(2 * trial)
            begun = time.perf_counter()
            self._try(2 * trial, _MANY_ROWS)
            product_s = self._finish()[1]
            self._link.wait(self._link.used())  # until the results are on the card
            exchanges.append(time.perf_counter() - begun - product_s)
        experts = len(self._tried)
        few_s, many_s = min(few[1:]), min(many[1:])  # but for the first, which finds no memory warm
        row_s = max(0.0, many_s - few_s) / experts / (_MANY_ROWS - 1)
        return ExpertTimes(min(copies[2:]), min(exchanges[1:]), max(0.0, few_s / experts - row_s), row_s)

    @property
    def _tried(self) -> range:
        """The experts of a mixture that are tried."""
        return range(min(_TRIED, len(self._mixtures[0].numbers), self._cache.most_lent // 2))

    def _lend(self, trial: int) -> None:
        """Borrow the experts that are tried of a mixture, and those of the next one, which are copied."""
        self._slabs = self._cache.lend_all([*self._numbers(trial), *self._numbers(trial + 1)])

    def _numbers(self, trial: int) -> list[int]:
        numbers = self._mixtures[trial % len(self._mixtures)].numbers
        return [numbers[expert] for expert in self._tried]

    def _try(self, trial: int, rows: int) -> None:
        """Start products with so many rows of each expert that is tried."""
        mixture = trial % len(self._mixtures)
        x = torch.ones(rows, self._width, device=self._device)
        self._start(mixture, x, self._tried, [np.arange(rows) for _ in self._tried])

    def _copied(self, trial: int) -> float:
        return self._cache.copy_s([self._slabs[number] for number in self._numbers(trial)])


@dataclass(frozen=True, slots=True)
class _OwnExperts:
    """The `NearExperts` of one mixture."""

    processor: ExpertProcessor
    number: int

    def take(self, used: Sequence[int], rows: Sequence[int]) -> list[int]:
        return self.processor.take(self.number, used, rows)

    def start(self, x: Tensor, experts: Sequence[int], rows: Rows) -> None:
        self.processor.start(self.number, x, experts, rows)

    def finish(self) -> Tensor:
        return self.processor.finish()
