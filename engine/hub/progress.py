"""The progress of downloads, as plain data."""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

State = Literal["waiting", "running", "paused", "done", "failed", "cancelled"]
FileState = Literal["waiting", "checking", "downloading", "retrying", "done"]
WINDOW_S = 10.0  # the reported speed is the mean over this time
_STEP_S = 0.25


@dataclass(frozen=True, slots=True)
class FileProgress:
    """The progress of one file.

    Attributes: `name`, owner/name/file; `done_nbytes`, the bytes received so far (while "checking": hashed so
    far), out of `nbytes`; `seconds_left`, None if nothing is being received; `error`, the text of the last
    error, "" once bytes arrive again.
    """

    name: str
    state: FileState
    done_nbytes: int
    nbytes: int
    bytes_per_s: float
    seconds_left: float | None
    error: str


@dataclass(frozen=True, slots=True)
class DownloadProgress:
    """The progress of an item.

    Attributes as in `FileProgress`, summed over all files, and: `fetched_nbytes`, the bytes that this
    `Download` has received over the network; `error`, why the download paused itself or failed, else the
    error of a file, or "".
    """

    state: State
    done_nbytes: int
    nbytes: int
    fetched_nbytes: int
    bytes_per_s: float
    seconds_left: float | None
    error: str
    files: tuple[FileProgress, ...]


class TransferRate:
    """Measures bytes per second, as the mean over the last WINDOW_S seconds. Not thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        # [start time, bytes received] for each period of _STEP_S
        self._steps: deque[list[float]] = deque()

    def add(self, nbytes: int) -> None:
        now = self._clock()
        if self._steps and now - self._steps[-1][0] < _STEP_S:
            self._steps[-1][1] += nbytes
        else:
            self._steps.append([now, nbytes])
            self._forget(now)

    def bytes_per_s(self) -> float:
        now = self._clock()
        self._forget(now)
        seconds = min(max(now - self._began, _STEP_S), WINDOW_S)
        return sum(nbytes for _, nbytes in self._steps) / seconds

    def _forget(self, now: float) -> None:
        while self._steps and now - self._steps[0][0] >= WINDOW_S:
            self._steps.popleft()


class TransferMeter:
    """The progress of one file, which the file's thread updates and any thread may read. Thread-safe."""

    def __init__(self, name: str, nbytes: int) -> None:
        self._name, self._nbytes = name, nbytes
        self._lock = threading.Lock()
        self._state: FileState = "waiting"
        self._done = 0
        self._error = ""
        self._speed = TransferRate()
        self.fetched_nbytes = 0

    def at(self, done_nbytes: int) -> None:
        with self._lock:
            self._done = done_nbytes

    def fetched(self, nbytes: int, done_nbytes: int) -> None:
        """Record that `nbytes` more bytes arrived over the network. done_nbytes: all bytes so far."""
        with self._lock:
            self._done = done_nbytes
            self.fetched_nbytes += nbytes
            self._speed.add(nbytes)
            self._state, self._error = "downloading", ""

    def enter(self, state: FileState, error: str = "") -> None:
        with self._lock:
            self._state, self._error = state, error

    def read(self) -> FileProgress:
        with self._lock:
            speed = self._speed.bytes_per_s() if self._state in ("downloading", "retrying") else 0.0
            left = seconds_left(self._nbytes - self._done, speed)
            return FileProgress(self._name, self._state, self._done, self._nbytes, speed, left, self._error)


def seconds_left(nbytes: int, bytes_per_s: float) -> float | None:
    if nbytes == 0:
        return 0.0
    return nbytes / bytes_per_s if bytes_per_s > 0 else None


def together(state: State, error: str, meters: list[TransferMeter]) -> DownloadProgress:
    files = tuple(meter.read() for meter in meters)
    done, nbytes = sum(file.done_nbytes for file in files), sum(file.nbytes for file in files)
    running = state == "running"
    speed = sum(file.bytes_per_s for file in files) if running else 0.0
    return DownloadProgress(
        state,
        done,
        nbytes,
        sum(meter.fetched_nbytes for meter in meters),
        speed,
        seconds_left(nbytes - done, speed),
        error or next((file.error for file in files if file.error), ""),
        files,
    )
