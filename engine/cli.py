"""The command line. `specexec` alone opens the window; `specexec chat` answers in the terminal.

Answers go to stdout, everything else to stderr. Exit status: 0 ok, 1 failed (with --json: {"error": ...}), 2
bad usage.
"""

import argparse
import contextlib
import io
import json
import os
import runpy
import signal
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from engine import protocol
from engine.errors import BadOption, Interrupted, SpecExecError
from engine.service import Engine

T = TypeVar("T")


def main() -> None:
    prepare_streams()
    sys.exit(run(sys.argv[1:]))


def prepare_streams() -> None:
    """Text of any language, whatever the system's encoding; a closed stream swallows what it gets."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - for the whole life
        elif isinstance(stream, io.TextIOWrapper):
            # A terminal knows its own encoding; files and pipes are UTF-8 everywhere.
            stream.reconfigure(encoding=stream.encoding if stream.isatty() else "utf-8", errors="replace")


def run(arguments: list[str]) -> int:
    """Run one command; returns the exit status."""
    parsed = parser().parse_args(arguments)
    if parsed.command is None:
        runpy.run_module("app", run_name="__main__")
        return 0
    try:
        try:
            status: int = parsed.run(parsed)
        except SpecExecError as error:
            status = fail(error, parsed.json)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return 1  # the second Ctrl-C: at once
    except OSError as error:
        # Our output cannot be written: its reader has left (`specexec chat … | head`) or the disk is full.
        # Nothing more may be written there, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            print(f"The answer cannot be written: {error.strerror}.", file=sys.stderr)
        return 1


def fail(error: SpecExecError, as_json: bool, **more: Any) -> int:
    if as_json:
        print(json.dumps({**more, "error": error.as_dict()}, ensure_ascii=False))
    print(f"{error.message} {error.hint}".strip(), file=sys.stderr)
    return 1


def parser() -> argparse.ArgumentParser:
    root = argparse.ArgumentParser(
        prog="specexec",
        description="Chat with a language model larger than your graphics card. Alone: opens the window.",
    )
    root.add_argument("--version", action="version", version=f"specexec {version('specexec-desktop')}")
    commands = root.add_subparsers(dest="command", metavar="COMMAND")
    add_chat(commands)
    return root


def add_chat(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    chat = commands.add_parser(
        "chat", help="one answer in the terminal; without PROMPT an interactive chat", allow_abbrev=False
    )
    chat.set_defaults(run=run_chat)
    chat.add_argument("prompt", nargs="?", metavar="PROMPT")
    chat.add_argument("--json", action="store_true", help="print one JSON object instead of the text")
    chat.add_argument("--system", metavar="TEXT", help="system prompt")
    models = chat.add_argument_group("models")
    models.add_argument("--target", metavar="ID|PATH", help="default: the embedded model")
    models.add_argument("--draft", metavar="ID|PATH|none", default="auto")
    models.add_argument("--dtype", choices=["auto", "float32", "bfloat16", "float16"], default="auto")
    models.add_argument("--device", choices=["auto", "cuda", "cpu"], default="auto")
    models.add_argument("--context", type=int, metavar="N", help="most tokens of prompt and answer together")
    drafting = chat.add_argument_group("drafting")
    drafting.add_argument(
        "--drafter", metavar="NAME", default="auto", help="auto, specexec, recycling or none"
    )
    drafting.add_argument("--budget", type=number_or_auto, metavar="N|auto", help="most nodes in a tree")
    drafting.add_argument("--beams", type=int, metavar="N", help="nodes the draft expands per round")
    drafting.add_argument("--depth", type=int, metavar="N", help="deepest node")
    sampling = chat.add_argument_group("sampling")
    sampling.add_argument(
        "--temperature", type=float, metavar="T", default=0.0, help="0: always the likeliest token"
    )
    sampling.add_argument("--top-p", type=float, metavar="P", default=1.0)
    sampling.add_argument("--top-k", type=int, metavar="K", default=0)
    sampling.add_argument("--min-p", type=float, metavar="P", default=0.0)
    sampling.add_argument("--repetition-penalty", type=float, metavar="R", default=1.0)
    sampling.add_argument("--seed", type=int, metavar="S", help="default: a fresh one, reported")
    ending = chat.add_argument_group("ending")
    ending.add_argument("--max-new-tokens", type=int, metavar="N")
    ending.add_argument(
        "--stop", action="append", default=[], metavar="TEXT", help="end before this text; repeatable"
    )


def number_or_auto(text: str) -> int | None:
    return None if text == "auto" else int(text)


def validated(kind: type[T], values: dict[str, Any]) -> T:
    """`values` as a protocol message. Raises BadOption that names what is out of range."""
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        name = str(error).rpartition("$.")[2].rstrip("`").replace("_", "-")
        reason = str(error).partition(" - ")[0].removeprefix("Expected ").replace("`", "")
        raise BadOption(
            f"--{name} is out of range: expected {reason}.", "See specexec chat --help."
        ) from None


def run_chat(parsed: argparse.Namespace) -> int:
    chosen = vars(parsed)
    options = validated(protocol.Options, {key: chosen[key] for key in protocol.Options.__struct_fields__})
    load = {key: chosen[key] for key in ("target", "draft", "dtype", "device", "context", "drafter")}
    request = validated(protocol.Load, {"type": "Load", "id": 0, **load})
    messages = [protocol.Message("system", parsed.system)] if parsed.system else []
    if parsed.prompt is None and parsed.json:
        raise BadOption("--json needs a PROMPT.", "Give the question on the command line.")
    if parsed.prompt is not None and not parsed.prompt.strip():
        raise BadOption("The prompt is empty.", "Type a question between the quotes.")
    engine = Engine()
    with cancelled_by_ctrl_c() as cancelled, loading_line() as show:
        engine.load(request, show, cancelled)
        if cancelled():
            raise Interrupted("Loading was ended.", "Start again when you need an answer.")
    if parsed.prompt is None:
        return converse(engine, messages, options)
    messages.append(protocol.Message("user", parsed.prompt))
    answer = answer_once(engine, messages, options, show=not parsed.json)
    fields: dict[str, Any] = {
        key: value for key, value in msgspec.to_builtins(answer).items() if key not in ("type", "request")
    }
    if answer.stop_reason == "cancelled":
        return fail(
            Interrupted("The answer was ended before it was complete.", "What had been said is kept."),
            parsed.json,
            **fields,
        )
    if parsed.json:
        print(json.dumps(fields, ensure_ascii=False))
    return 0


def converse(engine: Engine, messages: list[protocol.Message], options: protocol.Options) -> int:
    """Questions from the terminal until end of file. Ctrl-C ends an answer, or, at the prompt, the chat."""
    if sys.stdin.isatty():
        print("Enter sends, Ctrl-C stops an answer, Ctrl-D ends the chat.", file=sys.stderr)
    while True:
        try:
            if sys.stdin.isatty():
                print("> ", end="", file=sys.stderr, flush=True)
            line = sys.stdin.readline()
        except KeyboardInterrupt:
            return 0
        if not line:
            return 0
        if not line.strip():
            continue
        question = protocol.Message("user", line.rstrip("\n"))
        try:
            answer = answer_once(engine, [*messages, question], options, show=True)
        except SpecExecError as error:
            fail(error, as_json=False)
            continue
        messages += [question, protocol.Message("assistant", answer.text)]


def answer_once(
    engine: Engine, messages: list[protocol.Message], options: protocol.Options, show: bool
) -> protocol.Answer:
    def emit(event: protocol.Event) -> None:
        if show and isinstance(event, protocol.TextDelta):
            print(event.text, end="", flush=True)

    with cancelled_by_ctrl_c() as cancelled:
        answer = engine.answer(protocol.Chat(id=0, messages=messages, options=options), emit, cancelled)
    if show:
        print()
        print(summary(answer), file=sys.stderr)
    return answer


def summary(answer: protocol.Answer) -> str:
    """One line: what it took."""
    parts = [f"{answer.tokens} tokens"]
    if answer.tokens_per_second is not None:
        parts.append(f"{answer.tokens_per_second:.1f} tokens/s")
    if answer.tokens_per_pass is not None:
        parts.append(f"{answer.tokens_per_pass:.2f} tokens per pass")
    if answer.time_to_first_token_s is not None:
        parts.append(f"first token after {answer.time_to_first_token_s:.2f} s")
    return " · ".join([*parts, answer.drafter, f"seed {answer.seed}", answer.stop_reason.replace("_", " ")])


@contextlib.contextmanager
def loading_line() -> Iterator[Callable[[protocol.Event], None]]:
    """One line on a terminal, rewritten in place and gone at the end; nothing elsewhere."""

    def show(event: protocol.Event) -> None:
        if isinstance(event, protocol.LoadProgress) and sys.stderr.isatty():
            share = f" {100 * event.done // event.total} %" if event.total else ""
            print(f"\r\x1b[KLoading {event.stage}{share}", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@contextlib.contextmanager
def cancelled_by_ctrl_c() -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C asks for an end in good order (the function then says True), a second one insists."""
    asked = False

    def ask(signum: int, frame: object) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True

    previous = signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, previous)


if __name__ == "__main__":
    main()
