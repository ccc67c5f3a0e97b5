"""Unpacks numbers of four bits whose scales are apart; `engine.formats.nibbles` says how they are stored."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.formats import NibbleFormat, PlainFormat
from engine.formats.jit import kernel, store
from engine.quantization.parts import DTYPES, TensorParts, constant, typed, unpack_rows


@kernel
def _unpack(data, scales, zeros, levels, out):  # type: ignore[no-untyped-def]
    """Unpack whole rows.

    data: uint8 [rows, columns / 2]. scales, zeros: float32 [rows, groups]. levels: float32 [16]. out:
    [rows * columns], float32, or uint16 for bfloat16.
    """
    rows, groups = scales.shape
    half = data.shape[1] // groups if groups else 0  # bytes of a group
    values = np.empty(2 * half, np.float32)
    for row in range(rows):
        for at in range(groups):
            scale, zero, stored = scales[row, at], zeros[row, at], data[row, at * half : (at + 1) * half]
            for i in range(half):
                values[2 * i] = scale * (levels[stored[i] & 15] - zero)
                values[2 * i + 1] = scale * (levels[stored[i] >> 4] - zero)
            store(values, out, 2 * half * (row * groups + at))


def prepare_kernel(form: NibbleFormat, out: NDArray[Any]) -> None:
    """Make the kernel that unpacks to arrays like `out`, which is empty, ready."""
    empty = np.empty((0, 0), np.float32)
    _unpack(np.empty((0, 0), np.uint8), empty, empty, np.array(form.levels, np.float32), out)


def numbers(form: NibbleFormat, parts: TensorParts, shape: tuple[int, int], first: int, count: int) -> Tensor:
    """Unpack rows first..first + count in plain torch: float32 [count, columns]."""
    data, scales, zeros = _of_rows(form, parts, shape, first, count)
    levels = constant(form.levels, data.device)
    quants = torch.stack([data & 15, data >> 4], dim=2).view(count, scales.shape[1], -1)
    return (scales[:, :, None] * (levels[quants.int()] - zeros[:, :, None])).view(count, -1)


def unpack_on_cpu(
    form: NibbleFormat, parts: TensorParts, shape: tuple[int, int], first: int, place: Tensor
) -> None:
    """Unpack rows of a matrix in RAM from row `first` on to `place`, [count, columns]."""
    data, scales, zeros = (part.numpy() for part in _of_rows(form, parts, shape, first, len(place)))
    levels = np.array(form.levels, np.float32)

    def unpack(start: int, stop: int, out: NDArray[Any]) -> None:
        _unpack(data[start:stop], scales[start:stop], zeros[start:stop], levels, out)

    unpack_rows(place, unpack)


def _of_rows(
    form: NibbleFormat, parts: TensorParts, shape: tuple[int, int], first: int, count: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the quants, scales and zeros of rows first..first + count."""
    rows, columns = shape
    data = parts[0].view(rows, columns // 2)[first : first + count]
    scales = _scales(form, parts, rows)[first : first + count].contiguous()
    return data, scales, _zeros(form, parts, scales, first)


def _scales(form: NibbleFormat, parts: TensorParts, rows: int) -> Tensor:
    """Return the scales of all rows, float32 [rows, groups]."""
    if isinstance(form.scales, PlainFormat):
        table = typed(parts[1], DTYPES[form.scales.name]).float()
    elif form.scales == "E4M3":
        table = parts[1].view(torch.float8_e4m3fn).float()
    else:
        ones = torch.ones(len(parts[1]), device=parts[1].device)
        table = torch.ldexp(ones, parts[1].int() - 127)
    if form.third == "factor":
        table = table * typed(parts[2], torch.float32)
    elif form.third == "divisor":
        table = table / typed(parts[2], torch.float32)
    return table.view(rows, -1)


def _zeros(form: NibbleFormat, parts: TensorParts, scales: Tensor, first: int) -> Tensor:
    """Return what is subtracted from the levels of the rows from `first` on, float32 like their `scales`."""
    if form.third != "zeros":
        return torch.zeros_like(scales)
    which = torch.arange(first, first + len(scales), device=scales.device)
    words = typed(parts[2], torch.int32).view(-1, scales.shape[1])
    return (words[which // 8] >> (4 * (which % 8))[:, None] & 15).float() - 8
