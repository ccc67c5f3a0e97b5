"""The common part of ggml's block formats: a row is a sequence of blocks, and a block holds a few numbers
with scales of its own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.checkpoints import Groups
from engine.checkpoints.storage import BLOCKS
from engine.quantization import triton
from engine.quantization.format import Format, Parts
from engine.quantization.jit import spread

# How many blocks a thread unpacks at a time: so many that taking the next piece costs next to nothing.
_PIECE = 2048

# Unpacks on the CPU: (data uint8 [blocks * bytes], out [blocks * values], float32, or uint16 for bfloat16)
Kernel = Callable[[NDArray[np.uint8], NDArray[Any]], None]
# Unpacks on any device: uint8 [blocks, bytes] -> float32 [blocks, values]
Numbers = Callable[[Tensor], Tensor]

# An unsigned 32-bit word, or a vector or array of them: anything with the operators << >> & | ^ * + -.
Word = Any


@dataclass(frozen=True, slots=True)
class BlockParts:
    """A block taken apart into words.

    Attributes: `quads`: the quants in the order of the columns, four in the bytes of a word; quants are
    unsigned: a format's offset is added. `scale`, `minimum`: float16, in the low half of a word. `small`: the
    8-bit scales in the order of the columns, each followed by its minimum if there is one, in the low byte of
    a word; higher bytes have no meaning.

    number = scale * (quant - offset), or scale * quant - minimum.
    """

    quads: Sequence[Word]
    scale: Word
    minimum: Word | None = None
    small: Sequence[Word] = ()


# Takes a block apart. Its argument is a function: offset in the block -> the little-endian word there.
Split = Callable[[Callable[[int], Word]], BlockParts]


def in_bytes(words: Sequence[Word]) -> list[Word]:
    """Return a word for each byte of `words`, with that byte as its low byte."""
    return [word >> 8 * byte for word in words for byte in range(4)]


def bits_of_quad(word: Word, at: int) -> Word:
    """Return a word whose four bytes are the bits at, at + 1, at + 2 and at + 3 of `word`."""
    return (word >> at & 15) * 0x00204081 & 0x01010101


def halves(data: Tensor) -> Tensor:
    """Convert little-endian float16 numbers, given as uint8 [blocks, 2 * n] at any address, to float32
    [blocks, n]."""
    return data.clone(memory_format=torch.contiguous_format).view(torch.float16).float()


class BlockFormat(Format):
    """A format in which a row consists of blocks.

    Attributes: `values`, how many numbers a block holds; `nbytes`, the size of a block; `scales`, the offsets
    of float16 numbers (scales and minima) in a block; `kernel`, which unpacks on the CPU; `numbers`, which
    unpacks on any device, in plain torch; `split`, which takes a block apart for products at packed size, or
    None.
    """

    def __init__(
        self, name: str, scales: tuple[int, ...], kernel: Kernel, numbers: Numbers, split: Split | None = None
    ) -> None:
        self.name = name
        self.values, self.nbytes = BLOCKS[name]
        self.scales = scales
        self.kernel = kernel
        self.numbers = numbers
        self.split = split

    def prepare(self, dtype: torch.dtype) -> None:
        out = np.empty(0, np.uint16 if dtype == torch.bfloat16 else np.float32)
        self.kernel(np.empty(0, np.uint8), out)

    def valid(self, parts: Parts) -> bool:
        blocks = parts[0].view(-1, self.nbytes)
        # The high byte of an infinite or NaN float16 is, in bits, s11111mm (s: sign, m: mantissa).
        return not any((blocks[:, at + 1] & 0x7C).eq(0x7C).any() for at in self.scales)

    def unpack(
        self,
        parts: Parts,
        shape: tuple[int, int],
        first: int,
        count: int,
        out: Tensor,
        groups: Groups | None = None,
    ) -> Tensor:
        in_row = shape[1] // self.values
        data = parts[0][first * in_row * self.nbytes : (first + count) * in_row * self.nbytes]
        flat = out.view(-1)[: count * shape[1]]
        if data.device.type == "cpu":
            spread(count * in_row, lambda start, stop: self._on_cpu(data, start, stop, flat), _PIECE)
        elif triton.available(data.device):
            triton.unpack_blocks(self.name, data, flat)
        else:
            flat.copy_(self.numbers(data.view(-1, self.nbytes)).view(-1))
        return flat.view(count, shape[1])

    def product(
        self, parts: Parts, shape: tuple[int, int], x: Tensor, groups: Groups | None = None
    ) -> Tensor | None:
        if not triton.available(x.device):
            return None
        return triton.multiply_blocks(self.name, parts[0], x, shape[0])

    def _on_cpu(self, data: Tensor, start: int, stop: int, out: Tensor) -> None:
        source = data.numpy()[start * self.nbytes : stop * self.nbytes]
        out = out[start * self.values : stop * self.values]
        if out.dtype == torch.bfloat16:
            self.kernel(source, out.view(torch.uint16).numpy())
        elif out.dtype == torch.float32:
            self.kernel(source, out.numpy())
        else:  # float16 has no kernel: round float32 numbers while they are in the processor's cache
            numbers = torch.empty(len(out))
            self.kernel(source, numbers.numpy())
            out.copy_(numbers)
