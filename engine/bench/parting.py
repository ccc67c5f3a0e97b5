"""How soon the answers of two ways to compute part: float32 and bfloat16, plain decoding and trees.

The same greedy choices are made from logits that differ in their last bits. A text that parted once goes on
differently, so what counts is the first difference.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from engine import protocol
from engine.bench.intervals import Estimate, mean
from engine.bench.plots import Curve
from engine.bench.prompts import Prompt
from engine.errors import Interrupted
from engine.service import Engine

DTYPES = ("float32", "bfloat16")


@dataclass(frozen=True, slots=True)
class Text:
    """Greedy: its tokens, and by how much each was more probable than the next best, in log-probability."""

    tokens: list[int]
    margins: list[float]


class Parting(msgspec.Struct, frozen=True):
    """Where the texts of each prompt part; None where they do not. `margins`: how close the first way's two
    best tokens were there, in log-probability; `equal`: the share of prompts still equal after that many
    tokens."""

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
    """Plain decoding and `drafter`, each in both dtypes. Raises what loading and answering raise."""
    texts: dict[str, list[Text]] = {}
    engine = Engine()
    try:
        for dtype in DTYPES:
            engine.load(replace(load, dtype=dtype), lambda event: None, cancelled)
            assert engine.session is not None
            name = engine.session.drafter(drafter).name
            for way in ("none", name):
                say(f"{way}, {dtype}")
                options = protocol.Options(drafter=way, max_new_tokens=tokens, log_probs=2, temperature=0)
                texts[f"{way}, {dtype}"] = [_text(engine, prompt, options, cancelled) for prompt in prompts]
    finally:
        engine.unload()
    plain, drafted = [[f"{way}, {dtype}" for dtype in DTYPES] for way in ("none", name)]
    pairs = [(plain[0], drafted[0]), (plain[1], drafted[1]), (plain[0], plain[1])]
    return [compare(first, second, texts[first], texts[second], tokens) for first, second in pairs]


def compare(first: str, second: str, ours: Sequence[Text], theirs: Sequence[Text], tokens: int) -> Parting:
    """ours, theirs: the texts of `first` and `second`, at most `tokens` long, of the same prompts."""
    partings = [_parting(a.tokens, b.tokens) for a, b in zip(ours, theirs, strict=True)]
    margins = [
        text.margins[min(at, len(text.margins) - 1)]
        for text, at in zip(ours, partings, strict=True)
        if at is not None
    ]
    equal = {
        place: mean([float(at is None or at >= place) for at in partings]) for place in _doubling(tokens)
    }
    return Parting(first, second, tokens, partings, margins, equal)


def table(found: Sequence[Parting]) -> Iterator[str]:
    """Markdown."""
    places = list(found[0].equal)
    yield f"| | {' | '.join(f'equal after {place}' for place in places)} | margin where they part, at most |"
    yield "|---|" + "---:|" * (len(places) + 1)
    for each in found:
        shares = [f"{100 * each.equal[place].value:.0f} %" for place in places]
        margin = f"{max(each.margins):.2g}" if each.margins else "–"
        yield f"| {each.first} / {each.second} | {' | '.join(shares)} | {margin} |"


def curves(found: Sequence[Parting]) -> list[Curve]:
    return [
        Curve(f"{each.first} / {each.second}", {float(place): share for place, share in each.equal.items()})
        for each in found
    ]


def _text(engine: Engine, prompt: Prompt, options: protocol.Options, cancelled: Callable[[], bool]) -> Text:
    assert engine.session is not None
    engine.session.forget()
    message = protocol.Message("user", prompt.text)
    answer = engine.session.answer([message], options, lambda event: None, cancelled)
    if answer.stop_reason == "cancelled":
        raise Interrupted("The bench was ended.", "Start it again for the figures.")
    tops = [[log_prob for _, log_prob in each.top] for each in answer.log_probs or []]
    return Text(answer.token_ids, [first - second for first, second in tops])


def _parting(ours: list[int], theirs: list[int]) -> int | None:
    """Tokens that are equal before the first that is not."""
    if ours == theirs:
        return None
    pairs = zip(ours, theirs, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(ours), len(theirs)))


def _doubling(tokens: int) -> Iterator[int]:
    place = 8
    while place <= tokens:
        yield place
        place *= 2
