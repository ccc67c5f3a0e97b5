"""Waiting for threads that a test leaves behind."""

import threading
import time


def join(thread: threading.Thread, timeout_s: float) -> None:
    """Wait for a thread to end, also for one that is only just starting, which Python refuses to join."""
    end = time.monotonic() + timeout_s
    while thread.ident is None and time.monotonic() < end:
        time.sleep(0.001)
    thread.join(timeout_s)
