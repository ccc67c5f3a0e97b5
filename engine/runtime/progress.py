"""The progress of a set-up, as plain data."""

import threading
from dataclasses import dataclass
from typing import Literal, get_args

from engine.hub.progress import TransferRate, seconds_left

State = Literal["waiting", "running", "done", "failed", "cancelled"]
Stage = Literal["checking", "unpacking", "packages", "torch", "testing", "switching"]
STAGES: tuple[Stage, ...] = get_args(Stage)


@dataclass(frozen=True, slots=True)
class SetupProgress:
    """A snapshot of a set-up's progress.

    Attributes: `done_nbytes`, the bytes installed so far, out of `nbytes` (in the stage "unpacking": the
    bytes of the runtime file that have been verified and unpacked); `seconds_left`, None while no bytes
    arrive; `doing`, what the stage is working on, such as the last line of the installer's output; `error`,
    why the set-up failed, or "".
    """

    state: State
    stage: Stage
    done_nbytes: int
    nbytes: int
    bytes_per_s: float
    seconds_left: float | None
    doing: str
    error: str


class SetupMeter:
    """A set-up's progress, which the set-up's thread updates and any thread may read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.enter("checking", 0)

    def enter(self, stage: Stage, nbytes: int) -> None:
        """Start a stage that will process `nbytes` bytes, and count its bytes from 0."""
        with self._lock:
            self._stage, self._nbytes, self._done = stage, nbytes, 0
            self._speed, self._doing = TransferRate(), ""

    def continue_with(self, stage: Stage) -> None:
        """Start a stage that continues the byte count of the previous one."""
        with self._lock:
            self._stage, self._doing = stage, ""

    def set_done(self, done_nbytes: int) -> None:
        with self._lock:
            self._speed.add(max(0, done_nbytes - self._done))
            self._done = done_nbytes

    def set_activity(self, doing: str) -> None:
        with self._lock:
            self._doing = doing

    def read(self, state: State, error: str) -> SetupProgress:
        with self._lock:
            advancing = state == "running" and self._stage in ("unpacking", "packages", "torch")
            done = min(self._done, self._nbytes)
            speed = self._speed.bytes_per_s() if advancing else 0.0
            return SetupProgress(
                state,
                self._stage,
                done,
                self._nbytes,
                speed,
                seconds_left(self._nbytes - done, speed),
                self._doing,
                error,
            )
