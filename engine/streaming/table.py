"""Large tables of which only the rows in use are unpacked: on disk, so that they take no memory, or in memory
as they are stored."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.checkpoints import Span
from engine.errors import Interrupted
from engine.machine.disk_reads import SECTOR
from engine.streaming.crew import SYSTEM, Crew, Member
from engine.streaming.disk import Readable, aligned, memory
from engine.streaming.disk_watch import DiskWatch

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


@dataclass(slots=True, eq=False)
class _Order:
    """Rows that a thread waits for. Attributes: `read`, which returns them; `rows`, once they are here;
    `error`, if they cannot be read."""

    read: Callable[[], Rows]
    rows: Rows | None = None
    error: Exception | None = None

    @property
    def is_done(self) -> bool:
        return self.rows is not None or self.error is not None


class RowReader:
    """A thread that reads rows for threads that compute, so that Stop does not wait for the disk. It begins
    with the first rows."""

    def __init__(self, watch: DiskWatch, crew: Crew = SYSTEM) -> None:
        """watch: that of the disk. crew: the thread."""
        self._watch = watch
        self._crew = crew
        self._changed = crew.condition()
        self._orders: deque[_Order] = deque()
        self._thread: Member | None = None
        self._closed = False

    def read(self, read: Callable[[], Rows]) -> Rows:
        """Return what `read` does, which the thread calls. Raises its errors, and those of `DiskWatch.wait`;
        Interrupted, too, if this is closed before the rows are here."""
        order = _Order(read)
        with self._changed:
            if not self._closed:
                self._thread = self._thread or self._crew.start(self._work, "rows")
                self._orders.append(order)
                self._changed.notify_all()
                self._watch.wait(self._changed, lambda: order.is_done or self._closed)
        if order.error is not None:
            raise order.error
        if order.rows is None:
            raise Interrupted("The model is being closed.")
        return order.rows

    def close(self) -> None:
        """End the thread; see `DiskWatch.join`."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._watch.join([self._thread] if self._thread else [])

    def _work(self) -> None:
        while (order := self._next()) is not None:
            rows, error = None, None
            try:
                with self._watch.reading():
                    rows = order.read()
            except Exception as failure:  # any error: the thread that waits raises it
                error = failure
            with self._changed:
                order.rows, order.error = rows, error
                self._changed.notify_all()

    def _next(self) -> _Order | None:
        with self._changed:
            self._changed.wait_for(lambda: bool(self._orders) or self._closed)
            return None if self._closed else self._orders.popleft()


class DiskTable:
    """A matrix whose rows lie one after another in a file. Attributes: `span`, where they lie; `nbytes`, its
    bytes in memory; `reader`, the thread that reads them, or None if those do that ask."""

    nbytes = 0

    def __init__(self, span: Span, file: Readable) -> None:
        """file: the open file of `span`."""
        self.span = span
        self.reader: RowReader | None = None
        self._file = file
        self._row_nbytes = span.nbytes // span.shape[0]

    @property
    def storage(self) -> str:
        """The name of the matrix's format."""
        return self.span.storage

    def rows(self, which: NDArray[np.int64]) -> Rows:
        """Return the bytes of the rows `which` [n], as stored: uint8 [n, bytes of a row]. Several threads may
        ask at once. Raises StreamBroken if reading fails, and the errors of `RowReader.read`."""
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
