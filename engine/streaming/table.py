"""A large table on disk, of which single rows are read: an embedding needs no memory of its own."""

import torch
from torch import Tensor

from engine.quantization import Packed
from engine.streaming.chunks import Stored
from engine.streaming.disk import SECTOR, DiskFile, aligned, buffer, memory


class DiskTable:
    """`quantization.Table` over one span that is stored row after row."""

    def __init__(self, stored: Stored, file: DiskFile) -> None:
        self.matrix = stored.matrix
        self._file = file
        self._start = stored.spans[0].offset
        self._row_nbytes = stored.spans[0].nbytes // stored.matrix.shape[0]
        self._bytes = memory(aligned(0, self._row_nbytes)[1] + SECTOR)
        self._view = buffer(self._bytes)

    def rows(self, which: Tensor) -> Tensor:
        """Rows `which` (int64 [n]) unpacked, [n, columns]. Raises StreamBroken."""
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
