"""`specexec bench parting`: measures how soon two greedy answers begin to differ if they are computed in
different ways: in float32 or in bfloat16, by plain decoding or with trees.

Every way chooses the most probable token, but its logits differ from the others' in their last bits. After
its first difference a text continues differently, so only the first difference counts.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from engine import protocol
from engine.bench.estimates import Curve, Estimate, check_plot, draw, mean
from engine.bench.options import Prompt, add_plot_option, add_prompt_options, prompts_of, say
from engine.errors import Interrupted
from engine.serving.service import EngineService
from engine.terminal import Commands, add_command, add_model_options, cancelled_by_ctrl_c, load_request

DTYPES = ("float32", "bfloat16")


def add(kinds: Commands) -> None:
    parser = add_command(
        kinds,
        "parting",
        run,
        "measure how soon bfloat16 and float32 answers part",
        "Answers every prompt greedily in float32 and in bfloat16, by plain decoding and by a drafter, and "
        "prints the share of prompts whose answers are still equal after 8, 16, 32, … tokens. --dtype has "
        "no effect.",
    )
    add_model_options(parser)
    add_prompt_options(parser)
    parser.add_argument(
        "--drafter",
        metavar="NAME",
        default="auto",
        help="drafter to compare with plain decoding, as in specexec chat (default: auto)",
    )
    add_plot_option(parser, "the share against tokens")


def run(parsed: argparse.Namespace) -> int:
    prompts = prompts_of(parsed)
    check_plot(parsed.plot)
    with cancelled_by_ctrl_c() as cancelled:
        partings = measure(load_request(parsed), parsed.drafter, prompts, parsed.tokens, say, cancelled)
    if parsed.json:
        print(json.dumps({"partings": msgspec.to_builtins(partings)}))
    else:
        print("\n".join(table(partings)))
    if parsed.plot:
        draw(parsed.plot, curves(partings), x="tokens", y="share of answers still equal", doubling=True)
    return 0


@dataclass(frozen=True, slots=True)
class GreedyText:
    """A greedy answer. `margins`: for each token, how far its log-probability is above the second best
    one."""

    tokens: list[int]
    margins: list[float]


class Parting(msgspec.Struct, frozen=True):
    """Where the texts computed in two ways begin to differ.

    `first`, `second`: names of the two ways. `tokens`: maximum number of tokens of a text. `partings`: for
    each prompt, the number of equal tokens before the first difference; None if the texts are equal.
    `margins`: the first way's margin at each of these differences. `equal` maps a number of tokens to the
    share of prompts whose texts are still equal after that many tokens.
    """

    first: str
    second: str
    tokens: int
    partings: list[int | None]
    margins: list[float]
    equal: dict[int, Estimate]


def measure(
    load: protocol.Load,
    drafter: str,
    prompts: Sequence[Prompt],
    tokens: int,
    say: Callable[[str], None],
    cancelled: Callable[[], bool],
) -> list[Parting]:
    """Compare plain decoding with `drafter` in each of DTYPES, and the two DTYPES in plain decoding. Raises
    Interrupted if `cancelled` returns true, and the errors from loading and answering."""
    texts: dict[str, list[GreedyText]] = {}
    engine = EngineService()
    try:
        for dtype in DTYPES:
            engine.load(msgspec.structs.replace(load, dtype=dtype), lambda event: None, cancelled)
            assert engine.session is not None
            name = engine.session.drafter(drafter).name
            for way in ("none", name):
                say(f"{way}, {dtype}")
                options = protocol.Options(
                    drafter=way, max_new_tokens=tokens, log_probs=2, temperature=0, stop_loops=False
                )
                texts[f"{way}, {dtype}"] = [_text(engine, prompt, options, cancelled) for prompt in prompts]
    finally:
        engine.unload()
    plain, drafted = [[f"{way}, {dtype}" for dtype in DTYPES] for way in ("none", name)]
    pairs = [(plain[0], drafted[0]), (plain[1], drafted[1]), (plain[0], plain[1])]
    return [compare(first, second, texts[first], texts[second], tokens) for first, second in pairs]


def compare(
    first: str, second: str, ours: Sequence[GreedyText], theirs: Sequence[GreedyText], tokens: int
) -> Parting:
    """Compare the texts that two ways computed, of at most `tokens` tokens each.

    ours, theirs: the texts of the ways `first` and `second`, for the same prompts.
    """
    partings = [parting_of(a.tokens, b.tokens) for a, b in zip(ours, theirs, strict=True)]
    margins = [
        text.margins[min(at, len(text.margins) - 1)]
        for text, at in zip(ours, partings, strict=True)
        if at is not None
    ]
    equal = {
        place: mean([float(at is None or at >= place) for at in partings]) for place in _doubling(tokens)
    }
    return Parting(first, second, tokens, partings, margins, equal)


def table(partings: Sequence[Parting]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    places = list(partings[0].equal)
    yield f"| | {' | '.join(f'equal after {place}' for place in places)} | largest margin at a difference |"
    yield "|---|" + "---:|" * (len(places) + 1)
    for parting in partings:
        shares = [f"{100 * parting.equal[place].value:.0f} %" for place in places]
        margin = f"{max(parting.margins):.2g}" if parting.margins else "–"
        yield f"| {parting.first} / {parting.second} | {' | '.join(shares)} | {margin} |"


def curves(partings: Sequence[Parting]) -> list[Curve]:
    return [
        Curve(f"{each.first} / {each.second}", {float(place): share for place, share in each.equal.items()})
        for each in partings
    ]


def _text(
    engine: EngineService, prompt: Prompt, options: protocol.Options, cancelled: Callable[[], bool]
) -> GreedyText:
    assert engine.session is not None
    engine.session.forget()
    message = protocol.Message("user", prompt.text)
    chat = protocol.Chat(id=0, messages=[message], options=options)
    answer = engine.session.answer(chat, lambda event: None, cancelled)
    if answer.stop_reason == "cancelled":
        raise Interrupted("The benchmark was interrupted.", "Run the same command again to restart it.")
    tops = [[log_prob for _, log_prob in each.top] for each in answer.log_probs or []]
    return GreedyText(answer.token_ids, [first - second for first, second in tops])


def parting_of(ours: list[int], theirs: list[int]) -> int | None:
    """Return the number of equal tokens before the first difference; None if there is no difference."""
    if ours == theirs:
        return None
    pairs = zip(ours, theirs, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(ours), len(theirs)))


def _doubling(tokens: int) -> Iterator[int]:
    """Yield 8, 16, 32, … up to `tokens`."""
    place = 8
    while place <= tokens:
        yield place
        place *= 2
