"""Chat templates are programs that come with a model: they are run in a process of their own, which ends when
one takes too long or too much memory.

`template_process` is what runs there.
"""

import atexit
import contextlib
import json
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

from engine import launching

MEMORY_LIMIT = 400 << 20  # bytes of the process, of which Python and transformers take 60 MiB
LENGTH_LIMIT = 1 << 20  # characters of a template; real ones have 50,000 at most
WATCH_S = 0.005  # so often its memory is looked at; it grows by some 10 MB meanwhile at most


class Refused(Exception):
    """Attributes: `by_template`: with its own raise_exception(...), and not because it does not run."""

    def __init__(self, reason: str, by_template: bool) -> None:
        super().__init__(reason)
        self.by_template = by_template


class Templates:
    """The process that renders, started when first needed, and again where it had to be ended. Safe to use
    from several threads."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Start the process, if there is none; does not wait for it, and leaves it to `render` to say why it
        cannot be started."""
        with self._lock, contextlib.suppress(OSError):
            self._started()

    def render(
        self,
        template: str,
        messages: Sequence[Mapping[str, str]],
        add_generation_prompt: bool,
        tokens: Mapping[str, str],
    ) -> str:
        """Raises `Refused`."""
        if len(template) > LENGTH_LIMIT:
            raise Refused("it is too long", by_template=False)
        request = json.dumps([template, messages, add_generation_prompt, dict(tokens)])
        with self._lock:
            try:
                process = self._started()
            except OSError as error:
                raise Refused(
                    f"its process cannot be started: {error.strerror}", by_template=False
                ) from error
            over = threading.Event()
            watch = threading.Thread(target=_watch, args=(process, over), name="template memory", daemon=True)
            watch.start()
            try:
                answer = _ask(process, request.encode())
            finally:
                over.set()
                watch.join()
        if not answer.endswith(b"\n"):
            raise Refused("it takes too much time or memory, or its process was ended", by_template=False)
        found: dict[str, Any] = json.loads(answer)
        if "text" not in found:
            raise Refused(found["reason"], found["by_template"])
        text: str = found["text"]
        return text

    def close(self) -> None:
        """End the process, if there is one."""
        with self._lock:
            if self._process is not None:
                self._process.kill()
                self._process.communicate()
            self._process = None

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                launching.command("engine.tokenizer.template_process"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=Path(__file__).parents[2],
                start_new_session=True,  # Ctrl+C is for the program that asks
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        return self._process


def _ask(process: "subprocess.Popen[bytes]", request: bytes) -> bytes:
    """One line for one line; b"" where the process has ended."""
    assert process.stdin is not None
    assert process.stdout is not None
    answer = b""
    try:
        process.stdin.write(request + b"\n")
        process.stdin.flush()
        answer = process.stdout.readline()
    except OSError:  # it ended before it had read everything
        return b""
    finally:
        # Also where the wait was interrupted: a late answer would be taken for the next.
        if not answer.endswith(b"\n"):
            process.kill()
            process.communicate()
    return answer


def _watch(process: "subprocess.Popen[bytes]", over: threading.Event) -> None:
    """Kill the process where it takes too much memory before `over`."""
    try:
        seen = psutil.Process(process.pid)
        while not over.wait(WATCH_S):
            if seen.memory_info().rss > MEMORY_LIMIT:
                process.kill()
                return
    except psutil.Error:  # it has ended
        return


templates = Templates()
atexit.register(templates.close)
