"""Turn conversations into text with the model's chat template. Special tokens that a message spells out stay
plain text.

A chat template is a program that comes with the model. Therefore it runs in a separate process,
`template_process`, which ends when the template takes too much time or memory.
"""

import atexit
import contextlib
import json
import re
import secrets
import subprocess
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from types import MappingProxyType
from typing import Any

from engine.errors import BadOption, SystemLimit, UnsupportedModel, refused_by_system
from engine.launch import interpreter, limits

MEMORY_LIMIT = 400 << 20  # bytes that the process may take; Python and jinja2 alone take 45 MiB
LENGTH_LIMIT = 1 << 20  # characters of a template; real ones have 50,000 at most
READY = b"ready\n"  # the first line of the process
RESERVED = frozenset({
    "self", "messages", "conversation", "conversations", "tools", "documents", "chat_template",
    "add_generation_prompt", "continue_final_message", "return_assistant_tokens_mask",
})  # fmt: skip

Plain = str | int | float | bool | None | Sequence["Plain"] | Mapping[str, "Plain"]  # what JSON can hold


def render(
    template: str,
    messages: Sequence[Mapping[str, Plain]],
    add_generation_prompt: bool,
    tokens: Mapping[str, str],
    tools: Sequence[Plain] = (),
    options: Mapping[str, Plain] = MappingProxyType({}),
) -> str:
    """Return the text that `template` makes of `messages`. tokens: its bos_token, eos_token, ...; tools: the
    functions that the answer may call; options: further variables of the template.

    Raises `BadOption` if the template refuses the messages, or an option cannot be set; `UnsupportedModel` if
    the template is too long, fails, or exceeds its limits of time and memory.
    """
    if len(template) > LENGTH_LIMIT:
        raise broken("it is too long")
    if taken := sorted(RESERVED.union(tokens).intersection(options)):
        raise BadOption(f"The chat template's variable '{taken[0]}' cannot be set.", "Leave it out.")
    answer = templates.ask(
        [
            template,
            [dict(message) for message in messages],
            add_generation_prompt,
            dict(tokens),
            list(tools),
            dict(options),
        ]
    )
    if "text" in answer:
        text: str = answer["text"]
        return text
    if answer["by_template"]:
        raise BadOption(
            f"The model's chat template refuses this conversation: {answer['reason'][:200]}.",
            "Change the messages, for example by leaving out the system message.",
        )
    raise broken(answer["reason"])


def broken(reason: str) -> UnsupportedModel:
    return UnsupportedModel(
        f"The model's chat template cannot be used: {reason[:200]}.", "Choose another file of this model."
    )


def not_started() -> SystemLimit:
    return SystemLimit(
        "The process that applies the model's chat template cannot start.",
        "Free some memory, or raise the limits on memory (ulimit -v) and processes (ulimit -u).",
    )


