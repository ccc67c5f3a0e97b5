"""Unpacks ggml's block formats."""

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.formats import BlockFormat
from engine.formats.block_scales import KINDS
from engine.formats.code_book import CodeBook
from engine.quantization.parts import TensorParts, constant, unpack_rows


def prepare_kernel(form: BlockFormat, out: NDArray[Any]) -> None:
    """Make the kernel that unpacks to arrays like `out`, which is empty, ready."""
    form.kernel(np.empty(0, np.uint8), out)


def rows_of(form: BlockFormat, data: Tensor, columns: int, first: int, count: int) -> Tensor:
    """Return the bytes of rows first..first + count."""
    row = columns // form.values * form.nbytes
    return data[first * row : (first + count) * row]


def unpack_on_cpu(
    form: BlockFormat, parts: TensorParts, shape: tuple[int, int], first: int, place: Tensor
) -> None:
    """Unpack rows of a matrix in RAM from row `first` on to `place`, [count, columns]."""
    kernel = form.kernel

    def unpack(start: int, stop: int, out: NDArray[Any]) -> None:
        kernel(rows_of(form, parts[0], shape[1], first + start, stop - start).numpy(), out)

    unpack_rows(place, unpack)


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


def numbers(form: BlockFormat, parts: TensorParts, shape: tuple[int, int], first: int, count: int) -> Tensor:
    """Unpack rows first..first + count in plain torch: float32 [count, columns]."""
    stored = rows_of(form, parts[0], shape[1], first, count).view(-1, form.nbytes)
    return numbers_of(form, stored).view(count, shape[1])


def numbers_of(form: BlockFormat, blocks: Tensor) -> Tensor:
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
