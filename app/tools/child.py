"""A tool server as a child process: one JSON message per line over its standard input and output.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
"""

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Generator, Iterable
from contextlib import suppress
from pathlib import Path

import psutil

from app.tools.bounds import MESSAGE_NBYTES
from app.tools.fault import ToolFault
from app.tools.scrubbed import environment
from app.tools.watch import ended_after
from engine.hub import Stop

LEAVE_S = 1.0  # for a server to end by itself


class ChildCarrier:
    """Carries messages to a child process and back. The process has the user's rights, but a scrubbed
    environment; it is ended with all processes that it has started."""

    def __init__(self, command: str, variables: Iterable[str] = ()) -> None:
        """Start the process. Raises ToolFault."""
        argv = words(command)
        program = shutil.which(argv[0])
        if program is None:
            raise ToolFault(f"The program {argv[0]} was not found.", "Check the command in the settings.")
        try:
            self._process = subprocess.Popen(
                [program, *argv[1:]],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment(variables),
                cwd=Path.home(),
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError as error:
            raise ToolFault(
                f"The program {argv[0]} cannot be started: {error.strerror}.",
                "Check the command in the settings.",
            ) from error

    @property
    def is_open(self) -> bool:
        return self._process.poll() is None

    def exchange(self, message: bytes, stop: Stop, seconds: float) -> Generator[bytes, None, None]:
        """Send a message, and yield those that come until the caller has seen enough. Raises ToolFault, also
        if the process ends; Stopped."""
        assert self._process.stdout is not None
        with ended_after(seconds, stop, self.end):
            self.send(message)
            while True:
                line = self._process.stdout.readline(MESSAGE_NBYTES + 1)
                if not line.endswith(b"\n"):
                    self.end()
                    raise _too_long() if len(line) > MESSAGE_NBYTES else _ended()
                if line.strip():
                    yield line

    def send(self, message: bytes) -> None:
        """Send a message that gets no answer. Raises ToolFault if the process has ended."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(message + b"\n")
            self._process.stdin.flush()
        except (OSError, ValueError) as error:
            raise _ended() from error

    def close(self) -> None:
        """Close the process's input, and end it if it does not end by itself."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(OSError, ValueError):
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(LEAVE_S)
        self.end()
        self._process.wait()
        self._process.stdout.close()

    def end(self) -> None:
        """Kill the process and those that it has started. May be called from any thread."""
        if os.name == "posix":
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            return
        with suppress(psutil.Error):
            for child in psutil.Process(self._process.pid).children(recursive=True):
                with suppress(psutil.Error):
                    child.kill()
        self._process.kill()


def words(command: str) -> list[str]:
    """Return the words of a command line. Raises ToolFault if there are none or a quotation does not end."""
    try:
        found = shlex.split(command, posix=os.name == "posix")
    except ValueError as error:
        raise ToolFault("A quotation in the command does not end.", "Check the command.") from error
    if not found or "\0" in command:
        raise ToolFault("There is no command.", "Give the program and its arguments.")
    return found if os.name == "posix" else [word.strip('"') for word in found]


def _ended() -> ToolFault:
    return ToolFault("The tool server has ended.", "Check its command in the settings.")


def _too_long() -> ToolFault:
    return ToolFault(
        f"The tool server sent a message of more than {MESSAGE_NBYTES >> 20} MiB, and was ended.",
        "Ask for less, or check which server this is.",
    )
