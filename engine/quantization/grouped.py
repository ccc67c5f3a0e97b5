"""What GPTQ and AWQ share: numbers of a few bits, a scale and a zero point for each group of columns.

number = scale * (quant - zero point). Everything is stored transposed, [columns, rows], so that rows are
contiguous.
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

# Numbers unpacked at a time by one thread: enough that taking the next piece costs nothing.
_PIECE = 1 << 17

# (words uint8 at any address; scales, zeros float32 [groups, count]; group int32 [n], of columns start..start
# + n; bits; rows of the matrix; start; first row; out [n * count], float32 or uint16 for bfloat16)
Kernel = Callable[..., None]


def fields(words: Tensor, bits: int) -> Tensor:
    """Numbers of `bits` bits, lowest first, in streams of words: int32 [words, n] -> int32 [words * 32 /
    bits, n].

    A number of 3 bits may lie in two words.
    """
    block = bits if 32 % bits else 1  # words after which a number begins with a word again
    begin = torch.arange(0, 32 * block, bits, dtype=torch.int32, device=words.device)[:, None]
    word, shift = begin[:, 0] // 32, begin % 32
    within = (32 - shift).clamp(max=bits)  # bits in the first word
    words = words.reshape(-1, block, words.shape[1])
    low = words[:, word] >> shift & (1 << within) - 1
    high = words[:, (word + 1) % block] << within
    return ((low | high) & (1 << bits) - 1).reshape(-1, words.shape[2])


class Grouped(Format):
    """Parts: quants and zero points (packed int32), scales [groups, rows], perhaps the group of each column.

    Attributes: `scales`, the type of the scales; `kernel` unpacks on the CPU.
    """

    def __init__(self, name: str, scales: torch.dtype, kernel: Kernel) -> None:
        self.name = name
        self.scales = scales
        self.kernel = kernel

    def prepare(self, dtype: torch.dtype) -> None:
        table, group = np.empty((0, 0), np.float32), np.empty(0, np.int32)
        out = np.empty(0, np.uint16 if dtype == torch.bfloat16 else np.float32)
        self.kernel(np.empty(0, np.uint8), table, table, group, 4, 0, 0, 0, out)

    def sound(self, parts: Parts) -> bool:
        """Also whether each column's group is among those that have a scale."""
        scales = typed(parts[2], self.scales)
        if not len(scales):
            return True
        largest = torch.stack(torch.aminmax(scales)).float() * 255  # of 8 bits; a NaN is both ends
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
            # float16 has no kernel of its own: it is rounded while in the processor's cache.
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
        """Rows first..first + count, transposed: float32 [columns, count]. Plain torch, on any device."""
        scales, zeros, group = self._tables(parts, shape, first, count, groups)
        quants = self.quants(typed(parts[0], torch.int32), shape, first, count, groups.bits)
        return (quants - zeros[group]).mul_(scales[group])

    def _tables(
        self, parts: Parts, shape: tuple[int, int], first: int, count: int, groups: Groups
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Scales and zero points, float32 [groups, count], of rows first..first + count; the group of each
        column, int32 [columns]."""
        rows, columns = shape
        scales = typed(parts[2], self.scales).view(-1, rows)
        words = typed(parts[1], torch.int32).view(len(scales), -1)
        words = words[:, first * groups.bits // 32 : -(-(first + count) * groups.bits // 32)]
        zeros = self.zeros(words.t(), groups)[:count].t().float().contiguous()
        if len(parts) == 4:
            # A damaged index must not read memory that is not the scales'.
            group = typed(parts[3], torch.int32).clamp(0, len(scales) - 1)
        else:
            group = torch.arange(columns, dtype=torch.int32, device=scales.device) // groups.size
        return scales[:, first : first + count].float().contiguous(), zeros, group

    @abstractmethod
    def quants(self, words: Tensor, shape: tuple[int, int], first: int, count: int, bits: int) -> Tensor:
        """Rows first..first + count of `words` (int32, all of them): int32 [columns, count], on any
        device."""

    @abstractmethod
    def zeros(self, words: Tensor, groups: Groups) -> Tensor:
        """Zero points from int32 [words, groups]: int32 [rows or a few more, groups]."""
