"""What bounds a streamed pass on this machine: the memory's speed, the link's, and computing without it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from engine.bench.made_up import random_bytes
from engine.bench.timing import finish, timed
from engine.model import Model
from engine.quantization import Packed, packed_in


def memory_speed(device: torch.device, nbytes: int = 1 << 27) -> float:
    """10^9 bytes per second, read and written, of copying within the device's memory."""
    source = torch.ones(nbytes, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)

    def copy() -> None:
        for _ in range(4):
            target.copy_(source)
        finish(device)

    return 4 * 2 * nbytes / timed(copy, 5).s / 1e9


def copy_speed(device: torch.device, nbytes: int = 1 << 28) -> float | None:
    """10^9 bytes per second of copying from pinned memory to the device; None for the CPU."""
    if device.type == "cpu":
        return None
    source = torch.ones(nbytes, dtype=torch.uint8).pin_memory()
    target = torch.empty(nbytes, dtype=torch.uint8, device=device)

    def copy() -> None:
        for _ in range(4):
            target.copy_(source, non_blocking=True)
        finish(device)

    return 4 * nbytes / timed(copy, 5).s / 1e9


def unpack(matrices: Sequence[Packed], device: torch.device) -> None:
    """Unpack each and do nothing with it."""
    for matrix in matrices:
        for _, piece in matrix.pieces():
            assert len(piece)
    finish(device)


@contextmanager
def in_place(model: Model) -> Iterator[list[Packed]]:
    """Meanwhile the streamed matrices, which are given, have bytes on the device, random ones that all layers
    share: those of one layer are too many for a cache, so a pass costs what it would cost resident."""
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
