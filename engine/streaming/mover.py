"""Matrices whose bytes come and go, and what brings them."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from engine.formats import Format

# Bytes in RAM, a numpy array uint8 [bytes], or on a device: what its link makes of them.
Bytes = Any


class Movable(Protocol):
    """A matrix whose bytes can be moved.

    Attributes: `format`, that of its numbers; `mover`, which brings its bytes, or None if they stay.
    """

    mover: "Mover | None"

    @property
    def format(self) -> Format: ...

    def give(self, parts: Sequence[Bytes]) -> None:
        """Take these bytes as those of the matrix, one array for each of its spans; none: they are gone."""


class Mover(Protocol):
    """Brings the bytes of matrices to the compute device if they are not in its memory.

    Attributes: `nbytes`, the bytes it takes on the compute device; `moved`, bytes moved since the start;
    `waited_s`, seconds that `fetch` has waited for bytes since the start; `on_chunk`, a function that `fetch`
    calls before each chunk and that may raise to end the pass.
    """

    on_chunk: Callable[[], None]

    @property
    def nbytes(self) -> int: ...

    @property
    def moved(self) -> int: ...

    @property
    def waited_s(self) -> float: ...

    def fetch(self, matrix: Movable) -> None:
        """Give `matrix` its bytes; they are valid until the next fetch."""

    def choose(
        self,
        chosen: Sequence[Movable],
        rows: Sequence[Sequence[Movable]] = (),
        near: Sequence[Movable] = (),
    ) -> None:
        """Announce which matrices of a mixture this pass uses, and fetches but for those `near`, by which the
        processor multiplies where they lie in RAM. rows: one matrix of each expert that a row chose, by row,
        so that `kept` teaches what follows a row; empty if they are not known."""

    def kept(self, row: int) -> None:
        """Note that the pass has ended, and that the text goes on behind this row of it."""

    def close(self) -> None:
        """Stop the threads and close the files."""
