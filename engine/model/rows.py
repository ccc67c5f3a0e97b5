"""Input and output of one forward pass: rows, their visibility, and logits and states.

Knows nothing of layers, weights or the cache.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Array


@dataclass(frozen=True, slots=True)
class Rows:
    """The input of one pass.

    tokens:    int64 [rows]
    positions: int64 [rows]  in a tree, a node's position is counted along its path
    visible:   bool [rows, tail + rows], or None. The slots of the cache's tail and the rows of this pass
               that a row sees.
               It is a path: a row sees itself, and whatever the rows before it that it sees do.
               None: there is no tail, and a row sees itself and the rows before it (plain text).
               Every row sees every committed slot, except those outside its sliding window.
    """

    tokens: NDArray[np.int64]
    positions: NDArray[np.int64]
    visible: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def in_order(self) -> bool:
        """Whether each row sees itself and rows before it only, as layers with states need it in torch."""
        return self.visible is None or not np.triu(self.visible[:, -len(self) :], 1).any()

    @staticmethod
    def text(tokens: Sequence[int], start: int) -> "Rows":
        """Return rows of plain text whose first token has position `start`."""
        return Rows(np.array(tokens, np.int64), np.arange(start, start + len(tokens)))


@dataclass(frozen=True, slots=True)
class Output:
    """The output of one pass, as arrays of the model.

    logits: [requested rows, vocabulary]. hidden: requested layer -> its output [rows, width]. In place of a
    layer, the number of layers stands for the last layer's output after the final norm, which is the input of
    the output head.
    """

    logits: Array
    hidden: dict[int, Array]
