"""Measures a compute device by itself: the speed of its memory and of its link, the cost of passes with
resident weights, and how far its results are from the CPU's."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from engine import catalog
from engine.bench.options import PROMPT
from engine.bench.random_weights import random_bytes
from engine.bench.timings import finish, timed
from engine.checkpoints import open_checkpoint
from engine.model.interface import Device, no_progress
from engine.model.rows import Rows
from engine.model.sequence import Sequence
from engine.quantization import Packed, packed_in
from engine.tokenizer import load_tokenizer
from engine.torch_model.forward import TorchModel
from engine.torch_model.loader import load_model


def memory_speed(device: Device, nbytes: int = 1 << 27) -> float:
    """Measure the speed of copying within the device's memory, in 10^9 bytes per second. Bytes read and bytes
    written both count."""
    source = torch.ones(nbytes, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)

    def copy() -> None:
        for _ in range(4):
            target.copy_(source)
        finish(device)

    return 4 * 2 * nbytes / timed(copy, 5).s / 1e9


def copy_speed(device: Device, nbytes: int = 1 << 28) -> float | None:
    """Measure the speed of copying from pinned memory to the device, in 10^9 bytes per second. Return None
    for the CPU."""
    if device == "cpu":
        return None
    source = torch.ones(nbytes, dtype=torch.uint8).pin_memory()
    target = torch.empty(nbytes, dtype=torch.uint8, device=device)

    def copy() -> None:
        for _ in range(4):
            target.copy_(source, non_blocking=True)
        finish(device)

    return 4 * nbytes / timed(copy, 5).s / 1e9


def unpack(matrices: Iterable[Packed], device: Device) -> None:
    """Unpack every matrix and discard the result."""
    for matrix in matrices:
        for _, piece in matrix.pieces():
            assert len(piece)
    finish(device)


@contextmanager
def in_place(model: TorchModel) -> Iterator[list[Packed]]:
    """Inside the `with` block, let the streamed matrices of `model` use random bytes on the device instead of
    being streamed; yield these matrices.

    All layers share the same bytes. A layer is too large for a cache, so a pass costs as much as with
    resident weights.
    """
    module: Any = model.module
    shared: dict[int, list[torch.Tensor]] = {}
    moved = []
    for part in (*module.model.layers, module.lm_head):
        for place, matrix in enumerate(packed_in(part)):
            if matrix.mover is None:
                continue
            key = place if part is not module.lm_head else -1 - place
            if key not in shared:
                rows, columns = matrix.shape
                shared[key] = [random_bytes(matrix.format.name, rows * columns, model.device)]
            moved.append((matrix, matrix.mover))
            matrix.mover, matrix.parts = None, shared[key]
    try:
        yield [matrix for matrix, _ in moved]
    finally:
        for matrix, mover in moved:
            matrix.mover, matrix.parts = mover, ()


@dataclass(frozen=True, slots=True)
class Sameness:
    """How far a device's results are from the CPU's, both in float32.

    `max_difference`: the largest difference between the prompt's logits. `largest`: the largest magnitude of
    these logits. `tokens`: the number of tokens decoded greedily. `equal`: the number of tokens before the
    first that differs. `margin`: the difference between the CPU's two best logits at that token; None if no
    token differs.
    """

    max_difference: float
    largest: float
    tokens: int
    equal: int
    margin: float | None


def compare(device: Device, tokens: int = 48) -> Sameness:
    """Compare the embedded model's results on `device` with those on the CPU.

    Raises ModelNotFound if the embedded model is not installed.
    """
    cpu: Device = "cpu"
    logits, margins, texts = [], list[list[float]](), list[list[int]]()
    for place in (cpu, device):
        prompt, chosen, margin = _greedy(place, tokens)
        logits.append(prompt)
        texts.append(chosen)
        margins.append(margin)
    pairs = zip(*texts, strict=True)
    equal = next((index for index, (a, b) in enumerate(pairs) if a != b), tokens)
    difference, largest = float((logits[0] - logits[1]).abs().max()), float(logits[0].abs().max())
    return Sameness(difference, largest, tokens, equal, margins[0][equal] if equal < tokens else None)


def _greedy(device: Device, tokens: int) -> tuple[Tensor, list[int], list[float]]:
    """Return the prompt's logits [rows, vocabulary], the tokens after it, and for each token how far its
    logit is above the second best."""
    checkpoint = open_checkpoint(catalog.resolve(catalog.default_target()))
    prompt = load_tokenizer(checkpoint).encode_chat([{"role": "user", "content": PROMPT}])
    context = len(prompt) + tokens
    model = load_model(checkpoint, torch.float32, device, no_progress, context)
    sequence = Sequence(model, context)
    logits = model.forward(Rows.text(prompt, 0), sequence.cache).logits
    sequence.keep(range(len(prompt)), prompt)
    chosen: list[int] = []
    margins: list[float] = []
    last = logits[-1]
    while len(chosen) < tokens:
        best = last.topk(2)
        chosen.append(int(best.indices[0]))
        margins.append(float(best.values[0] - best.values[1]))
        last = sequence.extend(chosen[-1:])
    return logits.cpu(), chosen, margins
