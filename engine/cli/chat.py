"""`specexec chat`: a single answer in the terminal, or an interactive chat."""

import argparse
import json
import secrets
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec

from engine import protocol
from engine.cli import elsewhere
from engine.cli.elsewhere import Answerer
from engine.cli.own_draft import about_own_draft
from engine.constraint.check import check
from engine.errors import BadOption, Interrupted, SpecExecError
from engine.protocol import trace
from engine.protocol.thoughts import SHOWN, ThoughtSplitter, divided
from engine.serving.service import EngineService
from engine.terminal import (
    Commands,
    add_command,
    add_model_options,
    add_truncation_options,
    cancelled_by_ctrl_c,
    fail,
    load_request,
    number_or_auto,
    progress_line,
    say,
    say_piece,
    validated,
)

REPEATS = (
    "The answer repeats itself and was stopped. With --allow-loops it goes on; --dry-multiplier 0.8 makes "
    "repetitions less likely."
)
OTHERS = " by the server, perhaps for others too"


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "chat",
        run,
        "answer a prompt, or chat interactively",
        "With PROMPT, prints one answer; without it, reads one question per line until the end of the input. "
        "Figures of each answer go to stderr.",
        as_json="print one JSON object with the answer and its figures; requires PROMPT",
    )
    parser.add_argument(
        "prompt", nargs="?", metavar="PROMPT", help="question to answer (default: chat interactively)"
    )
    parser.add_argument("--system", metavar="TEXT", help="system prompt (default: none)")
    parser.add_argument(
        "--trace",
        type=Path,
        metavar="FILE",
        help="record the run in this file for specexec trace; requires PROMPT (default: not recorded)",
    )
    parser.add_argument(
        "--engine",
        metavar="NAME",
        default="",
        help="ask an engine elsewhere, added with specexec engines add; --target is then one of its models "
        "(default: this machine)",
    )
    add_model_options(parser)
    drafting = parser.add_argument_group("drafting")
    drafting.add_argument(
        "--drafter",
        metavar="NAME",
        default="auto",
        help="method that proposes tokens: none, specexec, specinfer, sps, pld, lookahead, recycling, eagle, "
        "medusa, p-eagle, dflash, assistant, merged, or several joined by +, such as specexec+pld (default: "
        "auto, specexec with a draft model, or else merged)",
    )
    drafting.add_argument(
        "--budget",
        type=number_or_auto,
        metavar="N|auto",
        help="maximum number of nodes of a token tree (default: auto, tuned to the measured speed)",
    )
    drafting.add_argument(
        "--beams",
        type=int,
        metavar="N",
        help="number of nodes that the draft expands per round (default: chosen by the drafter)",
    )
    drafting.add_argument(
        "--depth",
        type=int,
        metavar="N",
        help="maximum depth of a token tree, in tokens (default: chosen by the drafter)",
    )
    drafting.add_argument(
        "--overlap",
        choices=("auto", "on", "off"),
        default="auto",
        help="whether a draft model goes on drafting while the target waits for its streamed weights; the "
        "text stays the same (default: auto, on the processor where measuring shows that it pays, and never "
        "on a graphics card)",
    )
    sampling = parser.add_argument_group("sampling")
    sampling.add_argument(
        "--temperature",
        type=float,
        metavar="T",
        default=0.0,
        help="randomness of the answer; 0: always the most probable token (default: 0)",
    )
    add_truncation_options(sampling)
    sampling.add_argument(
        "--repetition-penalty",
        type=float,
        metavar="R",
        default=1.0,
        help="divide the logits of tokens that have occurred in the chat by R, or multiply negative ones "
        "(default: 1, no penalty)",
    )
    sampling.add_argument(
        "--presence-penalty",
        type=float,
        metavar="P",
        default=0.0,
        help="subtract P from the logits of tokens that have occurred in the chat (default: 0)",
    )
    sampling.add_argument(
        "--frequency-penalty",
        type=float,
        metavar="P",
        default=0.0,
        help="subtract P from a token's logit for each of its occurrences in the chat (default: 0)",
    )
    sampling.add_argument(
        "--dry-multiplier",
        type=float,
        metavar="M",
        default=0.0,
        help="DRY: where a token would continue a repetition of n tokens, subtract M times B to the power of "
        "n minus N from its logit (default: 0, off; usual: 0.8)",
    )
    sampling.add_argument(
        "--dry-base", type=float, metavar="B", default=1.75, help="base B of DRY (default: 1.75)"
    )
    sampling.add_argument(
        "--dry-allowed-length",
        type=int,
        metavar="N",
        default=2,
        help="shortest repetition that DRY counts, in tokens (default: 2)",
    )
    sampling.add_argument(
        "--dry-range",
        type=int,
        metavar="N",
        default=0,
        help="search the last N tokens for repetitions (default: 0, the whole chat)",
    )
    sampling.add_argument(
        "--dry-breaker",
        action="append",
        dest="dry_breakers",
        metavar="TEXT",
        help="end a repetition at tokens that contain this text; repeatable; an empty TEXT alone: at none "
        "(default: line break, colon, quotation mark and asterisk)",
    )
    sampling.add_argument(
        "--xtc-probability",
        type=float,
        metavar="P",
        default=0.0,
        help="XTC: with probability P, exclude all tokens that reach the threshold, except the least "
        "probable of them; no effect at temperature 0 (default: 0, off; usual: 0.5)",
    )
    sampling.add_argument(
        "--xtc-threshold",
        type=float,
        metavar="P",
        default=0.1,
        help="probability from which on XTC excludes a token, at most 0.5 (default: 0.1)",
    )
    sampling.add_argument(
        "--logit-bias",
        type=bias,
        action=Merged,
        default={},
        metavar="ID:B",
        help="add B to the logit of the token with this ID; repeatable (default: none)",
    )
    sampling.add_argument(
        "--log-probs",
        type=int,
        metavar="N",
        help="with --json, report the log-probability of each token and of the N most probable ones "
        "(default: none)",
    )
    sampling.add_argument(
        "--seed", type=int, metavar="S", help="seed of the random numbers (default: a new one, printed)"
    )
    add_constraint_options(parser)
    ending = parser.add_argument_group("end of the answer")
    ending.add_argument(
        "--max-new-tokens",
        type=int,
        metavar="N",
        help="maximum number of tokens of an answer (default: until the model ends it or the context is "
        "full)",
    )
    ending.add_argument(
        "--stop",
        action="append",
        default=[],
        metavar="TEXT",
        help="end the answer before this text; repeatable (default: none)",
    )
    ending.add_argument(
        "--allow-loops",
        action="store_false",
        dest="stop_loops",
        help="do not stop an answer that repeats itself over and over (default: it is stopped)",
    )


