"""What a stored number format offers to the rest of the engine."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor

from engine.checkpoints import Groups

# The stored bytes of one matrix: uint8 [bytes] each, one for each span of its `checkpoints.Weight`.
Parts = Sequence[Tensor]


def typed(data: Tensor, dtype: torch.dtype) -> Tensor:
    """uint8 [nbytes] as numbers of `dtype`. Files align tensors to nothing: what begins at an odd address is
    copied."""
    if data.data_ptr() % dtype.itemsize or data.storage_offset() % dtype.itemsize:
        data = data.clone()
    return data.view(dtype)


class Format(ABC):
    """One stored number format. Stateless: one object serves every matrix in it.

    Attributes: `name`, as in `checkpoints.Weight.format`.
    """

    name: str

    def prepare(self, dtype: torch.dtype) -> None:
        """Compile what unpacking to `dtype` on the CPU needs, or read it from the user's cache."""
        return  # numbers stored as they are need nothing

    @abstractmethod
    def sound(self, parts: Parts) -> bool:
        """Whether every number comes out finite, and every index lies within its table: a damaged file is
        found before it speaks."""

    @abstractmethod
    def unpack(
        self,
        parts: Parts,
        shape: tuple[int, int],
        first: int,
        count: int,
        out: Tensor,
        groups: Groups | None = None,
    ) -> Tensor:
        """Rows first..first + count of the matrix of `shape` (rows, columns) that `parts` hold.

        out: count * columns numbers or more of the type wanted (float32, bfloat16, float16), contiguous, on
        the device of `parts`.
        Returns [count, columns]: a view of `out` (perhaps transposed), or of `parts` where they are such
        numbers already.
        """

    def product(
        self, parts: Parts, shape: tuple[int, int], x: Tensor, groups: Groups | None = None
    ) -> Tensor | None:
        """x [n, columns] times the matrix's transpose, [n, rows], straight from `parts`; None where unpacking
        first is the better way, or the only one."""
        return None
