"""How far a download is, as plain data."""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

State = Literal["waiting", "running", "paused", "done", "failed", "cancelled"]
FileState = Literal["waiting", "checking", "downloading", "retrying", "done"]
WINDOW_S = 10.0  # the speed shown is the mean of so many seconds
_STEP_S = 0.25


@dataclass(frozen=True, slots=True)
class FileProgress:
    """Attributes: `name`: owner/name/file; `done_nbytes` of `nbytes` are here (while "checking": are hashed);
    `seconds_left`: None where it does not advance; `trouble`: the last, in words, "" once bytes come
    again."""

    name: str
    state: FileState
    done_nbytes: int
    nbytes: int
    bytes_per_s: float
    seconds_left: float | None
    trouble: str


@dataclass(frozen=True, slots=True)
class Progress:
    """The same for a whole item. `fetched_nbytes` came over the network since `start`; `trouble`: why it is
    paused or failed, else the last trouble of a file."""

    state: State
    done_nbytes: int
    nbytes: int
    fetched_nbytes: int
    bytes_per_s: float
    seconds_left: float | None
    trouble: str
    files: tuple[FileProgress, ...]


class Speed:
    """Bytes per second over the last seconds. Not thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._steps: deque[list[float]] = deque()  # [time, bytes], a quarter of a second each

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


class Meter:
    """What one file's thread says, and any thread may read."""

    def __init__(self, name: str, nbytes: int) -> None:
        self._name, self._nbytes = name, nbytes
        self._lock = threading.Lock()
        self._state: FileState = "waiting"
        self._done = 0
        self._trouble = ""
        self._speed = Speed()
        self.fetched_nbytes = 0

    def at(self, done_nbytes: int) -> None:
        with self._lock:
            self._done = done_nbytes

    def fetched(self, nbytes: int, done_nbytes: int) -> None:
        """`nbytes` more came over the network."""
        with self._lock:
            self._done = done_nbytes
            self.fetched_nbytes += nbytes
            self._speed.add(nbytes)
            self._state, self._trouble = "downloading", ""

    def enter(self, state: FileState, trouble: str = "") -> None:
        with self._lock:
            self._state, self._trouble = state, trouble

    def read(self) -> FileProgress:
        with self._lock:
            speed = self._speed.bytes_per_s() if self._state in ("downloading", "retrying") else 0.0
            left = seconds_left(self._nbytes - self._done, speed)
            return FileProgress(self._name, self._state, self._done, self._nbytes, speed, left, self._trouble)


def seconds_left(nbytes: int, bytes_per_s: float) -> float | None:
    if nbytes == 0:
        return 0.0
    return nbytes / bytes_per_s if bytes_per_s > 0 else None


def together(state: State, trouble: str, meters: list[Meter]) -> Progress:
    files = tuple(meter.read() for meter in meters)
    done, nbytes = sum(file.done_nbytes for file in files), sum(file.nbytes for file in files)
    running = state == "running"
    speed = sum(file.bytes_per_s for file in files) if running else 0.0
    return Progress(
        state,
        done,
        nbytes,
        sum(meter.fetched_nbytes for meter in meters),
        speed,
        seconds_left(nbytes - done, speed),
        trouble or next((file.trouble for file in files if file.trouble), ""),
        files,
    )