def add_constraint_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "constraints", "What the answer must be; at most one of the first five. A thought before it is free."
    )
    group.add_argument("--json-object", action="store_true", help="any JSON object (default: any text)")
    group.add_argument(
        "--json-schema",
        metavar="FILE|TEXT",
        help="JSON that satisfies this schema, from a file or given as JSON itself (default: any text)",
    )
    group.add_argument(
        "--regex", metavar="TEXT", help="a text that matches this regular expression (default: any text)"
    )
    group.add_argument(
        "--grammar",
        type=Path,
        metavar="FILE",
        help="a text of the grammar in this file, in Lark or GBNF (default: any text)",
    )
    group.add_argument(
        "--choice",
        action="append",
        default=[],
        metavar="TEXT",
        help="one of the texts that are given this way; repeatable (default: any text)",
    )
    group.add_argument(
        "--thinking-budget",
        type=int,
        metavar="N",
        help="maximum number of tokens of the model's thought, which is then closed (default: no limit)",
    )


def constraint_of(parsed: argparse.Namespace) -> protocol.Constraint | None:
    """Return what the options say about the answer. Raises BadOption."""
    found = []
    if parsed.json_object:
        found.append(protocol.Constraint(kind="json_object"))
    if parsed.json_schema is not None:
        text = parsed.json_schema
        schema = text if text.lstrip().startswith("{") else contents(Path(text))
        found.append(protocol.Constraint(kind="json_schema", text=schema))
    if parsed.regex is not None:
        found.append(protocol.Constraint(kind="regex", text=parsed.regex))
    if parsed.grammar is not None:
        found.append(protocol.Constraint(kind="grammar", text=contents(parsed.grammar)))
    if parsed.choice:
        found.append(protocol.Constraint(kind="choice", choices=tuple(parsed.choice)))
    if len(found) > 1:
        raise BadOption("Several options say what the answer must be.", "Leave out all but one of them.")
    return found[0] if found else None


