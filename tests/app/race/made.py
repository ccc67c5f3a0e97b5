"""Races and engines made for tests."""

from collections.abc import Sequence
from itertools import pairwise

from msgspec import structs

from app.race.race_record import RaceLane, RacePass, RaceRecording
from engine.protocol import messages
from tests.app.fake_engine import MODEL, FakeConnection, answer, loaded, verdict

WORDS = ["The", "sea", "is", "wide", "and", "deep", "and", "blue", "and", "old", "and", "cold", "."]


def lane(seconds: float = 1.2, step: int = 1, words: Sequence[str] = WORDS, **fields: object) -> RaceLane:
    """Return an answer of one token per word, of which each pass brings `step`."""
    places = [0, *range(1, len(words), step)]
    ends = [*places[1:], len(words)]
    passes = [
        RacePass(
            seconds * i / (len(places) - 1),
            end,
            "".join(("" if place == 0 else " ") + word for place, word in enumerate(words[start:end], start)),
        )
        for i, (start, end) in enumerate(zip(places, ends, strict=True))
    ]
    made = dict(
        target="Tiny",
        draft=None,
        drafter="none" if step == 1 else "recycling",
        dtype="float32",
        device="cpu",
        passes=passes,
        token_ids=[sum(word.encode()) for word in words],
        target_passes=len(passes) - 1,
    )
    return RaceLane(**{**made, **fields})  # type: ignore[arg-type]


def race(*lanes: RaceLane) -> RaceRecording:
    both = list(lanes) or [lane(1.2), lane(0.4, 3)]
    return RaceRecording(version="0", recorded_at=1e9, question="What is the sea?", lanes=both)


def model(name: str) -> messages.ModelInfo:
    return structs.replace(MODEL, name=name)


def loads_by_name(connection: FakeConnection, request: messages.Request) -> None:
    """Load whatever is asked for, under its name; the test sends everything else."""
    if isinstance(request, messages.Load):
        event = loaded(request.id)
        event.target = model(request.target or "Tiny")
        connection.say(event)


def iteration(request: int, number: int, tokens: int, seconds: float) -> messages.IterationDone:
    done = verdict(request, number)
    done.tokens, done.target_passes = tokens, number
    done.tokens_per_second = (tokens - 1) / seconds
    return done


def say_answer(
    connection: FakeConnection, request: int, step: int, words: Sequence[str] = WORDS, seconds: float = 1.0
) -> None:
    """Let the engine give an answer of one token per word, `step` in each pass."""
    connection.say(messages.TextDelta(request=request, text=words[0], tokens=1))
    places = [*range(1, len(words), step), len(words)]
    for number, (start, end) in enumerate(pairwise(places), start=1):
        text = "".join(" " + word for word in words[start:end])
        connection.say(
            messages.TextDelta(request=request, text=text, tokens=end),
            iteration(request, number, end, seconds * number / (len(places) - 1)),
        )
    done = answer(request, " ".join(words))
    done.token_ids = [sum(word.encode()) for word in words]
    done.tokens, done.target_passes = len(words), len(places) - 1
    done.tokens_per_second = (len(words) - 1) / seconds
    done.drafter = "none" if step == 1 else "recycling"
    connection.say(done)
