"""The interface of descriptions of stored number formats."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The stored bytes of one matrix: uint8 [bytes] for each span of its `checkpoints.Weight`.
Parts = Sequence[NDArray[np.uint8]]


class Format(ABC):
    """A format in which the numbers of a matrix are stored.

    Attributes: `name`, as in `checkpoints.Weight.format`.
    """

    name: str

    @property
    def kernels(self) -> str:
        """The name of the format whose kernels unpack the numbers on a card."""
        return self.name

    @property
    @abstractmethod
    def part_types(self) -> tuple[str, ...]:
        """The type of the numbers in each part of a matrix, as in `checkpoints.storage.BLOCKS`. GPTQ may lack
        the last part (`GroupedFormat.has_index`)."""

    @property
    def has_groups(self) -> bool:
        """Whether a matrix has `checkpoints.Groups`, because the format leaves their size open."""
        return False

    @abstractmethod
    def valid(self, parts: Parts) -> bool:
        """Return whether every number is finite and every index lies within its table, so that a damaged file
        is found before the model answers."""


class RowFormat(Format):
    """A format that stores a matrix row by row in one span."""

    @abstractmethod
    def unpack(self, data: NDArray[np.uint8], out: NDArray[Any]) -> None:
        """Unpack numbers at any address, uint8 [bytes], to `out`, float32 [numbers]."""
