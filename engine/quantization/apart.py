"""Unpacks formats whose scales are apart from the numbers: FP8, and numbers of four bits."""

from types import ModuleType

import torch
from torch import Tensor

from engine.formats import NibbleFormat, ScaledFormat
from engine.quantization import nibbles, scaled, triton
from engine.quantization.parts import TensorParts

ApartFormat = ScaledFormat | NibbleFormat


def unpack(
    form: ApartFormat,
    parts: TensorParts,
    shape: tuple[int, int],
    out: Tensor,
    way: str,
    first: int,
    count: int,
) -> Tensor:
    """See `engine.quantization.operations.unpack`. way: one of the ladder "unpack" in `engine.ways`; for
    "triton", parts are `typed_parts`."""
    place = out.view(-1)[: count * shape[1]].view(count, shape[1])
    if way == "triton":
        triton.unpack_apart(form.name, parts, shape, first, place)
    elif way == "torch":
        place.copy_(numbers(form, parts, shape, first, count))
    elif place.is_cpu:
        _module(form).unpack_on_cpu(form, parts, shape, first, place)
    else:
        with torch.inference_mode(False):  # other threads write to it
            host = torch.empty(place.shape, dtype=place.dtype)
        _module(form).unpack_on_cpu(form, [part.cpu() for part in parts], shape, first, host)
        place.copy_(host)
    return place


def typed_parts(form: ApartFormat, parts: TensorParts) -> TensorParts:
    """Return the parts as numbers of their types, as Triton's kernels read them."""
    typed: TensorParts = _module(form).typed_parts(form, parts)
    return typed


def numbers(form: ApartFormat, parts: TensorParts, shape: tuple[int, int], first: int, count: int) -> Tensor:
    """Unpack rows first..first + count in plain torch: float32 [count, columns]."""
    unpacked: Tensor = _module(form).numbers(form, parts, shape, first, count)
    return unpacked


def _module(form: ApartFormat) -> ModuleType:
    return scaled if isinstance(form, ScaledFormat) else nibbles
