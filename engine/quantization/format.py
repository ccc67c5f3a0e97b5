"""The interface that every format of stored weights implements."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor

from engine.checkpoints import Groups

# The stored bytes of one matrix: one tensor, uint8 [bytes], for each span of its `checkpoints.Weight`.
Parts = Sequence[Tensor]


def typed(data: Tensor, dtype: torch.dtype) -> Tensor:
    """Return bytes, uint8 [nbytes], as numbers of `dtype`. Bytes at an unaligned address are copied first,
    because files do not align tensors."""
    if data.data_ptr() % dtype.itemsize or data.storage_offset() % dtype.itemsize:
        data = data.clone()
    return data.view(dtype)


class Format(ABC):
    """A format in which the numbers of a matrix are stored. Stateless: one object serves all matrices in the
    format.

    Attributes: `name`, as in `checkpoints.Weight.format`.
    """

    name: str

    def prepare(self, dtype: torch.dtype) -> None:
        """Make the kernel that unpacks to `dtype` on the CPU ready: read it from the user's cache, or compile
        it."""
        return  # plain numbers need no kernel

    @abstractmethod
    def valid(self, parts: Parts) -> bool:
        """Return whether every number is finite and every index lies within its table, so that a damaged file
        is found before the model answers."""

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
        """Unpack rows first..first + count of the matrix of `shape` (rows, columns) stored in `parts`.

        out: space for at least count * columns numbers of the resulting type (float32, bfloat16 or float16),
        contiguous, on the device of `parts`. groups: for GPTQ and AWQ only.
        Returns [count, columns]: a view of `out` (perhaps transposed), or a view of `parts` if they already
        store numbers of that type.
        """

    def product(
        self, parts: Parts, shape: tuple[int, int], x: Tensor, groups: Groups | None = None
    ) -> Tensor | None:
        """Multiply x [n, columns] by the transpose of the matrix stored in `parts` without unpacking it
        first. Return the product, [n, rows], or None if unpacking first is faster or the only way."""
        return None
