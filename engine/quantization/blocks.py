"""ggml's block formats: a row is a run of blocks, each a few numbers with scales of their own."""

from collections.abc import Callable
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

# Blocks unpacked at a time by one thread: enough that taking the next piece costs nothing.
_PIECE = 2048

# (data uint8 [blocks * bytes], out [blocks * values], float32 or uint16 for bfloat16)
Kernel = Callable[[NDArray[np.uint8], NDArray[Any]], None]
# uint8 [blocks, bytes] -> float32 [blocks, values], on any device
Numbers = Callable[[Tensor], Tensor]


def halves(data: Tensor) -> Tensor:
    """uint8 [blocks, 2 * n], float16 in little-endian order at any address, as float32 [blocks, n]."""
    return data.clone(memory_format=torch.contiguous_format).view(torch.float16).float()


class Blocks(Format):
    """A row is columns / `values` blocks of `nbytes` bytes.

    Attributes: `kernel` unpacks on the CPU, `numbers` (plain torch) on any device; `scales`, where in a
    block its float16 scales begin.
    """

    def __init__(self, name: str, scales: tuple[int, ...], kernel: Kernel, numbers: Numbers) -> None:
        self.name = name
        self.values, self.nbytes = BLOCKS[name]
        self.scales = scales
        self.kernel = kernel
        self.numbers = numbers

    def prepare(self, dtype: torch.dtype) -> None:
        out = np.empty(0, np.uint16 if dtype == torch.bfloat16 else np.float32)
        self.kernel(np.empty(0, np.uint8), out)

    def sound(self, parts: Parts) -> bool:
        blocks = parts[0].view(-1, self.nbytes)
        # The high byte of an infinite or NaN float16 is s11111mm.
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
        else:  # no kernel of its own: rounded from float32 while that is in the processor's cache
            numbers = torch.empty(len(out))
            self.kernel(source, numbers.numpy())
            out.copy_(numbers)
