"""Processes of this program, as the system sees them."""

import psutil


def engine_of(process: psutil.Process) -> psutil.Process:
    """Return the engine that a process has started."""
    (engine,) = [child for child in process.children() if "engine.serving.process" in child.cmdline()]
    return engine


def handles(process: psutil.Process) -> int:
    return process.num_fds() if hasattr(process, "num_fds") else process.num_handles()
