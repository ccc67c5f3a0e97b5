"""Unpacks and multiplies matrices in every format, on any device."""

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch import Tensor

from engine import ways
from engine.checkpoints import Groups, packing_name
from engine.formats import (
    BlockFormat,
    FactoredFormat,
    Format,
    GroupedFormat,
    NibbleFormat,
    PlainFormat,
    ScaledFormat,
    format_named,
)
from engine.quantization import apart, blocks, grouped, nibbles, scaled, triton
from engine.quantization.parts import DTYPES, TensorParts, typed


def prepare_kernel(name: str, dtype: torch.dtype) -> None:
    """Make the kernel that unpacks the format called `name` to `dtype` on the CPU ready: read it from the
    user's cache, or compile it. Raises UnsupportedModel if the format is unknown."""
    form = format_named(name)
    out = np.empty(0, np.uint16 if dtype == torch.bfloat16 else np.float32)
    if isinstance(form, BlockFormat):
        form.kernel(np.empty(0, np.uint8), out)
    elif isinstance(form, FactoredFormat):
        form.blocks.kernel(np.empty(0, np.uint8), out)
    elif isinstance(form, GroupedFormat):
        grouped.prepare_kernel(form, out)
    elif isinstance(form, ScaledFormat):
        scaled.prepare_kernel(out)
    elif isinstance(form, NibbleFormat):
        nibbles.prepare_kernel(form, out)


def unpack(
    form: Format,
    parts: TensorParts,
    shape: tuple[int, int],
    first: int,
    count: int,
    out: Tensor,
    groups: Groups | None = None,
    way: str | None = None,
) -> Tensor:
    """Unpack rows first..first + count of the matrix of `shape` (rows, columns) stored in `parts`.

    out: space for at least count * columns numbers of the resulting type (float32, bfloat16 or float16),
    contiguous, on the device of `parts`. groups: for GPTQ and AWQ only. way: how to unpack, one of the ladder
    "unpack" in `engine.ways`; None: as this process does on that device.
    Returns [count, columns]: a view of `out` (perhaps transposed), or a view of `parts` if they already store
    numbers of that type.
    """
    return unpacker(form, parts, shape, out, groups, way)(first, count)


def unpacker(
    form: Format,
    parts: TensorParts,
    shape: tuple[int, int],
    out: Tensor,
    groups: Groups | None = None,
    way: str | None = None,
) -> Callable[[int, int], Tensor]:
    """Return `unpack` as a function of (first, count): what does not depend on the rows is done once, because
    on a card this takes longer than the rows' numbers."""
    if isinstance(form, BlockFormat):
        return partial(blocks.unpack, form, parts, shape, out, way or _unpacking(form, out, groups))
    if isinstance(form, GroupedFormat):
        assert groups is not None
        way = way or _unpacking(form, out, groups)
        stored = grouped.typed_parts(form, parts) if way == "triton" else parts
        return partial(grouped.unpack, form, stored, shape, out, groups, way)
    if isinstance(form, ScaledFormat | NibbleFormat):
        way = way or _unpacking(form, out, groups)
        stored = apart.typed_parts(form, parts) if way == "triton" else parts
        return partial(apart.unpack, form, stored, shape, out, way)
    if isinstance(form, FactoredFormat):
        factor = typed(parts[1], torch.float32)
        return partial(_multiplied, unpacker(form.blocks, parts[:1], shape, out, way=way), factor)
    return partial(_converted, typed(parts[0], DTYPES[form.name]).view(shape), out)


def _multiplied(unpack: Callable[[int, int], Tensor], factor: Tensor, first: int, count: int) -> Tensor:
    return unpack(first, count).mul_(factor)  # rounded once: without the factor, numbers are exact


def _converted(numbers: Tensor, out: Tensor, first: int, count: int) -> Tensor:
    rows = numbers[first : first + count]
    return rows if rows.dtype == out.dtype else out.view(-1)[: rows.numel()].view(rows.shape).copy_(rows)


def product(
    form: Format, parts: TensorParts, shape: tuple[int, int], x: Tensor, groups: Groups | None = None
) -> Tensor | None:
    """Multiply x [n, columns] by the transpose of the matrix stored in `parts` without unpacking it first.
    Return the product, [n, rows], or None if unpacking first is faster or the only way."""
    if isinstance(form, PlainFormat | FactoredFormat) or not triton.available(x.device):
        return None
    if ways.taken("product", packing_name(form.kernels, groups), x.dtype) != "triton":
        return None
    if isinstance(form, BlockFormat):
        return triton.multiply_blocks(form.name, parts[0], x, shape[0])
    if isinstance(form, ScaledFormat | NibbleFormat):
        return triton.multiply_apart(form.name, apart.typed_parts(form, parts), x, shape[0])
    assert isinstance(form, GroupedFormat)
    assert groups is not None
    return triton.multiply_grouped(form.name, grouped.typed_parts(form, parts), groups, x, shape[0])


def on_card(array: Tensor) -> bool:
    return not array.is_cpu


def unpacking(form: Format, groups: Groups | None, dtype: torch.dtype) -> str:
    """Return the way in which this process unpacks on a card, if Triton is there."""
    return ways.taken("unpack", packing_name(form.kernels, groups), dtype)


def _unpacking(form: Format, out: Tensor, groups: Groups | None) -> str:
    """Return the way in which this process unpacks to `out`."""
    if not on_card(out) and not (groups and triton.available(out.device)):
        return "processor"
    way = unpacking(form, groups, out.dtype)
    return "torch" if way == "triton" and not triton.available(out.device) else way
