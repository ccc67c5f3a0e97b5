"""A disk that is slower on purpose, to measure streaming as it would be on another machine."""

import argparse
import threading
import time
from typing import TYPE_CHECKING

from engine.errors import BadOption

if TYPE_CHECKING:
    from engine.streaming import Streamer
    from engine.streaming.disk import Readable


def add_disk_speed_option(parser: "argparse._ActionsContainer") -> None:
    """Add --disk-speed, which `slow_down` takes."""
    parser.add_argument(
        "--disk-speed",
        type=float,
        metavar="GB/s",
        help="read streamed weights no faster than a disk of this speed, in 10^9 bytes per second (default: "
        "as fast as this disk is)",
    )


def checked_speed(parsed: argparse.Namespace) -> float | None:
    """Return --disk-speed. Raises BadOption unless it is a speed."""
    speed: float | None = parsed.disk_speed
    if speed is not None and not 0 < speed < float("inf"):
        raise BadOption("--disk-speed must be greater than 0.", "Example: --disk-speed 0.5.")
    return speed


def slow_down(streamer: "Streamer | None", gb_per_s: float | None) -> None:
    """Let a streamer read no faster than `gb_per_s`, in 10^9 bytes per second; None: as fast as it can."""
    if streamer and gb_per_s is not None:
        pace = ReadingPace(gb_per_s * 1e9)
        streamer.replace_files(lambda file: SlowerFile(file, pace))


class ReadingPace:
    """The pace of a disk, which all files on it share."""

    def __init__(self, bytes_per_s: float) -> None:
        self._bytes_per_s = bytes_per_s
        self._lock = threading.Lock()
        self._free = 0.0  # the time at which the disk has done all that was asked of it so far

    def read(self, nbytes: int) -> float:
        """Ask for a read; return the time, as time.perf_counter gives it, at which it is done."""
        with self._lock:
            self._free = max(self._free, time.perf_counter()) + nbytes / self._bytes_per_s
            return self._free


class SlowerFile:
    """A stand-in for a file, on a disk with a pace of its own."""

    def __init__(self, file: "Readable", pace: ReadingPace) -> None:
        self._file = file
        self._pace = pace

    def read(self, into: memoryview, offset: int, needed: int) -> None:
        done = self._pace.read(len(into))
        self._file.read(into, offset, needed)
        time.sleep(max(0.0, done - time.perf_counter()))

    def close(self) -> None:
        self._file.close()
