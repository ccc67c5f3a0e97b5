"""The engine process as its clients hold it: one that they have started, or one that they have joined."""

import contextlib
import os
import secrets
import subprocess
import sys
import threading
import time
from multiprocessing import AuthenticationError, Pipe
from multiprocessing.connection import Client, Connection, answer_challenge, deliver_challenge
from pathlib import Path
from typing import IO

import platformdirs

from engine.errors import EngineGone, refused_by_system
from engine.files import make_private_folder, open_private
from engine.launch import interpreter
from engine.protocol.rendezvous import Announced, Rendezvous

SHUTDOWN_TIMEOUT_S = 5.0
JOIN_TIMEOUT_S = 5.0  # for an engine to prove that it has the key, and to greet
LOG_NBYTES = 1 << 20

_left_running: "list[subprocess.Popen[bytes]]" = []  # engines that others use; kept to be reaped later


def log_path() -> Path:
    return Path(platformdirs.user_log_dir("specexec-desktop", appauthor=False)) / "engine.log"


def open_log() -> IO[bytes]:
    """Open the engine's log to append to it; empty it first if it is larger than LOG_NBYTES. If it cannot be
    written, what the engine says is discarded."""
    path = log_path()
    try:
        make_private_folder(path.parent)
        return open_private(path, is_appended=not path.exists() or path.stat().st_size <= LOG_NBYTES)
    except OSError:
        return Path(os.devnull).open("wb")


class StartedEngine:
    """An engine process that this client has started.

    The process inherits its end of the connection, so that no other user's program can come first. On
    Windows, which inherits none, it prints an address and reads a one-time key from its standard input. That
    pipe stays open as a lifeline: it closes when the client ends in any way.
    """

    def __init__(
        self, process: "subprocess.Popen[bytes]", key: str, inherited: Connection | None = None
    ) -> None:
        """process: the engine process, which prints a line when it listens and reads `key` from its standard
        input. key: in hexadecimal. inherited: the connection whose other end the process has inherited;
        None: the line that it prints is the address to connect to.
        """
        self._process = process
        self._key = key
        self._inherited = inherited

    @staticmethod
    def start(rendezvous: Rendezvous | None = None) -> "StartedEngine":
        """Start the engine process. rendezvous: where others can join it; None: nobody can.

        Raises EngineGone if it cannot be started.
        """
        inherits = sys.platform != "win32"
        try:
            ours, theirs = Pipe()
        except OSError as error:
            raise _cannot_start(error) from error
        handles = (theirs.fileno(),) if inherits else ()
        path = str(rendezvous.path) if rendezvous else ""
        try:
            with open_log() as log:
                process = subprocess.Popen(
                    interpreter.command("engine.serving.process", path, *map(str, handles)),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    cwd=Path(__file__).parents[2],
                    pass_fds=handles,
                    creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
                    start_new_session=rendezvous is not None and inherits,  # it may outlive this terminal
                )
        except OSError as error:
            ours.close()
            raise _cannot_start(error) from error
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        if not inherits:
            ours.close()
        return StartedEngine(process, secrets.token_hex(32), ours if inherits else None)

    @property
    def pid(self) -> int:
        return self._process.pid

    def connect(self) -> Connection:
        """Wait until the process listens, and return the connection to it. Raises EngineGone."""
        assert self._process.stdin
        assert self._process.stdout
        began = time.monotonic()
        try:
            self._process.stdin.write(self._key.encode() + b"\n")
            self._process.stdin.flush()
            address = self._process.stdout.readline().decode().strip()  # empty if the child died
            if self._inherited is None:
                return Client(address, authkey=bytes.fromhex(self._key))
            if not address:
                raise EOFError
            return self._inherited
        except (OSError, EOFError, ValueError, AuthenticationError) as error:
            raise EngineGone(
                f"The engine process did not start{self._reason(time.monotonic() - began)}.",
                f"Read the log at {log_path()}, then try again.",
            ) from error

    def _reason(self, seconds: float) -> str:
        """Return what is known of a process that did not start, for the error message."""
        try:
            return f" (exit status {self._process.wait(1)} after {seconds:.0f} s)"
        except subprocess.TimeoutExpired:
            return f" (no word from it for {seconds:.0f} s)"

    def exit_code(self) -> int | None:
        """Wait briefly for the process to end, and return its exit code; None if it goes on."""
        try:
            return self._process.wait(SHUTDOWN_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        self._process.kill()

    def release(self, *, goes_on: bool) -> None:
        """Close all pipes. goes_on: whether the process still has clients; otherwise wait briefly for it to
        end by itself, then kill it."""
        assert self._process.stdin
        assert self._process.stdout
        if self._inherited is not None:
            self._inherited.close()
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        if goes_on:
            _left_running.append(self._process)
        elif self.exit_code() is None:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        _left_running[:] = [process for process in _left_running if process.poll() is None]


class JoinedEngine:
    """An engine process that another client has started."""

    def __init__(self, pid: int, connection: Connection) -> None:
        self.pid = pid
        self._connection = connection

    @staticmethod
    def join(announced: Announced) -> "JoinedEngine | None":
        """Connect to an engine, and let both sides prove that they have the key. Return None if it does not
        greet within a few seconds, for instance because it has ended."""
        opened: list[Connection] = []

        def prove() -> None:
            with contextlib.suppress(OSError, EOFError, ValueError, AuthenticationError):
                key = bytes.fromhex(announced.key)
                connection = Client(announced.address)
                answer_challenge(connection, key)
                deliver_challenge(connection, key)
                opened.append(connection)

        thread = threading.Thread(target=prove, name="joining", daemon=True)
        thread.start()
        thread.join(JOIN_TIMEOUT_S)
        if not opened or not opened[0].poll(JOIN_TIMEOUT_S):
            return None
        return JoinedEngine(announced.pid, opened[0])

    def connect(self) -> Connection:
        return self._connection

    def exit_code(self) -> int | None:
        """Return None: only the client that started the process learns it."""
        return None

    def kill(self) -> None:
        """Do nothing: the process is another client's."""

    def release(self, *, goes_on: bool) -> None:
        """Close the connection; the process is another client's."""
        self._connection.close()


def _cannot_start(error: OSError) -> EngineGone:
    refused = refused_by_system(error)
    hint = refused.hint if refused else "Free some memory or disk space."
    return EngineGone(f"The engine process cannot be started: {error}.", hint)
