"""Large tables of which only the rows in use are unpacked: on disk, so that they take no memory, or in memory
as they are stored."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.checkpoints import Span
from engine.machine.disk_reads import SECTOR
from engine.streaming.disk import Readable, aligned, memory
from engine.streaming.readers import Readers

Rows = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A matrix in memory whose rows lie one after another. Attributes: `storage`, the name of its format;
    `data`, uint8 [rows, bytes of a row]."""

    storage: str
    data: Rows

    @property
    def nbytes(self) -> int:
        return self.data.nbytes

    def rows(self, which: NDArray[np.int64]) -> Rows:
        """As `DiskTable.rows`."""
        return self.data[which]


class DiskTable:
    """A matrix whose rows lie one after another in a file. Attributes: `span`, where they lie; `nbytes`, its
    bytes in memory; `reader`, whose thread reads them, or None if those do that ask."""

    nbytes = 0

    def __init__(self, span: Span, file: Readable) -> None:
        """file: the open file of `span`."""
        self.span = span
        self.reader: Readers | None = None
        self._file = file
        self._row_nbytes = span.nbytes // span.shape[0]

    @property
    def storage(self) -> str:
        """The name of the matrix's format."""
        return self.span.storage

    def rows(self, which: NDArray[np.int64]) -> Rows:
        """Return the bytes of the rows `which` [n], as stored: uint8 [n, bytes of a row]. Several threads may
        ask at once. Raises StreamBroken if reading fails, and the errors of `Readers.read`."""
        return self.reader.read(lambda: self._read(which)) if self.reader else self._read(which)

    def _read(self, which: NDArray[np.int64]) -> Rows:
        sectors = memory(aligned(0, self._row_nbytes)[1] + SECTOR)
        different, back = np.unique(which, return_inverse=True)
        stored = np.empty((len(different), self._row_nbytes), np.uint8)
        for place, row in enumerate(different.tolist()):
            begin = self.span.offset + row * self._row_nbytes
            first, last = aligned(begin, begin + self._row_nbytes)
            self._file.read(sectors[: last - first].data, first, begin + self._row_nbytes - first)
            stored[place] = sectors[begin - first : begin - first + self._row_nbytes]
        return stored[back]
