"""The common part of GPTQ and AWQ: numbers of a few bits, a scale and a zero point per group of columns.

number = scale * (quant - zero point). Everything is stored transposed, [columns, rows]: the numbers of one
column lie next to each other.
"""

from abc import abstractmethod
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from engine.checkpoints import Groups
from engine.quantization import triton
from engine.quantization.format import Format, Parts, typed
from engine.quantization.jit import spread

# How many numbers a thread unpacks at a time: so many that taking the next piece costs next to nothing.
_PIECE = 1 << 17

# Unpacks columns start..start + n of rows first..first + count. Arguments: the matrix's words, uint8 at any
# address; scales and zero points, float32 [groups, count] each; the group of each column, int32 [n]; bits per
# number; rows of the matrix; start; first; out [n * count], float32, or uint16 for bfloat16.
Kernel = Callable[..., None]


def fields(words: Tensor, bits: int) -> Tensor:
    """Unpack numbers of `bits` bits from n streams of words, lowest bits first. A number of 3 bits may span
    two words.

    words: int32 [words, n]. Returns int32 [words * 32 / bits, n].
    """
    block = bits if 32 % bits else 1  # words after which a number starts at a word boundary again
    begin = torch.arange(0, 32 * block, bits, dtype=torch.int32, device=words.device)[:, None]
    word, shift = begin[:, 0] // 32, begin % 32
    within = (32 - shift).clamp(max=bits)  # bits of each number in its first word
    words = words.reshape(-1, block, words.shape[1])
    low = words[:, word] >> shift & (1 << within) - 1
    high = words[:, (word + 1) % block] << within
    return ((low | high) & (1 << bits) - 1).reshape(-1, words.shape[2])


class Grouped(Format):
    """A format with these parts: quants and zero points (packed into int32 words), scales [groups, rows], and
    perhaps the group of each column.

    Attributes: `scales`, the dtype of the scales; `kernel`, which unpacks on the CPU.
    """

    def __init__(self, name: str, scales: torch.dtype, kernel: Kernel) -> None:
        self.name = name
        self.scales = scales
        self.kernel = kernel

    def prepare(self, dtype: torch.dtype) -> None:
        table, group = np.empty((0, 0), np.float32), np.empty(0, np.int32)
        out = np.empty(0, np.uint16 if dtype == torch.bfloat16 else np.float32)
        self.kernel(np.empty(0, np.uint8), table, table, group, 4, 0, 0, 0, out)

    def valid(self, parts: Parts) -> bool:
        """Return whether every number is finite and every column's group exists."""
        scales = typed(parts[2], self.scales)
        if not len(scales):
            return True
        # Quants have 8 bits at most. If a scale is NaN, so are the minimum and the maximum.
        largest = torch.stack(torch.aminmax(scales)).float() * 255
        if not torch.isfinite(largest).all():
            return False
        if len(parts) == 3:
            return True
        group = typed(parts[3], torch.int32)
        groups = parts[1].nbytes * len(group) // parts[0].nbytes
        least, most = torch.aminmax(group)
        return bool(least >= 0) and bool(most < groups)

    def unpack(
        self,
        parts: Parts,
        shape: tuple[int, int],
        first: int,
        count: int,
        out: Tensor,
        groups: Groups | None = None,
    ) -> Tensor:
        assert groups is not None
        rows, columns = shape
        flat = out.view(-1)[: count * columns].view(columns, count)
        if triton.available(out.device):
            triton.unpack_grouped(self.name, self._typed(parts), shape, first, count, groups, flat)
            return flat.t()
        if out.device.type != "cpu":
            return flat.copy_(self.numbers(parts, shape, first, count, groups)).t()
        words = parts[0].numpy()
        scales, zeros, group = (table.numpy() for table in self._tables(parts, shape, first, count, groups))

        def work(start: int, stop: int) -> None:
            place = flat[start:stop]
            # float16 has no kernel: round float32 numbers while they are in the processor's cache.
            wide = torch.empty(place.shape) if place.dtype == torch.float16 else place
            target = (wide.view(torch.uint16) if wide.dtype == torch.bfloat16 else wide).view(-1).numpy()
            self.kernel(words, scales, zeros, group[start:stop], groups.bits, rows, start, first, target)
            if wide is not place:
                place.copy_(wide)

        spread(columns, work, max(1, _PIECE // count))
        return flat.t()

    def product(
        self, parts: Parts, shape: tuple[int, int], x: Tensor, groups: Groups | None = None
    ) -> Tensor | None:
        assert groups is not None
        if not triton.available(x.device):
            return None
        return triton.multiply_grouped(self.name, self._typed(parts), groups, x, shape[0])

    def _typed(self, parts: Parts) -> Parts:
        types = (torch.int32, torch.int32, self.scales, torch.int32)
        return [typed(part, dtype) for part, dtype in zip(parts, types, strict=False)]

    def numbers(self, parts: Parts, shape: tuple[int, int], first: int, count: int, groups: Groups) -> Tensor:
        """Unpack rows first..first + count, transposed, in plain torch: float32 [columns, count]."""
        scales, zeros, group = self._tables(parts, shape, first, count, groups)
        quants = self.quants(typed(parts[0], torch.int32), shape, first, count, groups.bits)
        return (quants - zeros[group]).mul_(scales[group])

    def _tables(
        self, parts: Parts, shape: tuple[int, int], first: int, count: int, groups: Groups
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the scales and the zero points of rows first..first + count, float32 [groups, count] each,
        and the group of each column, int32 [columns]."""
        rows, columns = shape
        scales = typed(parts[2], self.scales).view(-1, rows)
        words = typed(parts[1], torch.int32).view(len(scales), -1)
        words = words[:, first * groups.bits // 32 : -(-(first + count) * groups.bits // 32)]
        zeros = self.zeros(words.t(), groups)[:count].t().float().contiguous()
        if len(parts) == 4:
            # A damaged index must not read memory outside the scales.
            group = typed(parts[3], torch.int32).clamp(0, len(scales) - 1)
        else:
            group = torch.arange(columns, dtype=torch.int32, device=scales.device) // groups.size
        return scales[:, first : first + count].float().contiguous(), zeros, group

    @abstractmethod
    def quants(self, words: Tensor, shape: tuple[int, int], first: int, count: int, bits: int) -> Tensor:
        """Unpack the quants of rows first..first + count on any device: int32 [columns, count]. words: the
        int32 words of all rows."""

    @abstractmethod
    def zeros(self, words: Tensor, groups: Groups) -> Tensor:
        """Unpack zero points. words: int32 [words, groups]. Return int32 [rows, or a few more, groups]."""