class Templates:
    """The process that renders templates. It is started when it is needed, and again if it has ended.
    Thread-safe."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._ready = False  # whether the process has said that it has started
        self._lock = threading.Lock()

    def start(self) -> None:
        """Start the process unless it is running, without waiting until it is ready. If it cannot be started,
        the next `ask` reports that."""
        with self._lock, contextlib.suppress(OSError):
            self._started()

    def ask(self, request: list[Any]) -> dict[str, Any]:
        """Send `request` to `template_process` and return its answer.

        Raises `UnsupportedModel` if there is none; `SystemLimit` or `OutOfMemory` if the process cannot
        start.
        """
        line = json.dumps(request).encode()
        with self._lock:
            try:
                process = self._started()
            except OSError as error:
                raise refused_by_system(error) or not_started() from error
            self._ready = self._ready or _says_ready(process)
            if not self._ready:
                raise not_started()
            over = threading.Event()
            watch = threading.Thread(
                target=limits.kill_beyond, args=(process.pid, MEMORY_LIMIT, over), name="template memory"
            )
            watch.daemon = True
            watch.start()
            try:
                answer = _exchange(process, line)
            finally:
                over.set()
                watch.join()
        if not answer.endswith(b"\n"):
            if process.returncode == 0:  # it has ended by itself, because its timer could not be started
                raise not_started()
            raise broken("it takes too much time or memory, or its process was killed")
        decoded: dict[str, Any] = json.loads(answer)
        return decoded

    def close(self) -> None:
        """Kill the process if it is running."""
        with self._lock:
            if self._process is not None:
                self._process.kill()
                self._process.communicate()
            self._process = None

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._process is None or self._process.poll() is not None:
            self._ready = False
            self._process = subprocess.Popen(
                interpreter.command("engine.tokenizer.template_process"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # the answers say what is wrong
                cwd=Path(__file__).parents[2],
                start_new_session=True,  # Ctrl+C must reach only the engine
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        return self._process


def _says_ready(process: "subprocess.Popen[bytes]") -> bool:
    """Wait until the process has started, and return whether it has. If not, it is ended."""
    assert process.stdout is not None
    if process.stdout.readline() == READY:
        return True
    process.kill()
    process.communicate()
    return False


def _exchange(process: "subprocess.Popen[bytes]", request: bytes) -> bytes:
    """Send `request` as one line and return the line that answers it. If the process has ended, the answer is
    incomplete or empty."""
    assert process.stdin is not None
    assert process.stdout is not None
    answer = b""
    try:
        process.stdin.write(request + b"\n")
        process.stdin.flush()
        answer = process.stdout.readline()
    except OSError:  # the process ended before it had read the whole request
        return b""
    finally:
        # The process is also killed when the wait is interrupted: otherwise its late answer would be taken
        # for the answer to the next request.
        if not answer.endswith(b"\n"):
            process.kill()
            process.communicate()
    return answer


templates = Templates()
atexit.register(templates.close)


class Guard:
    """Protects special tokens spelled out in messages, so that they are tokenized as plain text.

    Each such token is replaced by a mark before the template is applied, and restored in the rendered text,
    so the template may trim, repeat or drop messages. Nearly all texts have no such token and stay unchanged.
    """

    def __init__(self, special: Iterable[str]) -> None:
        # Longest first, so that <|im_end|> is not mistaken for a shorter token inside it.
        self._special = sorted(filter(None, special), key=len, reverse=True)
        self._mark = f"\ufdd0{secrets.token_hex(8)}:%s\ufdd1"  # cannot occur in a text
        self._taken: list[str] = []

    def take_out(self, text: str, shown: Set[str] = frozenset()) -> str:
        """Return `text` with a mark in place of each special token, except those in `shown`."""
        patterns = [re.escape(token) for token in self._special if token in text and token not in shown]
        return re.sub("|".join(patterns), self._take, text) if patterns else text

    def take_out_all(self, value: Plain) -> Plain:
        """Return `value` with `take_out` applied to every text in it."""
        match value:
            case str():
                return self.take_out(value)
            case Mapping():
                return {self.take_out(key): self.take_out_all(part) for key, part in value.items()}
            case list() | tuple():
                return [self.take_out_all(part) for part in value]
            case _:
                return value

    def _take(self, match: re.Match[str]) -> str:
        self._taken.append(match[0])
        return self._mark % (len(self._taken) - 1)

    def pieces(self, rendered: str) -> Iterator[tuple[str, bool]]:
        """Yield the rendered text in pieces, each with a flag: True if the piece is a restored token, which
        must be read as plain text.

        Raises `UnsupportedModel` if the text has a mark that `take_out` has not made.
        """
        parts = re.split(self._mark % "([0-9]{1,9})", rendered)
        for index, part in enumerate(parts):
            if index % 2:
                if int(part) >= len(self._taken):
                    raise broken("it changes the text of messages")
                yield self._taken[int(part)], True
            elif part:
                yield part, False
