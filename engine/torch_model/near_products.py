"""A processor that helps a card: it multiplies by some matrices where they lie in RAM, so that these need not
cross the link in each pass.

Both need the same input, which only the card has: the processor begins when the input has reached RAM, and
the card goes on when it has the processor's outputs. Meanwhile the link brings the next chunks.
"""

import time
from collections import deque
from collections.abc import Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.compiled.matrix import StreamedMatrix, can_tile
from engine.compiled.pool import ComputePool
from engine.compiled.stored_product import StoredProducts
from engine.planner.lent_share import ROWS
from engine.quantization import Packed
from engine.streaming import Streamer
from engine.streaming.device_ring import DeviceLink, Event
from engine.torch_model.near_rooms import Rooms, copyable


class Processor:
    """The processor's products for one model, which share an input. A thread leads them, while the caller
    launches products on the card."""

    def __init__(self, matrices: Sequence[StreamedMatrix], link: DeviceLink, pool: ComputePool) -> None:
        self._link = link
        self._products = StoredProducts(matrices, pool, ROWS, partial(copyable, link))
        self._rooms = Rooms(link, 4 * ROWS * max(matrix.shape[0] for matrix in matrices))
        self._leader = ThreadPoolExecutor(1, thread_name_prefix="near")
        self._jobs: deque[Future[tuple[Tensor, Tensor]]] = deque()  # room and, in it, the output
        self._sent: Event = None
        self._like = torch.empty(0)

    def send(self, x: Tensor) -> None:
        """See `engine.quantization.NearProduct`."""
        self._drop()
        torch.from_numpy(self._products.input(*x.shape)).copy_(x.float(), non_blocking=True)
        self._sent = self._link.used()
        self._like = x

    def start(self, number: int) -> None:
        """Start multiplying by matrix number `number`."""
        self._jobs.append(self._leader.submit(self._multiply, number, len(self._like)))

    def finish(self) -> Tensor:
        """See `engine.quantization.NearProduct`."""
        (room, output), x = self._jobs.popleft().result(), self._like
        return self._rooms.send(room, output, x)

    def close(self) -> None:
        """End the thread."""
        self._drop()
        self._leader.shutdown()

    def _drop(self) -> None:
        """Wait for products that a pass has left behind when it ended early."""
        while self._jobs:
            job = self._jobs.popleft()
            if not job.cancel() and job.exception() is None:
                self._rooms.give_back(job.result()[0])

    def _multiply(self, number: int, rows: int) -> tuple[Tensor, Tensor]:
        self._link.wait(self._sent)
        numbers = self._products.multiply(number, rows)
        room = self._rooms.take()
        output = room[: numbers.size].view(numbers.shape)
        np.copyto(output.numpy(), numbers)
        return room, output


@dataclass(frozen=True, slots=True)
class OwnProduct:
    """The `NearProduct` of one matrix."""

    processor: Processor
    number: int

    def send(self, x: Tensor) -> None:
        self.processor.send(x)

    def start(self) -> None:
        self.processor.start(self.number)

    def finish(self) -> Tensor:
        return self.processor.finish()


class NearProducts:
    """The products of all matrices that can be lent to the processor.

    Attributes: `sizes`: bytes of each chunk that can be lent, by its number.
    """

    def __init__(
        self, streamer: Streamer, link: DeviceLink, pool: ComputePool, kept: Collection[Packed]
    ) -> None:
        """pool: the processor's threads. kept: matrices that are not lent, such as those of a head, whose
        output is large."""
        usable: dict[int, list[tuple[Packed, NDArray[np.uint8]]]] = {}
        for number, in_ram in streamer.lendable.items():
            lent = [
                (matrix, parts[0])
                for matrix, parts in in_ram
                if isinstance(matrix, Packed) and matrix not in kept and _has_tiles(matrix, parts)
            ]
            if len(lent) == len(in_ram):
                usable[number] = lent
        self.sizes = {number: sum(part.nbytes for _, part in chunk) for number, chunk in usable.items()}
        self._near: dict[int, list[tuple[Packed, OwnProduct]]] = {}
        self._processor: Processor | None = None
        if not usable:
            return
        matrices: list[StreamedMatrix] = []
        for number, chunk in usable.items():
            for matrix, stored in chunk:
                place = np.array([stored.ctypes.data], np.int64)
                matrices.append(StreamedMatrix(matrix.format.name, matrix.shape, number, place))
        self._processor = processor = Processor(matrices, link, pool)
        places = iter(range(len(matrices)))
        for number, chunk in usable.items():
            self._near[number] = [(matrix, OwnProduct(processor, next(places))) for matrix, _ in chunk]

    def close(self) -> None:
        """End the thread of the processor's products."""
        if self._processor:
            self._processor.close()

    def turn(self, number: int, on: bool) -> None:
        """Let the processor multiply by a chunk's matrices from now on, or no more."""
        for matrix, product in self._near[number]:
            matrix.near = product if on else None

    def bytes_per_s(self, rows: int) -> float:
        """Return how many bytes of stored weights the processor multiplies by `rows` rows in a second, from
        the products of one chunk."""
        number = next(iter(self._near))
        seconds = []
        for _ in range(3):
            started = time.perf_counter()
            for matrix, product in self._near[number]:
                product.send(torch.ones(rows, matrix.shape[1]))
                product.start()
                product.finish()
            seconds.append(time.perf_counter() - started)
        return self.sizes[number] / min(seconds)


def _has_tiles(matrix: Packed, parts: Sequence[NDArray[np.uint8]]) -> bool:
    return len(parts) == 1 and can_tile(matrix.format.name, matrix.shape)
