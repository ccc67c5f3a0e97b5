"""A matrix in memory as it is stored, unpacked piece by piece at the moment it is multiplied."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from engine.checkpoints import Groups
from engine.quantization.format import Format, Parts

# Numbers unpacked at a time. Small enough that a large vocabulary's head needs no memory of its own size,
# large enough that a product of this size runs at full speed.
PIECE = 1 << 24
# Pieces begin at multiples of this many rows: formats pack up to 32 rows of one column in a word.
_ROWS = 64


@dataclass(slots=True)
class Workspace:
    """Room for one unpacked piece, shared by all matrices of a model: they are multiplied one after
    another."""

    dtype: torch.dtype
    device: torch.device
    _room: Tensor | None = field(default=None)

    def take(self, numbers: int) -> Tensor:
        """At least `numbers` numbers. What was taken before is overwritten."""
        if self._room is None or len(self._room) < numbers:
            self._room = None  # free the smaller one first
            with torch.inference_mode(False):  # usable inside that mode and outside
                self._room = torch.empty(numbers, dtype=self.dtype, device=self.device)
        return self._room

    @property
    def nbytes(self) -> int:
        return 0 if self._room is None else self._room.nbytes


class Mover(Protocol):
    """Whoever brings the bytes of matrices that are not in memory.

    Attributes: `nbytes`, memory it takes on the compute device; since the start: `moved`, bytes brought, and
    `waited_s`, seconds that `fetch` has waited for them. `look` is called by `fetch` before each chunk and
    may end the pass by raising.
    """

    look: Callable[[], None]

    @property
    def nbytes(self) -> int: ...

    @property
    def moved(self) -> int: ...

    @property
    def waited_s(self) -> float: ...

    def fetch(self, matrix: "Packed") -> None:
        """Give `matrix` its parts; they stay until the next fetch."""

    def choose(self, experts: Sequence["Packed"], chosen: Sequence["Packed"]) -> None:
        """Of a mixture's `experts`, this pass will only ask for the matrices `chosen`."""

    def close(self) -> None:
        """End its threads, close its files."""


@dataclass(slots=True, eq=False)
class Packed:
    """A matrix [rows, columns] as stored.

    Attributes: `parts`, its bytes (uint8 each; see `Format`); `mover` brings them where they are not in
    memory, else None.
    """

    format: Format
    shape: tuple[int, int]
    parts: Parts
    workspace: Workspace
    groups: Groups | None = None
    mover: Mover | None = None

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self.parts)

    def pieces(self) -> Iterator[tuple[int, Tensor]]:
        """(first row, [rows, columns]) from top to bottom; each is overwritten by the next."""
        self._fetch()
        yield from self._unpacked()

    def _fetch(self) -> None:
        if self.mover is not None:
            self.mover.fetch(self)

    def _unpacked(self) -> Iterator[tuple[int, Tensor]]:
        rows, columns = self.shape
        step = max(_ROWS, PIECE // columns // _ROWS * _ROWS)
        room = self.workspace.take(min(rows, step) * columns)
        for first in range(0, rows, step):
            count = min(step, rows - first)
            yield first, self.format.unpack(self.parts, self.shape, first, count, room, self.groups)

    def product(self, x: Tensor) -> Tensor:
        """x [n, columns] times the matrix's transpose: [n, rows]."""
        self._fetch()
        output = self.format.product(self.parts, self.shape, x, self.groups)
        if output is not None:
            return output
        output = x.new_empty(len(x), self.shape[0])
        for first, piece in self._unpacked():
            torch.mm(x, piece.t(), out=output[:, first : first + len(piece)])
        return output

    def dense(self) -> Tensor:
        """The whole matrix unpacked, [rows, columns], in memory of its own."""
        output = torch.empty(self.shape, dtype=self.workspace.dtype, device=self.workspace.device)
        for first, piece in self.pieces():
            output[first : first + len(piece)] = piece
        return output

    def rows(self, which: Tensor) -> Tensor:
        """Rows `which` (int64 [n]) unpacked, [n, columns]. For formats that store row after row."""
        chosen = self.parts[0].view(self.shape[0], -1)[which].view(-1)
        return Packed(self.format, (len(which), self.shape[1]), [chosen], self.workspace).dense()
