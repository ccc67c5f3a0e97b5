"""Unpacks and multiplies ggml's block formats."""

from dataclasses import dataclass, field
from functools import cache

import torch
from torch import Tensor

from engine.formats import BlockFormat
from engine.formats.block_scales import KINDS
from engine.formats.code_book import CodeBook
from engine.quantization import triton
from engine.quantization.parts import TensorParts, constant

_PIECE = 1 << 20  # numbers that are rounded at a time


def unpack(
    form: BlockFormat,
    parts: TensorParts,
    shape: tuple[int, int],
    out: Tensor,
    way: str,
    first: int,
    count: int,
) -> Tensor:
    """See `engine.quantization.operations.unpack`. way: one of the ladder "unpack" in `engine.ways`."""
    columns = shape[1]
    row = columns // form.values * form.nbytes
    data = parts[0][first * row : (first + count) * row]
    place = out.as_strided((count, columns), (columns, 1))
    if way == "triton":
        triton.unpack_blocks(form.name, data, place)
    elif way == "torch":
        place.copy_(numbers(form, data.view(-1, form.nbytes)).view(place.shape))
    elif place.is_cpu:
        _unpack_on_cpu(form, data, place.view(-1))
    else:
        host = torch.empty(place.numel(), dtype=place.dtype)
        _unpack_on_cpu(form, data.cpu(), host)
        place.copy_(host.view(place.shape))
    return place


def _unpack_on_cpu(form: BlockFormat, data: Tensor, out: Tensor) -> None:
    if out.dtype == torch.bfloat16:
        form.unpack(data.numpy(), out.view(torch.uint16).numpy())
    elif out.dtype == torch.float32:
        form.unpack(data.numpy(), out.numpy())
    else:  # float16 has no kernel: round float32 numbers while they are in the processor's cache
        wide = torch.empty(min(_PIECE, len(out)))
        for start in range(0, len(out), _PIECE):
            piece = out[start : start + _PIECE]
            at = start // form.values * form.nbytes
            stored = data[at : at + len(piece) // form.values * form.nbytes]
            form.unpack(stored.numpy(), wide[: len(piece)].numpy())
            piece.copy_(wide[: len(piece)])


@dataclass(slots=True)
class _TensorWords:
    """Words of blocks, uint8 [blocks, bytes], as int64 [blocks]. See `engine.formats.blocks.BlockWords`."""

    blocks: Tensor
    _known: dict[int, Tensor] = field(default_factory=dict)

    def __call__(self, at: int, /) -> Tensor:
        if at not in self._known:  # words may be unaligned in the blocks
            bits = self.blocks[:, at : at + 4].clone(memory_format=torch.contiguous_format)
            self._known[at] = bits.view(torch.int32)[:, 0].long() & 0xFFFF_FFFF
        return self._known[at]

    def vector(self, book: CodeBook, index: Tensor) -> list[Tensor]:
        return list(_words_of(book, self.blocks.device)[index].unbind(1))


def numbers(form: BlockFormat, blocks: Tensor) -> Tensor:
    """Unpack blocks on any device, in plain torch: uint8 [blocks, bytes] -> float32 [blocks, values]."""
    parts = form.split(_TensorWords(blocks))
    quants = torch.stack([quad.int() for quad in parts.quads], dim=1).view(torch.uint8)
    if form.levels:
        values = constant(form.levels, blocks.device)[quants.int()]
    else:
        values = quants.float() - form.offset
    kind = torch.float16 if KINDS[form.scale].tile == "F16" else torch.bfloat16
    scales = parts.scales or [parts.scale]
    scale = torch.cat([_number(each, kind) for each in scales], dim=1) * form.factor
    minimum = None if parts.minimum is None else _number(parts.minimum, kind)
    if parts.small:
        small = torch.stack([word.to(torch.uint8) for word in parts.small], dim=1)
        kinds = 1 if minimum is None else 2
        factors = small[:, ::kinds]
        scale = scale * (factors.to(torch.int8) if form.signed else factors)
        minimum = None if minimum is None else minimum * small[:, 1::kinds]
    groups = values.view(len(blocks), -1, form.group).mul_(scale[:, :, None])
    if minimum is not None:
        groups -= minimum[:, :, None]
    return groups.view(len(blocks), -1)


@cache
def _words_of(book: CodeBook, device: torch.device) -> Tensor:
    """Return the words of a code book on the device, int64 [vectors, words]; copied there once, as a
    `constant`."""
    with torch.inference_mode(False):
        return torch.tensor(book.words.tolist(), device=device)


def _number(word: Tensor, kind: torch.dtype) -> Tensor:
    """Return the number of 16 bits in the low half of words, int64 [blocks], as float32 [blocks, 1]."""
    return word.to(torch.int16).view(kind).float()[:, None]
