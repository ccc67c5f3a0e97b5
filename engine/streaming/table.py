"""A large table that stays on disk: only the rows in use are read, so that an embedding takes no memory."""

import torch
from torch import Tensor

from engine.quantization import Packed
from engine.streaming.chunks import StoredMatrix
from engine.streaming.disk import SECTOR, DiskFile, aligned, buffer, memory


class DiskTable:
    """A `quantization.RowTable` whose rows lie one after another in one span of a file."""

    def __init__(self, stored: StoredMatrix, file: DiskFile) -> None:
        self.matrix = stored.matrix
        self._file = file
        self._start = stored.spans[0].offset
        self._row_nbytes = stored.spans[0].nbytes // stored.matrix.shape[0]
        self._bytes = memory(aligned(0, self._row_nbytes)[1] + SECTOR)
        self._view = buffer(self._bytes)

    def rows(self, which: Tensor) -> Tensor:
        """Return rows `which` (int64 [n]) unpacked, [n, columns]. Raises StreamBroken if reading fails."""
        different, back = torch.unique(which, return_inverse=True)
        stored = torch.empty(len(different), self._row_nbytes, dtype=torch.uint8)
        for place, row in enumerate(different.tolist()):
            begin = self._start + row * self._row_nbytes
            first, last = aligned(begin, begin + self._row_nbytes)
            self._file.read(self._view[: last - first], first, begin + self._row_nbytes - first)
            stored[place] = self._bytes[begin - first : begin - first + self._row_nbytes]
        matrix = self.matrix
        parts = [stored.view(-1).to(matrix.workspace.device)]
        rows = Packed(matrix.format, (len(different), matrix.shape[1]), parts, matrix.workspace).dense()
        return rows[back.to(rows.device)]
