"""An answer's parts, told from each other while it is written: a thought, texts, calls of functions.

Every interface words these parts. Knows neither HTTP nor how interfaces name things.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from engine.protocol import AnswerBegun, TextDelta
from engine.protocol.thoughts import ThoughtSplitter

Kind = Literal["thought", "text"]


@dataclass(slots=True)
class Part:
    """A part of an answer. text: the thought or the text so far."""

    kind: Kind
    text: str = ""


@dataclass(frozen=True, slots=True)
class PartDelta:
    """What is added to a part.

    index: its place among the answer's parts. part: the part, with the addition. is_first: whether the part
    begins with this. text: the addition.
    """

    index: int
    part: Part
    is_first: bool
    text: str


class AnswerParts:
    """Divides the text of an answer into parts. However the text is cut into deltas, the parts are the same.

    Attributes: `parts`, those so far.
    """

    def __init__(self, begun: str = "", is_plain: bool = False) -> None:
        """begun: the beginning of the answer that the client has given; it belongs to no part. is_plain:
        whether all of the text is one part."""
        self.parts: list[Part] = []
        self._begun = begun
        self._is_plain = is_plain
        self._splitter = ThoughtSplitter()
        self._splitter.add(begun)
        self._has_begun = False

    def begin(self, event: AnswerBegun) -> None:
        """Note how the prompt ends. Does nothing once there is text."""
        if not self._has_begun:
            self._splitter = ThoughtSplitter(event.thought)
            self._splitter.add(self._begun)

    def add(self, delta: TextDelta) -> Iterator[PartDelta]:
        """Add text; yield what it adds to the parts."""
        self._has_begun = True
        yield from self._split(*self._divided(delta.text))

    def finish(self) -> Iterator[PartDelta]:
        """Yield what was held back, because it could have been the beginning of a mark."""
        yield from self._split(*(("", "") if self._is_plain else self._splitter.finish()))

    def _divided(self, text: str) -> tuple[str, str]:
        return ("", text) if self._is_plain else self._splitter.add(text)

    def _split(self, thought: str, rest: str) -> Iterator[PartDelta]:
        yield from self._extended("thought", thought)
        yield from self._extended("text", rest)

    def _extended(self, kind: Kind, text: str) -> Iterator[PartDelta]:
        """Add text to the last part, or to a new one if the last is of another kind."""
        if not text:
            return
        is_first = not self.parts or self.parts[-1].kind != kind
        if is_first:
            self.parts.append(Part(kind))
        self.parts[-1].text += text
        yield PartDelta(len(self.parts) - 1, self.parts[-1], is_first, text)


def joined(parts: list[Part], kind: Kind) -> str:
    """Return the text of all parts of a kind."""
    return "".join(part.text for part in parts if part.kind == kind)
