"""Tiny mixtures whose experts are in a device's memory, in RAM and on the SSD at once, and what must hold
wherever they run: `tests/engine/card` asks it of the card for tests, `tests/gpu` of a real one."""

from collections import defaultdict
from collections.abc import Collection
from pathlib import Path
from unittest.mock import patch

import pytest
import torch

from engine.checkpoints import open_checkpoint
from engine.decoding.budget import FixedLimits
from engine.decoding.iteration import Iterated, Prefilled, decode
from engine.decoding.verification import TargetVerifier
from engine.drafting import TreeLimits
from engine.drafting.none import NoDrafter
from engine.model.interface import Progress, no_progress
from engine.model.reader import expert_of, order_of_use
from engine.model.sequence import Sequence
from engine.planner.expert_times import ExpertTimes
from engine.quantization import Experts
from engine.sampling import Sampler
from engine.streaming import StoredMatrix, WeightLimits, chunks
from engine.torch_model.forward import TorchModel
from engine.torch_model.loader import load_model
from engine.torch_model.near_experts import ExpertProcessor
from tests.engine.models import CONTEXT, reference

TEXT = [1, 5, 9, 30, 2, 44, 17, 8, 60, 3, 3, 21, 33, 52, 11, 40, 6, 28, 19, 55]
EXPERTS, WIDTH, INNER = 8, 64, 32
# For each kind, its settings for the number of experts and for their inner width.
KINDS = {
    "olmoe": ("num_experts", "intermediate_size"),
    "qwen3_moe": ("num_experts", "moe_intermediate_size"),
    "gpt_oss": ("num_local_experts", "intermediate_size"),
}
# Seconds by which the processor multiplies by all experts that are in RAM, and by some.
SLOW_LINK = ExpertTimes(link_s=1.0, exchange_s=0.0, expert_s=1e-3, row_s=1e-5)
EVEN = ExpertTimes(link_s=1.0, exchange_s=0.0, expert_s=0.8, row_s=0.0)


def write(kind: str, folder: Path) -> Path:
    """Write a mixture as GGUF, in float32. Skips the test where no package is there that writes it."""
    pytest.importorskip("gguf", reason="needs the package gguf")
    from tests.engine.checkpoints.gguf_converter import convert

    count, inner = KINDS[kind]
    module = reference(kind, hidden_size=WIDTH, **{count: EXPERTS, inner: INNER})
    return convert(module, folder / f"{kind}.gguf")


def limits(path: Path, on_device: int, in_ram: int | None = None) -> WeightLimits:
    """Return those with which a device holds all but the experts, and of these so many; and RAM so many of
    them, the rest staying on the disk. in_ram: None for all."""
    always, experts = list[StoredMatrix](), defaultdict[tuple[int, int], list[StoredMatrix]](list)
    weights = open_checkpoint(path).weights
    for name in sorted(weights, key=order_of_use):
        if name.endswith(("_proj.weight", "lm_head.weight")):
            expert = expert_of(name)
            (experts[expert] if expert else always).append(StoredMatrix(None, weights[name].spans))
    slot = max(chunks.make_chunk(each).nbytes for each in experts.values())
    nbytes = sum(chunk.nbytes for chunk in chunks.split(always, slot))
    return WeightLimits(nbytes + on_device * slot, None if in_ram is None else in_ram * slot)


def load(
    path: Path,
    device: str,
    within: WeightLimits | None = None,
    times: ExpertTimes | None = None,
    helps: bool = False,
) -> TorchModel:
    """times: by which the processor helps, in place of those measured; helps: whether it does by those."""
    help_by = "auto" if helps or times is not None else "never"
    how = {"limits": within, "processor_helps": help_by}
    trial = ExpertProcessor._timed
    with patch.object(ExpertProcessor, "_timed", lambda own: trial(own) if times is None else times):
        return load_model(open_checkpoint(path), torch.float32, device, no_progress, CONTEXT, **how)


