"""`specexec bench turns`: how soon an answer begins when two conversations take turns, with the prompt cache
and without it, and when a conversation has the engine for itself."""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from statistics import median

import msgspec
from msgspec import structs

from engine import protocol
from engine.bench.options import PARAGRAPH, add_repeats_option, say
from engine.errors import BadOption, Interrupted
from engine.serving.service import EngineService
from engine.terminal import Commands, add_command, add_model_options, cancelled_by_ctrl_c, load_request

FOLLOWING = "What else does the text say that a reader could miss? Answer in other words than before."


class TimedTurn(msgspec.Struct, frozen=True):
    """The same turn of several conversations. The lists hold one entry for each of them."""

    clients: int  # conversations that take turns
    has_cache: bool  # whether the engine had a prompt cache
    number: int  # of the turn, from 1
    prompt_tokens: list[int]
    reused_tokens: list[int]  # of these, the tokens that were not read anew
    first_token_s: list[float]


def add(kinds: Commands) -> None:
    parser = add_command(
        kinds,
        "turns",
        run,
        "time how soon answers begin when two conversations take turns",
        "Holds conversations about a long text: one alone, two in turns, and two in turns without the prompt "
        "cache. Prints how soon each answer began, and checks that the answers are the same.",
    )
    add_model_options(parser)
    parser.add_argument(
        "--turns", type=int, default=4, metavar="N", help="number of turns of each conversation (default: 4)"
    )
    parser.add_argument(
        "--tokens",
        type=int,
        default=64,
        metavar="N",
        help="maximum number of tokens per answer (default: 64)",
    )
    parser.add_argument(
        "--paragraphs",
        type=int,
        default=5,
        metavar="N",
        help="length of the text, in paragraphs of about 110 tokens (default: 5)",
    )
    add_repeats_option(parser, 2, "number of times that each pair of conversations is held")


def run(parsed: argparse.Namespace) -> int:
    counts = (parsed.turns, parsed.tokens, parsed.paragraphs, parsed.repeats)
    if min(counts) < 1:
        raise BadOption("The numbers of bench turns must be at least 1.", "Omit them to use the defaults.")
    request = load_request(parsed)
    if request.prompt_cache == 0:
        raise BadOption("This benchmark compares with the prompt cache.", "Omit --prompt-cache 0.")
    turns: list[TimedTurn] = []
    with cancelled_by_ctrl_c() as cancelled:
        for clients, has_cache in ((1, True), (2, True), (2, False)):
            engine = EngineService()
            cache = request.prompt_cache if has_cache else 0.0
            engine.load(structs.replace(request, prompt_cache=cache), lambda event: None, cancelled)
            turns += hold(engine, clients, has_cache, *counts, cancelled)
            engine.unload()
            say(f"{_name(turns[-1])} done")
    if parsed.json:
        print(json.dumps({"turns": msgspec.to_builtins(turns)}))
    else:
        print("\n".join(table(turns)))
    return 0


def hold(
    engine: EngineService,
    clients: int,
    has_cache: bool,
    turns: int,
    tokens: int,
    paragraphs: int,
    repeats: int,
    cancelled: Callable[[], bool],
) -> list[TimedTurn]:
    """Hold `repeats` conversations of each client, the clients in turns. Raises Interrupted if `cancelled`
    returns true, and the errors from answering."""
    found = [TimedTurn(clients, has_cache, number, [], [], []) for number in range(1, turns + 1)]
    for repeat in range(repeats):
        chats: list[list[protocol.Message]] = [[] for client in range(clients)]
        for turn in found:
            for client, messages in enumerate(chats):
                name = f"{repeat + 1}-{client + 1}"
                text = opening(name, paragraphs) if turn.number == 1 else FOLLOWING
                messages.append(protocol.Message("user", text))
                options = protocol.Options(max_new_tokens=tokens, stop_loops=False)
                chat = protocol.Chat(id=0, messages=messages, options=options, conversation=name)
                answer = engine.answer(chat, lambda event: None, cancelled)
                if answer.stop_reason == "cancelled":
                    raise Interrupted("The benchmark was interrupted.", "Run the same command again.")
                messages.append(protocol.Message("assistant", answer.text))
                turn.prompt_tokens.append(answer.prompt_tokens)
                turn.reused_tokens.append(answer.reused_tokens)
                turn.first_token_s.append(answer.time_to_first_token_s or 0.0)
    return found


def opening(name: str, paragraphs: int) -> str:
    """Return the first question of a conversation; no two names have a beginning in common."""
    text = "\n\n".join(f"{name}, page {page}. {PARAGRAPH}" for page in range(1, paragraphs + 1))
    return f"{text}\n\nSummarise this in two sentences."


def table(turns: Sequence[TimedTurn]) -> Iterator[str]:
    """Yield the lines of a Markdown table; seconds are medians, with the fastest and the slowest."""
    yield "| conversations | turn | prompt, tokens | not read anew | first token, s |"
    yield "|---|---:|---:|---:|---:|"
    for turn in turns:
        seconds = turn.first_token_s
        spread = f"{median(seconds):.2f} ({min(seconds):.2f}–{max(seconds):.2f})"
        sizes = f"{median(turn.prompt_tokens):.0f} | {median(turn.reused_tokens):.0f}"
        yield f"| {_name(turn)} | {turn.number} | {sizes} | {spread} |"


def _name(turn: TimedTurn) -> str:
    if turn.clients == 1:
        return "one alone"
    return "two in turns" if turn.has_cache else "two in turns, no prompt cache"
