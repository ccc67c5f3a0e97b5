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
from engine.cli.answer_options import (
    add_constraint_options,
    add_drafting_options,
    add_ending_options,
    add_sampling_options,
    add_thinking_options,
    constraint_of,
    template_input,
)
from engine.cli.elsewhere import Answerer
from engine.cli.own_draft import about_own_draft
from engine.cli.remarks import about_answer, about_load
from engine.constraint.check import check
from engine.errors import BadOption, Interrupted, SpecExecError
from engine.protocol import trace
from engine.protocol.thoughts import SHOWN, ThoughtSplitter, divided
from engine.serving.service import EngineService
from engine.terminal import (
    Commands,
    ShowProgress,
    add_command,
    add_model_options,
    cancelled_by_ctrl_c,
    fail,
    load_request,
    progress_line,
    say,
    say_piece,
    validated,
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
    add_drafting_options(parser)
    add_sampling_options(parser)
    add_constraint_options(parser)
    add_thinking_options(parser)
    add_ending_options(parser)


def show_load(progress: protocol.LoadProgress, show: ShowProgress) -> None:
    """Show how far loading has come: a share of the bytes, that kernels are compiled, or how many."""
    if progress.stage == "compiling":
        show(0, 0, f"Compiling kernels for your card: {progress.done} of {progress.total}")
    elif progress.stage == "kernels":
        show(progress.done, progress.total, "Preparing the model, which takes longer the first time")
    else:
        show(progress.done, progress.total)


def run(parsed: argparse.Namespace) -> int:
    values = vars(parsed)
    fields = {key: values.get(key) for key in protocol.Options.__struct_fields__}
    fields = {key: value for key, value in fields.items() if value is not None}
    fields["shown"] = list(SHOWN)
    if parsed.thinking == "off":
        fields["thinking_budget"] = 0  # for templates that cannot turn it off
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
    with cancelled_by_ctrl_c(ends_pass=True) as cancelled, progress_line("Loading") as show:

        def emit(event: protocol.Event) -> None:
            if isinstance(event, protocol.LoadProgress):
                show_load(event, show)
            elif isinstance(event, protocol.DiskSilence):
                say(about_silence(event.seconds), to_stderr=True)

        loaded = engine.load(request, emit, cancelled)
        if cancelled():
            raise Interrupted("Loading was interrupted.", "Run the same command again to restart it.")
    if loaded.place:
        say(f"The text of this chat is sent to {loaded.place}.", to_stderr=True)
    say(*about_load(loaded), to_stderr=True)
    if loaded.own_draft is not None:
        say(about_own_draft(loaded.own_draft), to_stderr=True)
    template = template_input(loaded, parsed)
    if parsed.prompt is None:
        return converse(engine, messages, options, template)
    messages.append(protocol.Message("user", parsed.prompt))
    if parsed.trace:
        bits = 31 if parsed.engine else 63  # what every server takes
        seed = secrets.randbits(bits) if options.seed is None else options.seed
        options = msgspec.structs.replace(options, telemetry=True, seed=seed)
        recording = trace.Recorder(parsed.trace, trace.header(loaded, options, parsed.prompt))
    with recording if parsed.trace else nullcontext() as recorder:
        try:
            answer = answer_once(engine, messages, options, template, not parsed.json, recorder)
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


def converse(
    engine: Answerer,
    messages: list[protocol.Message],
    options: protocol.Options,
    template: protocol.TemplateInput,
) -> int:
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
            answer = answer_once(engine, [*messages, question], options, template, show=True)
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
    template: protocol.TemplateInput,
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
        elif isinstance(event, protocol.DiskSilence) and show:
            say(about_silence(event.seconds), to_stderr=True)

    with cancelled_by_ctrl_c(ends_pass=True) as cancelled:
        try:
            chat = protocol.Chat(id=0, messages=messages, options=options, template=template)
            answer = engine.answer(chat, emit, cancelled)
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
        say(*about_answer(answer), to_stderr=True)
    return answer


def about_silence(seconds: float) -> str:
    """Return a sentence about a disk that has not answered for so long; 0: it is waited for no more."""
    if not seconds:
        return "The disk is not waited for any more."
    return (
        f"The disk with the model has not answered for {seconds:.0f} s. The program goes on when it "
        "does; Ctrl-C ends the wait."
    )


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
    if answer.experts is not None:
        parts.append(about_experts(answer.experts, answer.tokens))
    if answer.memory.peak:
        parts.append(f"memory {answer.memory.peak / 2**30:.2f} GiB")
    if answer.drafter:
        parts.append(answer.drafter)
    if answer.seed is not None:
        parts.append(f"seed {answer.seed}")
    return " · ".join([*parts, answer.stop_reason.replace("_", " ")])


def about_experts(experts: protocol.ExpertFigures, tokens: int) -> str:
    """Return what the cache of a mixture's experts did for an answer of so many tokens, as in “experts: 94 %
    in memory, 2 % on their way, 12.0 MiB read a token”."""
    chosen = max(1, experts.hits + experts.late + experts.misses + experts.near)
    brought = experts.bytes_read / 2**20 / max(1, tokens)
    where, how = ("on the card", "copied") if experts.tier == "vram" else ("in memory", "read")
    parts = [f"{experts.hits / chosen:.0%} {where}", f"{brought:.1f} MiB {how} a token"]
    if experts.late:
        parts.insert(1, f"{experts.late / chosen:.0%} on their way")
    if experts.near:
        parts.append(f"{experts.near / chosen:.0%} by the processor")
    return f"experts: {', '.join(parts)}".replace("%", " %")
