"""Ends what blocks a thread, after a time limit or a stop."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from app.tools.fault import ToolFault
from engine.hub import Stop

TICK_S = 0.05


@contextmanager
def ended_after(seconds: float, stop: Stop, end: Callable[[], object]) -> Iterator[None]:
    """While the block runs, call `end` from another thread once the time is over or a stop is asked for.

    Raises Stopped after a stop, and ToolFault after the time limit.
    """
    over, late = threading.Event(), threading.Event()
    deadline = time.monotonic() + seconds

    def watch() -> None:
        while not over.wait(TICK_S):
            if stop.asked or time.monotonic() > deadline:
                late.set()
                end()
                return

    watcher = threading.Thread(target=watch, name="tool time limit", daemon=True)
    watcher.start()
    try:
        yield
    except ToolFault:
        if not late.is_set():
            raise
    finally:
        over.set()
        watcher.join()
    if late.is_set():
        stop.check()
        raise ToolFault(
            f"The tool server did not answer within {seconds:.0f} s, and was ended.", "Try it again later."
        )
