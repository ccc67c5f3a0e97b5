"""Unpacks GPTQ and AWQ."""

from types import ModuleType

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.checkpoints import Groups
from engine.formats import GroupedFormat
from engine.formats.jit import spread
from engine.quantization import awq, gptq, triton
from engine.quantization.parts import DTYPES, TensorParts, typed

# How many numbers a thread unpacks at a time: so many that taking the next piece costs next to nothing.
_PIECE = 1 << 17


def prepare_kernel(form: GroupedFormat, out: NDArray[np.generic]) -> None:
    """Make the kernel that unpacks to arrays like `out`, which is empty, ready."""
    table, group = np.empty((0, 0), np.float32), np.empty(0, np.int32)
    _packing(form).unpack(np.empty(0, np.uint8), table, table, group, 4, 0, 0, 0, out)


def unpack(
    form: GroupedFormat,
    parts: TensorParts,
    shape: tuple[int, int],
    out: Tensor,
    groups: Groups,
    way: str,
    first: int,
    count: int,
) -> Tensor:
    """See `engine.quantization.operations.unpack`. way: one of the ladder "unpack" in `engine.ways`; for
    "triton", parts are `typed_parts`."""
    place = out.as_strided((shape[1], count), (count, 1))
    if way == "triton":
        triton.unpack_grouped(form.name, parts, shape, first, count, groups, place)
    elif way == "torch":
        place.copy_(numbers(form, parts, shape, first, count, groups))
    elif place.is_cpu:
        _unpack_on_cpu(form, parts, shape, first, place, groups)
    else:
        with torch.inference_mode(False):  # other threads write to it
            host = torch.empty(place.shape, dtype=place.dtype)
        _unpack_on_cpu(form, [part.cpu() for part in parts], shape, first, host, groups)
        place.copy_(host)
    return place.t()


def _unpack_on_cpu(
    form: GroupedFormat,
    parts: TensorParts,
    shape: tuple[int, int],
    first: int,
    flat: Tensor,
    groups: Groups,
) -> None:
    """Unpack rows of the matrix from row `first` on to `flat`, [columns, count]."""
    rows, columns = shape
    count = flat.shape[1]
    kernel, words = _packing(form).unpack, parts[0].numpy()
    scales, zeros, group = (table.numpy() for table in _tables(form, parts, shape, first, count, groups))

    def work(start: int, stop: int) -> None:
        place = flat[start:stop]
        # float16 has no kernel: round float32 numbers while they are in the processor's cache.
        wide = torch.empty(place.shape) if place.dtype == torch.float16 else place
        target = (wide.view(torch.uint16) if wide.dtype == torch.bfloat16 else wide).view(-1).numpy()
        kernel(words, scales, zeros, group[start:stop], groups.bits, rows, start, first, target)
        if wide is not place:
            place.copy_(wide)

    spread(columns, work, max(1, _PIECE // count))


def typed_parts(form: GroupedFormat, parts: TensorParts) -> TensorParts:
    """Return the parts as numbers of their types."""
    types = (torch.int32, torch.int32, DTYPES[form.scales.name], torch.int32)
    return [typed(part, dtype) for part, dtype in zip(parts, types, strict=False)]


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
    if len(parts) == 4:
        # A damaged index must not read memory outside the scales.
        group = typed(parts[3], torch.int32).clamp(0, len(scales) - 1)
    else:
        group = torch.arange(columns, dtype=torch.int32, device=scales.device) // groups.size
    return scales[:, first : first + count].float().contiguous(), zeros, group
