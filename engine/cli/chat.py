"""`specexec chat`: one answer in the terminal, or an interactive chat."""

import argparse
import json
import secrets
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec

from engine import protocol, trace
from engine.cli.common import (
    Commands,
    add_model_options,
    cancelled_by_ctrl_c,
    fail,
    load_request,
    progress_line,
    validated,
)
from engine.errors import BadOption, Interrupted, SpecExecError
from engine.service import Engine


def add(commands: Commands) -> None:
    chat = commands.add_parser(
        "chat", help="one answer in the terminal; without PROMPT an interactive chat", allow_abbrev=False
    )
    chat.set_defaults(run=run)
    chat.add_argument("prompt", nargs="?", metavar="PROMPT")
    chat.add_argument("--json", action="store_true", help="print one JSON object instead of the text")
    chat.add_argument(
        "--trace", type=Path, metavar="FILE.jsonl", help="record the run; specexec trace shows it"
    )
    chat.add_argument("--system", metavar="TEXT", help="system prompt")
    add_model_options(chat)
    drafting = chat.add_argument_group("drafting")
    drafting.add_argument(
        "--drafter",
        metavar="NAME",
        default="auto",
        help="auto, none, specexec, specinfer, sps, pld, lookahead, recycling, eagle, medusa, merged, or "
        "some of them: specexec+pld",
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
    sampling.add_argument("--presence-penalty", type=float, metavar="P", default=0.0)
    sampling.add_argument("--frequency-penalty", type=float, metavar="P", default=0.0)
    sampling.add_argument(
        "--logit-bias", type=bias, action=Merged, default={}, metavar="ID:B", help="repeatable"
    )
    sampling.add_argument(
        "--log-probs", type=int, metavar="N", help="of each token and the N likeliest, in --json"
    )
    sampling.add_argument("--seed", type=int, metavar="S", help="default: a fresh one, reported")
    ending = chat.add_argument_group("ending")
    ending.add_argument("--max-new-tokens", type=int, metavar="N")
    ending.add_argument(
        "--stop", action="append", default=[], metavar="TEXT", help="end before this text; repeatable"
    )


def bias(text: str) -> dict[int, float]:
    """“ID:B” as {id: bias}."""
    token, _, value = text.partition(":")
    return {int(token): float(value)}


class Merged(argparse.Action):
    """Repeated options, each a dict, as one dict."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option: Any = None) -> None:
        setattr(namespace, self.dest, {**getattr(namespace, self.dest), **values})


def number_or_auto(text: str) -> int | None:
    return None if text == "auto" else int(text)


def run(parsed: argparse.Namespace) -> int:
    chosen = vars(parsed)
    fields = {key: chosen[key] for key in protocol.Options.__struct_fields__ if key in chosen}
    options = validated(protocol.Options, fields)
    request = load_request(parsed)
    messages = [protocol.Message("system", parsed.system)] if parsed.system else []
    if parsed.prompt is None and parsed.json:
        raise BadOption("--json needs a PROMPT.", "Give the question on the command line.")
    if parsed.prompt is None and parsed.trace:
        raise BadOption("--trace needs a PROMPT.", "Give the question on the command line.")
    if parsed.prompt is not None and not parsed.prompt.strip():
        raise BadOption("The prompt is empty.", "Type a question between the quotes.")
    engine = Engine()
    with cancelled_by_ctrl_c() as cancelled, progress_line("Loading") as show:

        def emit(event: protocol.Event) -> None:
            if isinstance(event, protocol.LoadProgress):
                show(event.done, event.total)

        loaded = engine.load(request, emit, cancelled)
        if cancelled():
            raise Interrupted("Loading was ended.", "Start again when you need an answer.")
    if parsed.prompt is None:
        return converse(engine, messages, options)
    messages.append(protocol.Message("user", parsed.prompt))
    if parsed.trace:
        seed = secrets.randbits(63) if options.seed is None else options.seed
        options = msgspec.structs.replace(options, watch=True, seed=seed)
        recording = trace.Recorder(parsed.trace, trace.header(loaded, options, parsed.prompt))
    with recording if parsed.trace else nullcontext() as recorder:
        answer = answer_once(engine, messages, options, not parsed.json, recorder)
    said: dict[str, Any] = {
        key: value for key, value in msgspec.to_builtins(answer).items() if key not in ("type", "request")
    }
    if answer.stop_reason == "cancelled":
        return fail(
            Interrupted("The answer was ended before it was complete.", "What had been said is kept."),
            parsed.json,
            **said,
        )
    if parsed.json:
        print(json.dumps(said, ensure_ascii=False))
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
    engine: Engine,
    messages: list[protocol.Message],
    options: protocol.Options,
    show: bool,
    recorder: trace.Recorder | None = None,
) -> protocol.Answer:
    started = time.perf_counter()

    def emit(event: protocol.Event) -> None:
        if recorder:
            recorder.add(time.perf_counter() - started, event)
        if show and isinstance(event, protocol.TextDelta):
            print(event.text, end="", flush=True)

    with cancelled_by_ctrl_c() as cancelled:
        answer = engine.answer(protocol.Chat(id=0, messages=messages, options=options), emit, cancelled)
    if recorder:
        recorder.add(time.perf_counter() - started, answer)
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
    parts.append(f"memory {answer.memory.peak / 2**30:.2f} GiB")
    return " · ".join([*parts, answer.drafter, f"seed {answer.seed}", answer.stop_reason.replace("_", " ")])
