"""An answer's parts, told from each other while it is written: a thought, texts, calls of functions.

Every interface words these parts. Knows neither HTTP nor how interfaces name things.
"""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from engine.calls.reader import CallReader, Found
from engine.protocol import AnswerBegun, TextDelta
from engine.protocol.thoughts import ThoughtSplitter

Kind = Literal["thought", "text", "call"]


@dataclass(slots=True)
class AnswerPart:
    """A part of an answer. text: the thought, the text, or the arguments of the call so far. id, name: those
    of the call and of its function."""

    kind: Kind
    text: str = ""
    id: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class PartDelta:
    """What is added to a part.

    index: its place among the answer's parts. part: the part, with the addition. is_first: whether the part
    begins with this. text: the addition.
    """

    index: int
    part: AnswerPart
    is_first: bool
    text: str


class AnswerParts:
    """Divides the text of an answer into parts. However the text is cut into deltas, the parts are the same.

    Attributes: `parts`, those so far.
    """

    def __init__(
        self, begun: str = "", is_plain: bool = False, calls: CallReader | None = None, several: bool = True
    ) -> None:
        """begun: the beginning of the answer that the client has given; it belongs to no part. is_plain:
        whether all of the text is one part. calls: finds the calls in the text, None: there are none;
        several: whether there may be more than one."""
        self.parts: list[AnswerPart] = []
        self._calls = calls
        self._several = several
        self._spaces = ""  # white space that is left out if a call follows
        self._is_over = False  # whether a call was found that is one too many
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
        if self._calls:
            yield from self._read(self._calls.finish())
        if not any(part.kind == "call" for part in self.parts):
            yield from self._extended("text", self._spaces)

    def _divided(self, text: str) -> tuple[str, str]:
        return ("", text) if self._is_plain else self._splitter.add(text)

    def _split(self, thought: str, rest: str) -> Iterator[PartDelta]:
        yield from self._extended("thought", thought)
        if self._calls:
            yield from self._read(self._calls.add(rest))
        else:
            yield from self._extended("text", rest)

    def _read(self, found: list[Found]) -> Iterator[PartDelta]:
        """Add what the reader of calls has found."""
        for kind, text in found:
            if kind == "name":
                self._is_over = not self._several and any(part.kind == "call" for part in self.parts)
            if self._is_over:
                continue
            if kind == "name":
                self._spaces = ""
                self.parts.append(AnswerPart("call", id=f"call_{secrets.token_hex(12)}", name=text))
                yield PartDelta(len(self.parts) - 1, self.parts[-1], True, "")
            elif kind == "arguments":
                yield from self._extended("call", text)
            else:
                yield from self._spaced(text)

    def _spaced(self, text: str) -> Iterator[PartDelta]:
        """Add text, but hold white space at its end back, and leave it out after a call."""
        text = self._spaces + text
        if self.parts and self.parts[-1].kind == "call":
            text = text.lstrip()
        words = text.rstrip()
        self._spaces = text[len(words) :]
        yield from self._extended("text", words)

    def _extended(self, kind: Kind, text: str) -> Iterator[PartDelta]:
        """Add text to the last part, or to a new one if the last is of another kind."""
        if not text:
            return
        is_first = not self.parts or self.parts[-1].kind != kind
        if is_first:
            self.parts.append(AnswerPart(kind))
        self.parts[-1].text += text
        yield PartDelta(len(self.parts) - 1, self.parts[-1], is_first, text)


def joined(parts: list[AnswerPart], kind: Kind) -> str:
    """Return the text of all parts of a kind."""
    return "".join(part.text for part in parts if part.kind == kind)
