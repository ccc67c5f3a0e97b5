"""A virtual display."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def display() -> Iterator[str]:
    """Start Xvfb and yield the value of DISPLAY."""
    command = ["Xvfb", "-displayfd", "1", "-ac", "-screen", "0", "1280x800x24"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        yield f":{server.stdout.readline().strip()}"
    finally:
        server.terminate()
        server.communicate()
