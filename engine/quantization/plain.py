"""The formats of plain numbers: float64, float32, float16 and bfloat16. Numbers that already have the
requested type are not copied."""

import torch
from torch import Tensor

from engine.checkpoints import Groups
from engine.quantization.format import Format, Parts, typed


class Plain(Format):
    """A format that stores little-endian numbers of one type, row by row."""

    def __init__(self, name: str, dtype: torch.dtype) -> None:
        self.name = name
        self.dtype = dtype

    def valid(self, parts: Parts) -> bool:
        numbers = typed(parts[0], self.dtype)
        if not len(numbers):
            return True
        return bool(torch.isfinite(torch.stack(torch.aminmax(numbers))).all())  # a NaN makes both NaN

    def unpack(
        self,
        parts: Parts,
        shape: tuple[int, int],
        first: int,
        count: int,
        out: Tensor,
        groups: Groups | None = None,
    ) -> Tensor:
        numbers = typed(parts[0], self.dtype).view(shape)[first : first + count]
        if numbers.dtype == out.dtype:
            return numbers
        return out.view(-1)[: count * shape[1]].view(count, shape[1]).copy_(numbers)


F64 = Plain("F64", torch.float64)
F32 = Plain("F32", torch.float32)
F16 = Plain("F16", torch.float16)
BF16 = Plain("BF16", torch.bfloat16)