def tokens_of(model: TorchModel, progress: Progress = no_progress) -> list[int]:
    """Return a greedy answer, one row in a pass."""
    sampler, none = Sampler(), TreeLimits(0, 4, 4)
    verifier, tokens = TargetVerifier(Sequence(model, CONTEXT), sampler), list[int]()
    for event in decode(verifier, NoDrafter(), sampler, TEXT, FixedLimits(none), (), 16, progress):
        if isinstance(event, Prefilled):
            tokens.append(event.token)
        elif isinstance(event, Iterated):
            tokens += event.tokens
    return tokens


def expected(path: Path) -> list[int]:
    """Return the answer of the whole model on the processor."""
    model = load(path, "cpu")
    tokens = tokens_of(model)
    model.close()
    return tokens


def check_homes(path: Path, device: str, times: ExpertTimes | None = None, helps: bool = False) -> None:
    """Experts are used where they are, in all three homes, and the answer is that of the whole model."""
    model = load(path, device, limits(path, on_device=6, in_ram=8), times, helps)
    assert tokens_of(model) == expected(path)
    counts = model.experts
    assert counts.hits > 0, "on the device"
    assert counts.near + counts.ram.hits > 0, "in RAM"
    assert counts.from_disk > 0, "on the SSD"
    if times is not None or not helps:
        assert (counts.near > 0) == (times is not None)
    model.close()


class Shortage:
    """The progress of passes that run out of the device's memory in the middle, when the second layer has
    reported for the n-th time, for each n of `moments`."""

    def __init__(self, moments: Collection[int]) -> None:
        self.left = set(moments)
        self._reports = 0

    def __call__(self, done: int, total: int) -> None:
        self._reports += done == 1
        if done == 1 and self._reports in self.left:
            self.left.remove(self._reports)
            raise torch.OutOfMemoryError("CUDA out of memory.")


def check_shrunk_cache(path: Path, device: str, times: ExpertTimes | None = None) -> None:
    """A cache that gives memory back, in the prompt and in the middle of the answer, changes no token."""
    model = load(path, device, limits(path, on_device=8, in_ram=8), times)
    before, shortage = model.streamer.cache_nbytes, Shortage((3, 20))
    assert tokens_of(model, shortage) == expected(path)
    assert not shortage.left, "both passes ran out of memory"
    assert 0 < model.streamer.cache_nbytes < before
    model.close()


def check_order(path: Path, device: str, times: ExpertTimes | None = None) -> None:
    """What experts give is added in the order in which the router names them, to the bit; with `times`,
    whichever of both multiplies by an expert: the processor by every second one."""
    model = load(path, device, limits(path, on_device=3), times)
    experts = next(part for part in model.module.modules() if isinstance(part, Experts))
    x, shares = torch.full((1, WIDTH), 0.5, device=device), torch.ones(1, 3, device=device)
    if times is not None:
        loan = model.near_experts.loan
        loan.take = lambda lacking, rows: [each for each in lacking if each % 2]
        loan.ahead = lambda: 0

    def given(*chosen: int) -> torch.Tensor:
        model.streamer.near_experts.clear()
        with torch.inference_mode():
            table = torch.tensor([chosen], device=device)
            return experts(x, table, shares[:, : len(chosen)]).cpu()

    alone = [given(expert) for expert in range(EXPERTS)]
    orders = ([5, 0, 3], [3, 5, 0], [0, 3, 5], [2, 7, 4])
    for first, second, third in orders:
        assert torch.equal(given(first, second, third), alone[first] + alone[second] + alone[third])
    assert any(
        not torch.equal((alone[a] + alone[b]) + alone[c], (alone[c] + alone[b]) + alone[a])
        for a, b, c in orders
    ), "the order shows"
    assert (model.experts.near > 0) == (times is not None)
    assert model.experts.misses > 0
    model.close()
