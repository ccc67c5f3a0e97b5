"""A matrix kept as stored, unpacked piece by piece when it is multiplied."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.checkpoints import Groups
from engine.checkpoints.cuts import PIECE, unpacked_rows
from engine.formats import Format, format_named
from engine.quantization import halves, operations
from engine.quantization.parts import DTYPES, TensorParts, aligned_parts
from engine.streaming import DiskTable, Mover


@dataclass(slots=True)
class Workspace:
    """Memory for one unpacked piece. All matrices of a model share it, because they are multiplied one after
    another. Attributes: `dtype` of unpacked weights; `device`."""

    dtype: torch.dtype
    device: torch.device
    _buffer: Tensor | None = field(default=None)

    def take(self, numbers: int) -> Tensor:
        """Return space for at least `numbers` numbers. Space returned earlier must no longer be used."""
        if self._buffer is None or len(self._buffer) < numbers:
            self._finish()
            self._buffer = None  # free the smaller one first
            with torch.inference_mode(False):  # usable inside and outside inference mode
                self._buffer = torch.empty(numbers, dtype=self.dtype, device=self.device)
        return self._buffer

    def _finish(self) -> None:
        """Wait for the products that read the buffer: it may be another stream's, which would use its memory
        again at once."""
        if self._buffer is not None and not self._buffer.is_cpu:
            torch.get_device_module(self.device).current_stream(self.device).synchronize()

    @property
    def states(self) -> torch.dtype:
        """The dtype of what products read and write."""
        return halves.states_dtype(self.dtype)

    @property
    def nbytes(self) -> int:
        return 0 if self._buffer is None else self._buffer.nbytes


class NearProduct(Protocol):
    """The product of a matrix that the processor multiplies by where it lies in RAM, beside a card."""

    def send(self, x: Tensor) -> None:
        """Start copying the input [n, columns] to RAM, for all such products until the next call."""

    def start(self) -> None:
        """Start multiplying the input, once it has arrived, after the products started before."""

    def finish(self) -> Tensor:
        """Return the product started first of those not finished: the input times the matrix's transpose,
        [n, rows], on the input's device."""


@dataclass(slots=True, eq=False)
class Packed:
    """A matrix [rows, columns] as stored.

    Attributes: `parts`, its bytes; `mover`, which fetches the parts if they are not in memory, else None;
    `near`, set while the processor multiplies by it instead.
    """

    format: Format
    shape: tuple[int, int]
    parts: TensorParts
    workspace: Workspace
    groups: Groups | None = None
    mover: Mover | None = None
    near: NearProduct | None = None

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self.parts)

    @property
    def recordable(self) -> bool:
        """Whether products can be recorded in a CUDA graph: not if the processor unpacks."""
        of = self.format, self.groups, self.shape[1], self.workspace.dtype
        return operations.unpacking(*of) != "processor"

    def give(self, parts: Sequence[Tensor] | Sequence[NDArray[np.uint8]]) -> None:
        """Set the parts, none to let go of them; arrays in RAM are not copied, but for small ones that are
        not aligned."""
        tensors = [part for part in parts if isinstance(part, Tensor)]
        arrays = [torch.from_numpy(part) for part in parts if not isinstance(part, Tensor)]
        self.parts = aligned_parts(self.format, arrays) if arrays else tensors

    def pieces(self) -> Iterator[tuple[int, Tensor]]:
        """Unpack the matrix piece by piece, from top to bottom. Yield for each piece its first row and its
        numbers, [rows, columns]; they may be overwritten by the next piece."""
        self._fetch()
        yield from self._unpacked()

    def _fetch(self) -> None:
        if self.mover is not None:
            self.mover.fetch(self)

    @property
    def _step(self) -> int:
        """The number of rows that are unpacked at a time."""
        return unpacked_rows(self.shape[1], PIECE)

    def _unpacked(self) -> Iterator[tuple[int, Tensor]]:
        (rows, columns), step = self.shape, self._step
        as_stored = DTYPES.get(self.format.name) == self.workspace.dtype  # they are only viewed
        buffer = self.workspace.take(0 if as_stored else min(rows, step) * columns)
        unpack = operations.unpacker(self.format, self.parts, self.shape, buffer, self.groups)
        for first in range(0, rows, step):
            yield first, unpack(first, min(step, rows - first))

    def copied(self) -> "Packed":
        """Return a copy of the matrix that stays in memory."""
        self._fetch()
        return replace(self, parts=tuple(part.clone() for part in self.parts), mover=None)

    def keep_unpacked(self) -> None:
        """Keep the numbers from now on, instead of what they are unpacked from."""
        plain = plain_matrix(self.dense(), self.workspace)
        self.format, self.groups, self.parts = plain.format, None, plain.parts

    def product(self, x: Tensor) -> Tensor:
        """Return x [n, columns] times the matrix's transpose: [n, rows]. x: of the workspace's `states`."""
        self._fetch()
        output = operations.product(self.format, self.parts, self.shape, x, self.groups, self.workspace.dtype)
        if output is not None:
            return output
        output = x.new_empty(len(x), self.shape[0])
        multiply = self._multiplier(x)
        for (_, piece), place in zip(self._unpacked(), output.split(self._step, dim=1), strict=True):
            multiply(piece.t(), place)
        return output

    def _multiplier(self, x: Tensor) -> Callable[[Tensor, Tensor], object]:
        """Return a function that multiplies x by an unpacked matrix [columns, rows], and writes the products
        to a tensor."""
        if x.dtype != self.workspace.dtype:
            return halves.multiplier(x)
        return lambda matrix, out: torch.mm(x, matrix, out=out)

    def dense(self) -> Tensor:
        """Return the whole matrix unpacked, [rows, columns], in memory of its own."""
        output = torch.empty(self.shape, dtype=self.workspace.dtype, device=self.workspace.device)
        for first, piece in self.pieces():
            output[first : first + len(piece)] = piece
        return output

    def rows(self, which: Tensor) -> Tensor:
        """Return rows `which` (int64 [n]) unpacked, as states [n, columns]. Only for formats that store row
        by row."""
        chosen = self.parts[0].view(self.shape[0], -1)[which].view(-1)
        found = Packed(self.format, (len(which), self.shape[1]), [chosen], self.workspace)
        return found.dense().to(self.workspace.states)


def plain_matrix(numbers: Tensor, workspace: Workspace) -> Packed:
    """Return a matrix [rows, columns] of plain numbers, which are rounded to the workspace's dtype."""
    name = next(name for name, dtype in DTYPES.items() if dtype == workspace.dtype)
    rows, columns = numbers.shape
    stored = numbers.to(workspace.device, workspace.dtype).contiguous().view(-1).view(torch.uint8)
    return Packed(format_named(name), (rows, columns), (stored,), workspace)


@dataclass(slots=True, eq=False)
class DiskRows:
    """Rows of a matrix that stays on disk. matrix: without bytes; table: its rows as stored."""

    matrix: Packed
    table: DiskTable

    def rows(self, which: Tensor) -> Tensor:
        """As `Packed.rows`. Raises StreamBroken if reading fails."""
        stored = torch.from_numpy(self.table.rows(which.cpu().numpy())).view(-1)
        workspace = self.matrix.workspace
        parts = [stored.to(workspace.device)]
        found = replace(self.matrix, shape=(len(which), self.matrix.shape[1]), parts=parts)
        return found.dense().to(workspace.states)
