"""The memory that a child process may take while it handles something that a stranger has made."""

import threading

import psutil

WATCH_S = 0.005  # seconds between two looks, in which a process grows by some 10 MB at most


def kill_beyond(pid: int, nbytes: int, over: threading.Event) -> bool:
    """Kill a process if it takes more memory than `nbytes` before `over` is set. Return whether it did.

    Blocks until then, or until the process has ended.
    """
    try:
        watched = psutil.Process(pid)
        while not over.wait(WATCH_S):
            if watched.memory_info().rss > nbytes:
                watched.kill()
                return True
    except psutil.Error:  # the process has ended
        pass
    return False
