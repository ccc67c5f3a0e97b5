"""The client's end of the connection: start the engine process, send requests, receive events, end it.

Knows neither torch nor Qt. The engine's end is `engine.serving.process`. The engine process inherits its end
of the connection, so that no other user's program can come first. On Windows, which inherits none, it prints
an address and reads a one-time key from its standard input. That pipe stays open as a lifeline: it closes
when the client ends in any way, and then the engine process ends too.
"""

import contextlib
import os
import secrets
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from multiprocessing import AuthenticationError, Pipe
from multiprocessing.connection import Client, Connection, wait
from pathlib import Path
from typing import IO

import platformdirs
from msgspec import structs

from engine.errors import EngineGone, refused_by_system
from engine.files import make_private_folder, open_private
from engine.launch import interpreter
from engine.protocol import messages

# Until it connects, the engine process imports few libraries, which takes well under a second unless the disk
# is busy.
START_TIMEOUT_S = 60.0
SHUTDOWN_TIMEOUT_S = 5.0
LOG_NBYTES = 1 << 20


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


class EngineConnection:
    """The connection to one engine process, from the start of the process to its end.

    `post` and `close` may be called from any thread and never wait. `events` is used by one thread, which
    sleeps until there is an event to receive or a request to send, or until the connection ends.
    """

    def __init__(
        self, process: "subprocess.Popen[bytes]", key: str, inherited: Connection | None = None
    ) -> None:
        """process: the engine process, which prints a line when it listens and reads `key` from its standard
        input. key: in hexadecimal. inherited: the connection whose other end the process has inherited;
        None: the line that it prints is the address to connect to.
        """
        self._inherited = inherited
        self._process = process
        self._key = key
        self._outbox: deque[messages.Request] = deque()
        self._wake_reader, self._wake_writer = Pipe(duplex=False)
        self._lock = threading.Lock()
        self._closing = False
        self._timers: list[threading.Timer] = []

    @property
    def pid(self) -> int:
        return self._process.pid

    @staticmethod
    def start() -> "EngineConnection":
        """Start the engine process, to which `events` then connects.

        Raises EngineGone if it cannot be started; RuntimeMissing if the engine is not set up.
        """
        inherits = sys.platform != "win32"
        try:
            ours, theirs = Pipe()
        except OSError as error:
            raise _cannot_start(error) from error
        handles = (theirs.fileno(),) if inherits else ()
        try:
            with open_log() as log:
                process = subprocess.Popen(
                    interpreter.command("engine.serving.process", *map(str, handles)),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    cwd=Path(__file__).parents[2],
                    pass_fds=handles,
                    creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
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
        return EngineConnection(process, secrets.token_hex(32), ours if inherits else None)

    def post(self, request: messages.Request) -> None:
        """Queue a request and wake the thread in `events`, which sends it. Does nothing after `close`."""
        with self._lock:
            if self._closing:
                return
            self._outbox.append(request)
            self._wake()

    def close(self) -> None:
        """Ask the engine to end. The thread in `events` waits until it has ended, and then returns."""
        with self._lock:
            if self._closing:
                return
            self._closing = True
            self._outbox.append(messages.Shutdown(id=0))
            # Make the engine end in bounded time, even if it is still starting or reads no requests.
            try:
                self._limit(SHUTDOWN_TIMEOUT_S)
            except RuntimeError:  # the system starts no thread for the timer
                self._process.kill()
            self._wake()

    def events(self) -> Iterator[messages.Event]:
        """Connect, then yield events until `close` is called or the connection is lost.

        If it is lost, the last event is EngineLost. Raises EngineGone if the engine does not start.
        """
        try:
            with self._connect() as connection:
                yield from self._listen(connection)
        except (OSError, EOFError):
            if not self._closing:
                yield self._lost()
        finally:
            self._end_process()

    def _connect(self) -> Connection:
        limit, began = self._limit(START_TIMEOUT_S), time.monotonic()
        assert self._process.stdin
        assert self._process.stdout
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
            if self._closing:
                raise EOFError from error
            raise EngineGone(
                f"The engine process did not start{self._reason(time.monotonic() - began)}.",
                f"Read the log at {log_path()}, then try again.",
            ) from error
        finally:
            limit.cancel()

    def _reason(self, seconds: float) -> str:
        """Return what is known of a process that did not start, for the error message."""
        try:
            return f" (exit status {self._process.wait(1)} after {seconds:.0f} s)"
        except subprocess.TimeoutExpired:
            return f" (no word from it for {seconds:.0f} s)"

    def _listen(self, connection: Connection) -> Iterator[messages.Event]:
        while True:
            for ready in wait([connection, self._wake_reader]):
                if ready is connection:
                    yield messages.decode_event(connection.recv_bytes())
                    continue
                self._wake_reader.recv_bytes()
                self._send_outbox(connection)
                if self._closing:
                    return

    def _limit(self, seconds: float) -> threading.Timer:
        """Return a started timer that kills the engine process after `seconds`, unless it is cancelled."""
        timer = threading.Timer(seconds, self._process.kill)
        timer.daemon = True
        timer.start()
        self._timers.append(timer)
        return timer

    def _send_outbox(self, connection: Connection) -> None:
        while True:
            with self._lock:
                if not self._outbox:
                    return
                request = self._outbox.popleft()
            connection.send_bytes(messages.encode(request))

    def _wake(self) -> None:
        """Wake the thread in `events`.

        Call while holding the lock, and only if `_closing` was not set when the lock was taken:
        `_end_process` sets it before it closes the pipe.
        """
        self._wake_writer.send_bytes(b"\0")

    def _lost(self) -> messages.EngineLost:
        try:
            exit_code = self._process.wait(SHUTDOWN_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            exit_code = None
        lost = messages.EngineLost(
            exit_code=exit_code,
            message="The engine process ended unexpectedly.",
            hint="Restart the engine; the chat is kept. If it happens again, read the log.",
            log_path=str(log_path()),
        )
        if not lost.killed:
            return lost
        return structs.replace(
            lost,
            message="The system ended the engine, most likely because memory ran out.",
            hint="Restart the engine: it will use less memory. The chat is kept.",
        )

    def _end_process(self) -> None:
        """Wait briefly for the engine process to end by itself, then kill it.

        Leaves no process and no open pipe behind.
        """
        with self._lock:
            self._closing = True
        assert self._process.stdin
        assert self._process.stdout
        if self._inherited is not None:
            self._inherited.close()
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(SHUTDOWN_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for timer in self._timers:
            timer.cancel()
            timer.join()
        self._process.stdout.close()
        self._wake_reader.close()
        self._wake_writer.close()


def _cannot_start(error: OSError) -> EngineGone:
    refused = refused_by_system(error)
    hint = refused.hint if refused else "Free some memory or disk space."
    return EngineGone(f"The engine process cannot be started: {error}.", hint)
