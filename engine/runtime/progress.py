"""How far a set-up is, as plain data."""

import os
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from engine.hub.progress import Speed, seconds_left

State = Literal["waiting", "running", "done", "failed", "cancelled"]
Stage = Literal["checking", "unpacking", "packages", "torch", "testing", "switching"]
STAGES: tuple[Stage, ...] = get_args(Stage)


@dataclass(frozen=True, slots=True)
class Progress:
    """`done_nbytes` of `nbytes` are on the disk, unpacked (in the stage "unpacking": of the archive's file);
    `seconds_left`: None where it does not advance; `doing`: the installer's last words; `trouble`: why it
    failed."""

    state: State
    stage: Stage
    done_nbytes: int
    nbytes: int
    bytes_per_s: float
    seconds_left: float | None
    doing: str
    trouble: str


class Meter:
    """What the set-up's thread says, and any thread may read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.enter("checking", 0)

    def enter(self, stage: Stage, nbytes: int) -> None:
        """A stage begins in which `nbytes` are to come; another count of bytes begins with another total."""
        with self._lock:
            self._stage, self._nbytes, self._done = stage, nbytes, 0
            self._speed, self._doing = Speed(), ""

    def go_on(self, stage: Stage) -> None:
        """A stage begins, the count goes on."""
        with self._lock:
            self._stage, self._doing = stage, ""

    def at(self, done_nbytes: int) -> None:
        with self._lock:
            self._speed.add(max(0, done_nbytes - self._done))
            self._done = done_nbytes

    def say(self, doing: str) -> None:
        with self._lock:
            self._doing = doing

    def read(self, state: State, trouble: str) -> Progress:
        with self._lock:
            moves = state == "running" and self._stage in ("unpacking", "packages", "torch")
            done = min(self._done, self._nbytes)
            speed = self._speed.bytes_per_s() if moves else 0.0
            return Progress(
                state,
                self._stage,
                done,
                self._nbytes,
                speed,
                seconds_left(self._nbytes - done, speed),
                self._doing,
                trouble,
            )


def nbytes_in(folders: Iterable[Path]) -> int:
    """Of all files in `folders`. One that has several names (hard links) counts once, but on Windows, where
    telling would take opening each file."""
    sizes: dict[object, int] = {}
    waiting = [str(folder) for folder in folders]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        found = entry.stat(follow_symlinks=False)
                        file = (found.st_dev, found.st_ino) if found.st_ino else entry.path
                        sizes[file] = found.st_size
        except OSError:  # what is being written may move away
            continue
    return sum(sizes.values())
