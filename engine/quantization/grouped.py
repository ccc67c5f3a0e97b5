"""Unpacks GPTQ and AWQ."""

from types import ModuleType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.checkpoints import Groups
from engine.formats import GroupedFormat
from engine.quantization import awq, gptq
from engine.quantization.parts import DTYPES, TensorParts, typed, unpack_rows


def prepare_kernel(form: GroupedFormat, out: NDArray[Any]) -> None:
    """Make the kernel that unpacks to arrays like `out`, which is empty, ready."""
    table, group = np.empty((0, 0), np.float32), np.empty(0, np.int32)
    _packing(form).unpack(np.empty(0, np.uint8), table, table, group, 4, 0, 0, 0, out)


def unpack_on_cpu(
    form: GroupedFormat, parts: TensorParts, shape: tuple[int, int], first: int, place: Tensor, groups: Groups
) -> None:
    """Unpack rows of a matrix in RAM from row `first` on to `place`, [columns, count]."""
    kernel, words = _packing(form).unpack, parts[0].numpy()
    tables = _tables(form, parts, shape, first, place.shape[1], groups)
    scales, zeros, group = (table.numpy() for table in tables)

    def unpack(start: int, stop: int, out: NDArray[Any]) -> None:
        kernel(words, scales, zeros, group[start:stop], groups.bits, shape[0], start, first, out)

    unpack_rows(place, unpack)


def numbers(
    form: GroupedFormat, parts: TensorParts, shape: tuple[int, int], first: int, count: int, groups: Groups
) -> Tensor:
    """Unpack rows first..first + count, transposed, in plain torch: float32 [columns, count]."""
    scales, zeros, group = _tables(form, parts, shape, first, count, groups)
    words = typed(parts[0], torch.int32)
    quants: Tensor = form.quants(words, shape, first, count, groups.bits)
    return (quants - zeros[group]).mul_(scales[group])


def _packing(form: GroupedFormat) -> ModuleType:
    return awq if form.awq else gptq


def _tables(
    form: GroupedFormat, parts: TensorParts, shape: tuple[int, int], first: int, count: int, groups: Groups
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the scales and the zero points of rows first..first + count, float32 [groups, count] each, and
    the group of each column, int32 [columns]."""
    rows, columns = shape
    scales = typed(parts[2], DTYPES[form.scales.name]).view(-1, rows)
    words = typed(parts[1], torch.int32).view(len(scales), -1)
    words = words[:, first * groups.bits // 32 : -(-(first + count) * groups.bits // 32)]
    zeros = form.zeros(words.t(), groups)[:count].t().float().contiguous()
    if form.has_index(parts):
        # A damaged index must not read memory outside the scales.
        group = typed(parts[3], torch.int32).clamp(0, len(scales) - 1)
    else:
        group = torch.arange(columns, dtype=torch.int32, device=scales.device) // groups.size
    return scales[:, first : first + count].float().contiguous(), zeros, group
