"""Random packed matrices, to check and to time what unpacks and multiplies them."""

import math
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from engine.checkpoints import USUAL_GROUPS, Groups
from engine.formats import (
    FORMATS,
    BlockFormat,
    FactoredFormat,
    GroupedFormat,
    NibbleFormat,
    PlainFormat,
    ScaledFormat,
    format_named,
)
from engine.quantization.packed import Packed, Workspace
from engine.quantization.parts import DTYPES

# names of the formats that store packed weights
PACKED = tuple(
    name
    for name, each in FORMATS.items()
    if isinstance(each, BlockFormat | GroupedFormat | ScaledFormat | NibbleFormat | FactoredFormat)
)


def random_packed(
    name: str,
    shape: tuple[int, int],
    device: torch.device | str,
    dtype: torch.dtype,
    seed: int = 0,
    groups: Groups | None = None,
) -> Packed:
    """Return a random matrix of `shape` (rows, columns) with finite scales, which unpacks to `dtype`.

    groups: for GPTQ, AWQ and W4; None for usual ones. Scales of these formats have both signs, and some are
    zero; an index is in random order. In GPTQ and AWQ, the last group may be short.
    """
    random = torch.Generator().manual_seed(seed)
    rows, columns = shape

    def bits(nbytes: int) -> Tensor:
        return torch.randint(256, (nbytes,), dtype=torch.uint8, generator=random)

    format_ = format_named(name)
    if isinstance(format_, FactoredFormat):
        packed = random_packed(format_.blocks.name, shape, device, dtype, seed)
        factor = torch.tensor([0.01], device=device).view(torch.uint8)
        return replace(packed, format=format_, parts=[*packed.parts, factor])
    if isinstance(format_, BlockFormat):
        blocks = bits(rows * columns // format_.values * format_.nbytes).view(-1, format_.nbytes)
        format_.limit_scales(blocks)
        workspace = Workspace(dtype, torch.device(device))
        return Packed(format_, shape, [blocks.view(-1).to(device)], workspace)
    if isinstance(format_, ScaledFormat):
        data = bits(rows * columns) & 0xF7  # clears a bit of the exponent: no NaN
        count = math.prod(format_.scales_shape(shape))
        factors = torch.rand(count, generator=random).to(DTYPES[format_.scales.name])
        workspace = Workspace(dtype, torch.device(device))
        return Packed(format_, shape, [data.to(device), factors.view(torch.uint8).to(device)], workspace)
    if isinstance(format_, NibbleFormat):
        groups = (groups or Groups(4, 32, 0)) if format_.has_groups else None
        parts = [part.to(device) for part in _nibbles(format_, rows, columns, groups, bits)]
        return Packed(format_, shape, parts, Workspace(dtype, torch.device(device)), groups)
    assert isinstance(format_, GroupedFormat)
    groups = groups or USUAL_GROUPS
    index = torch.arange(columns, dtype=torch.int32) // groups.size
    count = rows * -(-columns // groups.size)
    parts = [
        bits(rows * columns * groups.bits // 8),
        bits(count * groups.bits // 8),
        _signed(bits(count), 256, format_.scales),
    ]
    if groups.indexed:
        parts.append(index[torch.randperm(columns, generator=random)].view(torch.uint8))
    workspace = Workspace(dtype, torch.device(device))
    return Packed(format_, shape, [part.to(device) for part in parts], workspace, groups)


def _signed(drawn: Tensor, divisor: int, kind: PlainFormat) -> Tensor:
    """Return scales of both signs, of which one in 64 is zero, as bytes. drawn: random bytes."""
    factors = torch.where(drawn & 63 == 0, 0.0, (drawn.float() + 1) / divisor)
    return torch.where(drawn & 1 == 1, -factors, factors).to(DTYPES[kind.name]).view(torch.uint8)


def _nibbles(
    form: NibbleFormat, rows: int, columns: int, of: Groups | None, bits: Callable[[int], Tensor]
) -> list[Tensor]:
    """Return the parts of a random matrix. of: its groups, if the format leaves them open. bits: makes random
    bytes."""
    groups = rows * columns // (of.size if of else 16 if form.scales == "E4M3" else 32)
    if isinstance(form.scales, PlainFormat):
        scales = _signed(bits(groups), 4096, form.scales)
    else:  # exponents of 2^-15 to 1, or E4M3 without NaN
        scales = bits(groups) & 15 | 112 if form.scales == "E8M0" else bits(groups) & 0x77
    parts = [bits(rows * columns // 2), scales]
    if form.third in ("divisor", "factor"):
        parts.append(torch.tensor([100.0 if form.third == "divisor" else 0.01]).view(torch.uint8))
    elif form.third == "zeros":
        parts.append(bits(4 * -(-rows // 8) * (groups // rows)))
    return parts
