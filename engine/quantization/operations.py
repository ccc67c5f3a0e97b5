"""Unpacks and multiplies matrices in every format, on any device."""

from collections.abc import Callable
from functools import partial
from types import ModuleType

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
from engine.quantization import blocks, grouped, nibbles, scaled, triton
from engine.quantization.parts import DTYPES, TensorParts, typed, typed_parts

# What unpacks each kind of format: `numbers` in plain torch, `unpack_on_cpu` with compiled loops.
MODULES: dict[type[Format], ModuleType] = {
    BlockFormat: blocks,
    GroupedFormat: grouped,
    ScaledFormat: scaled,
    NibbleFormat: nibbles,
}


def prepare_kernel(name: str, dtype: torch.dtype) -> None:
    """Make the kernel that unpacks the format called `name` to `dtype` on the CPU ready: read it from the
    user's cache, or compile it. Raises UnsupportedModel if the format is unknown."""
    form = format_named(name)
    out = np.empty(0, np.uint16 if dtype == torch.bfloat16 else np.float32)
    if isinstance(form, FactoredFormat):
        form = form.blocks
    if not isinstance(form, PlainFormat):
        MODULES[type(form)].prepare_kernel(form, out)


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
    contiguous, on the device of `parts`. groups: for GPTQ, AWQ and W4. way: how to unpack, one of the ladder
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
    if isinstance(form, PlainFormat):
        return partial(_converted, typed(parts[0], DTYPES[form.name]).view(shape), out)
    if isinstance(form, FactoredFormat):
        factor = typed(parts[1], torch.float32)
        return partial(_multiplied, unpacker(form.blocks, parts[:1], shape, out, way=way), factor)
    way = way or _unpacking(form, out, groups, shape[1])
    stored = typed_parts(form, parts) if way == "triton" else parts
    return partial(_unpacked, form, stored, shape, out, groups, way)


def _unpacked(
    form: Format,
    parts: TensorParts,
    shape: tuple[int, int],
    out: Tensor,
    groups: Groups | None,
    way: str,
    first: int,
    count: int,
) -> Tensor:
    """See `unpack`. parts: for "triton", `typed_parts`. GPTQ and AWQ stay transposed, as they are stored."""
    is_grouped = isinstance(form, GroupedFormat)
    module, more = MODULES[type(form)], (groups,) if is_grouped else ()
    size = (shape[1], count) if is_grouped else (count, shape[1])
    place = out.as_strided(size, (size[1], 1))
    if isinstance(form, BlockFormat):  # only these bytes are needed
        parts, first = [blocks.rows_of(form, parts[0], shape[1], first, count)], 0
    if way == "triton":
        _unpack_on_card(form, parts, shape, first, place, groups)
    elif way == "torch":
        place.copy_(module.numbers(form, parts, shape, first, count, *more))
    elif place.is_cpu:
        module.unpack_on_cpu(form, parts, shape, first, place, *more)
    else:
        with torch.inference_mode(False):  # other threads write to it
            host = torch.empty(size, dtype=place.dtype)
        module.unpack_on_cpu(form, [part.cpu() for part in parts], shape, first, host, *more)
        place.copy_(host)
    return place.t() if is_grouped else place


def _unpack_on_card(
    form: Format, parts: TensorParts, shape: tuple[int, int], first: int, place: Tensor, groups: Groups | None
) -> None:
    if isinstance(form, BlockFormat):
        triton.unpack_blocks(form.name, parts[0], place)
    elif isinstance(form, GroupedFormat):
        assert groups is not None
        triton.unpack_grouped(form.name, parts, shape, first, place.shape[1], groups, place)
    else:
        triton.unpack_apart(form.name, parts, shape, first, place)


def _multiplied(unpack: Callable[[int, int], Tensor], factor: Tensor, first: int, count: int) -> Tensor:
    return unpack(first, count).mul_(factor)  # rounded once: without the factor, numbers are exact


def _converted(numbers: Tensor, out: Tensor, first: int, count: int) -> Tensor:
    rows = numbers[first : first + count]
    return rows if rows.dtype == out.dtype else out.view(-1)[: rows.numel()].view(rows.shape).copy_(rows)


def product(
    form: Format,
    parts: TensorParts,
    shape: tuple[int, int],
    x: Tensor,
    groups: Groups | None,
    dtype: torch.dtype,
) -> Tensor | None:
    """Multiply x [n, columns] by the transpose of the matrix stored in `parts` without unpacking it first.
    dtype: the one that it would be unpacked to, by which its kernels are called.
    Return the product, [n, rows], or None if unpacking first is faster or the only way."""
    if isinstance(form, PlainFormat | FactoredFormat) or not triton.available(x.device):
        return None
    if ways.taken("product", packing_name(form.kernels, groups, shape[1]), dtype) != "triton":
        return None
    if isinstance(form, BlockFormat):
        return triton.multiply_blocks(form.name, parts[0], x, shape[0])
    if isinstance(form, ScaledFormat | NibbleFormat):
        return triton.multiply_apart(form.name, typed_parts(form, parts), x, shape[0])
    assert isinstance(form, GroupedFormat)
    assert groups is not None
    return triton.multiply_grouped(form.name, typed_parts(form, parts), groups, x, shape[0])


def on_card(array: Tensor) -> bool:
    return not array.is_cpu


def unpacking(form: Format, groups: Groups | None, columns: int, dtype: torch.dtype) -> str:
    """Return the way in which this process unpacks matrices with so many columns on a card, if Triton is
    there."""
    return ways.taken("unpack", packing_name(form.kernels, groups, columns), dtype)


def _unpacking(form: Format, out: Tensor, groups: Groups | None, columns: int) -> str:
    """Return the way in which this process unpacks to `out`."""
    if not on_card(out) and not (isinstance(form, GroupedFormat) and triton.available(out.device)):
        return "processor"
    way = unpacking(form, groups, columns, out.dtype)
    return "torch" if way == "triton" and not triton.available(out.device) else way
