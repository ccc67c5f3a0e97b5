"""Unpacks FP8; `engine.formats.scaled` says how it is stored."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.formats import ScaledFormat
from engine.formats.jit import kernel, store
from engine.formats.scaled import BLOCK
from engine.quantization.parts import DTYPES, TensorParts, typed, unpack_rows


@kernel
def _unpack(data, scales, width, out):  # type: ignore[no-untyped-def]
    """Unpack whole rows, which hold no NaN.

    data: uint8 [rows, columns]. scales: of these rows, float32 [rows, scales]. width: columns that share a
    scale. out: [rows * columns], float32, or uint16 for bfloat16.
    """
    rows, columns = data.shape
    values = np.empty(width, np.float32)
    for row in range(rows):
        for at in range(scales.shape[1]):
            scale = scales[row, at]
            stored = data[row, at * width : min(columns, (at + 1) * width)]
            count = len(stored)
            for i in range(count):
                byte = np.uint32(stored[i])
                size = np.uint32(np.uint32(byte & np.uint32(0x7F)) << np.uint32(20))
                # The exponent biases differ by 120. A subnormal number becomes the fraction of a normal one.
                normal = np.uint32(size + np.uint32(120 << 23)).view(np.float32)
                raised = np.uint32(size + np.uint32(121 << 23)).view(np.float32)
                number = np.float32(raised - np.float32(2.0**-6)) if size < np.uint32(1 << 23) else normal
                sign = np.uint32(np.uint32(byte & np.uint32(0x80)) << np.uint32(24))
                values[i] = np.uint32(np.float32(number * scale).view(np.uint32) ^ sign).view(np.float32)
            store(values[:count], out, row * columns + at * width)


def prepare_kernel(form: ScaledFormat, out: NDArray[Any]) -> None:
    """Make the kernel that unpacks to arrays like `out`, which is empty, ready."""
    _unpack(np.empty((0, 0), np.uint8), np.empty((0, 0), np.float32), BLOCK, out)


def numbers(form: ScaledFormat, parts: TensorParts, shape: tuple[int, int], first: int, count: int) -> Tensor:
    """Unpack rows first..first + count in plain torch: float32 [count, columns]."""
    scales = _scales_of_rows(form, parts[1], shape, first, count)
    wide = parts[0].view(shape)[first : first + count].view(torch.float8_e4m3fn).float()
    if scales.shape[1] > 1:
        scales = scales.repeat_interleave(BLOCK, dim=1)[:, : shape[1]]
    return wide.mul_(scales)


def unpack_on_cpu(
    form: ScaledFormat, parts: TensorParts, shape: tuple[int, int], first: int, place: Tensor
) -> None:
    """Unpack rows of a matrix in RAM from row `first` on to `place`, [count, columns]."""
    count, columns = place.shape
    scales = _scales_of_rows(form, parts[1], shape, first, count).contiguous().numpy()
    data = parts[0].view(shape)[first : first + count].numpy()
    width = BLOCK if form.share == "block" else columns

    def unpack(start: int, stop: int, out: NDArray[Any]) -> None:
        _unpack(data[start:stop], scales[start:stop], width, out)

    unpack_rows(place, unpack)


def _scales_of_rows(
    form: ScaledFormat, part: Tensor, shape: tuple[int, int], first: int, count: int
) -> Tensor:
    """Return the scales of rows first..first + count, float32 [count, scales of a row]."""
    table = typed(part, DTYPES[form.scales.name]).view(form.scales_shape(shape)).float()
    if form.share == "matrix":
        return table.expand(count, 1)
    if form.share == "row":
        return table[first : first + count]
    return table[torch.arange(first, first + count, device=table.device) // BLOCK]