def contents(file: Path) -> str:
    """Return the text of a schema or grammar. Raises BadOption if the file cannot be read."""
    try:
        return file.read_text("utf-8")
    except (OSError, ValueError) as error:
        raise BadOption(f"{file} cannot be read: {error}.", "Name a text file in UTF-8.") from error


def bias(text: str) -> dict[int, float]:
    """Parse “ID:B” into {id: bias}."""
    token, _, value = text.partition(":")
    return {int(token): float(value)}


class Merged(argparse.Action):
    """An action that merges the dicts of a repeated option into one."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option: Any = None) -> None:
        setattr(namespace, self.dest, {**getattr(namespace, self.dest), **values})


def run(parsed: argparse.Namespace) -> int:
    values = vars(parsed)
    fields = {key: values.get(key) for key in protocol.Options.__struct_fields__}
    fields = {key: value for key, value in fields.items() if value is not None}
    fields["shown"] = list(SHOWN)
    options = validated(protocol.Options, fields | {"constraint": constraint_of(parsed)})
    if options.constraint:
        check(options.constraint)  # before anything is loaded
    request = load_request(parsed)
    if parsed.engine:
        elsewhere.expect_its_options(parsed)
    messages = [protocol.Message("system", parsed.system)] if parsed.system else []
    if parsed.prompt is None and parsed.json:
        raise BadOption("--json requires a PROMPT.", "Give the question on the command line.")
    if parsed.prompt is None and parsed.trace:
        raise BadOption("--trace requires a PROMPT.", "Give the question on the command line.")
    if parsed.prompt is not None and not parsed.prompt.strip():
        raise BadOption("The prompt is empty.", "Put a question between the quotes.")
    engine: Answerer = elsewhere.join(parsed.engine) if parsed.engine else EngineService()
    with cancelled_by_ctrl_c() as cancelled, progress_line("Loading") as show:

        def emit(event: protocol.Event) -> None:
            if isinstance(event, protocol.LoadProgress):
                show(event.done, event.total)

        loaded = engine.load(request, emit, cancelled)
        if cancelled():
            raise Interrupted("Loading was interrupted.", "Run the same command again to restart it.")
    if loaded.place:
        say(f"The text of this chat is sent to {loaded.place}.", to_stderr=True)
    for text in filter(None, (loaded.warning, loaded.note)):
        say(text, to_stderr=True)
    if loaded.own_draft is not None:
        say(about_own_draft(loaded.own_draft), to_stderr=True)
    if parsed.prompt is None:
        return converse(engine, messages, options)
    messages.append(protocol.Message("user", parsed.prompt))
    if parsed.trace:
        bits = 31 if parsed.engine else 63  # what every server takes
        seed = secrets.randbits(bits) if options.seed is None else options.seed
        options = msgspec.structs.replace(options, telemetry=True, seed=seed)
        recording = trace.Recorder(parsed.trace, trace.header(loaded, options, parsed.prompt))
    with recording if parsed.trace else nullcontext() as recorder:
        try:
            answer = answer_once(engine, messages, options, not parsed.json, recorder)
        except AnswerCutShort as cut:
            return fail(cut.error, parsed.json, text=cut.text)
    result: dict[str, Any] = {
        key: value for key, value in msgspec.to_builtins(answer).items() if key not in ("type", "request")
    }
    if answer.stop_reason == "cancelled":
        return fail(
            Interrupted("The answer was interrupted.", "Its text so far was printed."),
            parsed.json,
            **result,
        )
    if parsed.json:
        say(json.dumps(result, ensure_ascii=False))
    return 0


def converse(engine: Answerer, messages: list[protocol.Message], options: protocol.Options) -> int:
    """Answer questions from stdin until its end. Ctrl-C stops an answer; at the prompt, it ends the chat."""
    if sys.stdin.isatty():
        say("Enter sends, Ctrl-C stops an answer, Ctrl-D ends the chat.", to_stderr=True)
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
        except AnswerCutShort as cut:
            fail(cut.error, as_json=False)
            continue
        thought, text = divided(answer.text)
        messages += [question, protocol.Message("assistant", text, thought=thought)]


class AnswerCutShort(Exception):
    """An answer failed. `error`: why; `text`: what it had said until then."""

    def __init__(self, error: SpecExecError, text: str) -> None:
        super().__init__(error.message)
        self.error, self.text = error, text


def answer_once(
    engine: Answerer,
    messages: list[protocol.Message],
    options: protocol.Options,
    show: bool,
    recorder: trace.Recorder | None = None,
) -> protocol.Answer:
    """Answer the last message. show: print the text while it is generated, its thought to stderr, and a
    summary at the end.

    Raises AnswerCutShort; the text so far was printed if `show` is set, and its line is ended.
    """
    started = time.perf_counter()
    said: list[str] = []
    splitter = ThoughtSplitter()

    def emit(event: protocol.Event) -> None:
        nonlocal splitter
        if recorder:
            recorder.add(time.perf_counter() - started, event)
        if isinstance(event, protocol.TextDelta):
            said.append(event.text)
            if show:
                say_parts(*splitter.add(event.text))
        elif isinstance(event, protocol.AnswerBegun) and not said:
            splitter = ThoughtSplitter(event.thought)

    with cancelled_by_ctrl_c() as cancelled:
        try:
            answer = engine.answer(protocol.Chat(id=0, messages=messages, options=options), emit, cancelled)
        except SpecExecError as error:
            if show and said:
                say("")
            raise AnswerCutShort(error, "".join(said)) from error
    if recorder:
        recorder.add(time.perf_counter() - started, answer)
    if show:
        say_parts(*splitter.finish())
        say("")
        say(summary(answer), to_stderr=True)
        if answer.note:
            say(answer.note, to_stderr=True)
        if answer.stop_reason == "repetition":
            say(REPEATS, to_stderr=True)
    return answer


def say_parts(thought: str, text: str) -> None:
    """Print a piece of a thought to stderr, and one of the answer proper to stdout."""
    if thought:
        say_piece(thought, to_stderr=True)
    if text:
        say_piece(text)


def summary(answer: protocol.Answer) -> str:
    """Return one line with the figures of an answer."""
    parts = [f"{answer.tokens} tokens"]
    if answer.tokens_per_second is not None:
        parts.append(f"{answer.tokens_per_second:.1f} tokens/s")
    if answer.tokens_per_pass is not None:
        parts.append(f"{answer.tokens_per_pass:.2f} tokens per pass")
    if answer.time_to_first_token_s is not None:
        parts.append(f"first token after {answer.time_to_first_token_s:.2f} s")
    if answer.speculation is not None:
        told = answer.speculation
        parts.append(f"{told.accepted} of {told.drafted} drafted tokens accepted{OTHERS * told.with_others}")
    if answer.memory.peak:
        parts.append(f"memory {answer.memory.peak / 2**30:.2f} GiB")
    if answer.drafter:
        parts.append(answer.drafter)
    if answer.seed is not None:
        parts.append(f"seed {answer.seed}")
    return " · ".join([*parts, answer.stop_reason.replace("_", " ")])
