"""Stored bytes as tensors, and rows unpacked from them on all cores."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.formats import Format, GroupedFormat
from engine.formats.jit import spread

# The stored bytes of one matrix: one tensor, uint8 [bytes], for each span of its `checkpoints.Weight`.
TensorParts = Sequence[Tensor]

# The dtype of each format of plain numbers.
DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
_STORED = {**DTYPES, "U8": torch.uint8, "I32": torch.int32}
_PIECE = 1 << 17  # how many numbers a thread unpacks at a time: taking the next piece costs next to nothing


@cache
def constant(numbers: tuple[float, ...], device: torch.device) -> Tensor:
    """Return numbers on the device, float32. They are copied there once: no copy from plain memory may be
    recorded in a CUDA graph."""
    with torch.inference_mode(False):  # usable inside and outside inference mode
        return torch.tensor(numbers, dtype=torch.float32, device=device)


def typed(data: Tensor, dtype: torch.dtype) -> Tensor:
    """Return bytes, uint8 [nbytes], as numbers of `dtype`. Bytes at an unaligned address are copied first,
    because files do not align tensors."""
    if data.data_ptr() % dtype.itemsize or data.storage_offset() % dtype.itemsize:
        data = data.clone()
    return data.view(dtype)


def typed_parts(form: Format, parts: TensorParts) -> TensorParts:
    """Return the parts as numbers of their types, as Triton's kernels read them. Raises ValueError if there
    are not as many as the format has."""
    return [typed(part, dtype) for part, dtype in zip(parts, _types(form, parts), strict=True)]


def aligned_parts(form: Format, parts: TensorParts) -> TensorParts:
    """Return the parts, of which all but the first, which is large, are where their numbers can be read:
    otherwise they would be copied for each piece that is unpacked. Most formats read the first byte by
    byte."""
    tables = zip(parts[1:], _types(form, parts)[1:], strict=True)
    return [*parts[:1], *(typed(part, dtype).view(torch.uint8) for part, dtype in tables)]


def _types(form: Format, parts: TensorParts) -> list[torch.dtype]:
    names = form.part_types
    if isinstance(form, GroupedFormat) and not form.has_index(parts):
        names = names[:3]
    return [_STORED[name] for name in names]


def unpack_rows(place: Tensor, unpack: Callable[[int, int, NDArray[Any]], None]) -> None:
    """Unpack to `place`, [rows, columns] in RAM, on all cores. unpack: takes start and stop, and writes these
    rows to an array [numbers], float32, or uint16 for bfloat16."""

    def work(start: int, stop: int) -> None:
        rows = place[start:stop]
        # float16 has no kernel: round float32 numbers while they are in the processor's cache.
        wide = torch.empty(rows.shape) if rows.dtype == torch.float16 else rows
        target = wide.view(torch.uint16) if wide.dtype == torch.bfloat16 else wide
        unpack(start, stop, target.view(-1).numpy())
        if wide is not rows:
            rows.copy_(wide)

    spread(len(place), work, max(1, _PIECE // place.shape[1]))
