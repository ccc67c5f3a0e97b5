"""Processes of this program, as the system sees them."""

import sys

import psutil


def engine_of(process: psutil.Process) -> psutil.Process:
    """Return the engine that a process has started."""
    (engine,) = [child for child in process.children() if "engine.serving.process" in child.cmdline()]
    return engine


def handles(process: psutil.Process) -> int:
    return process.num_fds() if hasattr(process, "num_fds") else process.num_handles()


def own_nbytes(process: psutil.Process) -> int:
    """Return the bytes of memory that a process has written and shares with no other.

    Elsewhere than on Linux, pages of libraries count as well. They must not count here: as soon as another
    process maps the same files, they are no longer this one's alone. (80 MiB in the engine: a growth, or a
    loss, that has nothing to do with it.)
    """
    if sys.platform != "linux":
        return process.memory_full_info().uss
    return sum(part.private_dirty + part.swap for part in process.memory_maps())
