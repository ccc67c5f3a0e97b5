"""Recorded races: two answers to one question, with the time of each token. No Qt.

A recording is one JSON file. It holds all that the replay shows, so that it can be shown on another machine.
"""

import math
import time
from bisect import bisect_right
from functools import cached_property
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from engine.documents import json_of, read_json
from engine.errors import DiskProblem, SpecExecError
from engine.files import write_private

FORMAT = 1
SUFFIX = ".race.json"
MOST_TOKENS = 1 << 20
LONGEST_S = 1e7

Name = Annotated[str, Meta(max_length=500)]


class BadRace(SpecExecError):
    """A file that is not a recorded race, or a recorded race that is damaged."""

    kind = "bad_race"


class RacePass(Struct, frozen=True):
    """What one pass of the target added: `text`, so that the answer has `tokens` after `t` seconds, counted
    from the first token."""

    t: Annotated[float, Meta(ge=0, le=LONGEST_S)]
    tokens: Annotated[int, Meta(ge=1, le=MOST_TOKENS)]
    text: str


class RaceLane(Struct, frozen=True, kw_only=True, dict=True):
    """One answer of a race. The first of `passes` is the prefill, which gives the first token at 0 s.

    target_passes: without the prefill.
    """

    target: Name
    draft: Name | None
    drafter: Name
    dtype: Name
    device: Name
    passes: list[RacePass]
    token_ids: list[int]
    target_passes: Annotated[int, Meta(ge=0, le=MOST_TOKENS)]

    def __post_init__(self) -> None:
        """Raise ValueError if the passes are not in order."""
        pairs = list(zip(self.passes, self.passes[1:], strict=False))
        if not self.passes or self.passes[0].t != 0:
            raise ValueError("a race does not begin with its first token")
        if not all(math.isfinite(each.t) for each in self.passes):
            raise ValueError("a time is not a number")
        if any(later.t < earlier.t or later.tokens <= earlier.tokens for earlier, later in pairs):
            raise ValueError("the passes of a race are not in order")
        if self.tokens != len(self.token_ids):
            raise ValueError("a race does not have as many tokens as it says")

    @property
    def tokens(self) -> int:
        return self.passes[-1].tokens

    @property
    def seconds(self) -> float:
        """From the first token to the last."""
        return self.passes[-1].t

    @property
    def tokens_per_second(self) -> float | None:
        """None if the answer has one token only."""
        return (self.tokens - 1) / self.seconds if self.seconds > 0 else None

    @property
    def tokens_per_pass(self) -> float | None:
        return (self.tokens - 1) / self.target_passes if self.target_passes else None

    @cached_property
    def text(self) -> str:
        return "".join(each.text for each in self.passes)

    @cached_property
    def _times(self) -> list[float]:
        return [each.t for each in self.passes]

    @cached_property
    def _ends(self) -> list[int]:
        """Length of the text after each pass."""
        ends, length = [], 0
        for each in self.passes:
            length += len(each.text)
            ends.append(length)
        return ends

    def passes_at(self, t: float) -> int:
        """Return how many passes had ended after t seconds, with the prefill."""
        return bisect_right(self._times, t)

    def length_at(self, passes: int) -> int:
        """Return the length of the text after a number of passes."""
        return self._ends[passes - 1] if passes else 0

    def tokens_at(self, passes: int) -> int:
        return self.passes[passes - 1].tokens if passes else 0


class RaceRecording(Struct, frozen=True, kw_only=True):
    """One question and its two answers. recorded_at: Unix seconds."""

    specexec_race: int = FORMAT
    version: Name
    recorded_at: Annotated[float, Meta(ge=0, le=32_503_680_000)]
    question: str
    lanes: Annotated[list[RaceLane], Meta(min_length=2, max_length=2)]

    @property
    def seconds(self) -> float:
        """The time of the slower answer."""
        return max(lane.seconds for lane in self.lanes)

    @property
    def is_of_one_model(self) -> bool:
        """Whether both answers are of the same model, so that their texts should be the same."""
        return self.lanes[0].target == self.lanes[1].target

    @property
    def is_same(self) -> bool:
        """Whether both answers have the same tokens."""
        return self.lanes[0].token_ids == self.lanes[1].token_ids

    @property
    def common_tokens(self) -> int:
        """Number of tokens before the answers part."""
        pairs = zip(self.lanes[0].token_ids, self.lanes[1].token_ids, strict=False)
        shorter = min(len(lane.token_ids) for lane in self.lanes)
        return next((place for place, (one, other) in enumerate(pairs) if one != other), shorter)


class _Version(Struct):
    specexec_race: int


def make(version: str, question: str, lanes: list[RaceLane]) -> RaceRecording:
    return RaceRecording(version=version, recorded_at=time.time(), question=question, lanes=lanes)


def save(path: Path, race: RaceRecording) -> None:
    """Write a recording; a file of that name is replaced whole. Raises DiskProblem."""
    try:
        write_private(path, msgspec.json.encode(race))
    except OSError as error:
        raise DiskProblem(f"{path}: {error.strerror}.", "Choose another folder or file name.") from None


def read(path: Path) -> RaceRecording:
    """Read a recording. Raises BadRace if the file is not one or is damaged; DiskProblem if it cannot be
    read."""
    try:
        found = read_json(path, msgspec.Raw)
        version = json_of(bytes(found), _Version).specexec_race
    except OSError as error:
        raise DiskProblem(f"{path}: {error.strerror}.", "Choose a file that can be read.") from None
    except ValueError:
        raise BadRace(f"{path.name} is not a recorded race.", f"Choose a file *{SUFFIX}.") from None
    if version != FORMAT:
        raise BadRace(
            f"{path.name} was recorded by another version of the program.",
            "Open it with that version, or run the race again.",
        )
    try:
        return json_of(bytes(found), RaceRecording)
    except ValueError as error:
        raise BadRace(f"{path.name} is damaged: {error}.", "Run the race again.") from None
