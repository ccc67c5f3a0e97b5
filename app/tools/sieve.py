"""Takes the calls out of the text of an answer while it arrives. What is left is shown and stored."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from engine.calls.reader import CallReader, Found
from engine.protocol.thoughts import ThoughtSplitter


@dataclass(slots=True)
class SievedCall:
    """A call that an answer makes. arguments: what the model wrote of them so far."""

    id: str
    name: str
    arguments: str = ""


class CallSieve:
    """Divides an answer into its text, with its thought and the marks of that, and calls. However the answer
    is cut into pieces, the result is the same.

    Attributes: `calls`, those so far; `text`, the text so far.
    """

    def __init__(self, reader: CallReader, begun: str = "") -> None:
        """begun: the beginning of an answer that is continued."""
        self.calls: list[SievedCall] = []
        self.text = ""
        self._reader = reader
        self._begun = begun
        self._splitter = ThoughtSplitter()
        self._splitter.add(begun)
        self._pending = ""  # text of which it is not known yet whether it belongs to the thought

    def open_thought(self, mark: str) -> None:
        """Note, before any text is added, that the prompt has opened a thought with this mark, if any."""
        self._splitter = ThoughtSplitter(mark)
        self._splitter.add(self._begun)

    def add(self, piece: str) -> str:
        """Add a piece; return the text that it adds."""
        self._pending += piece
        _, rest = self._splitter.add(piece)
        if self._splitter.is_inside:
            return self._take(len(self._pending), "")
        return self._take(max(0, len(self._pending) - len(rest)), rest) if rest else ""

    def finish(self) -> str:
        """Return the text that was held back: the answer is complete."""
        _, rest = self._splitter.finish()
        shown = self._take(max(0, len(self._pending) - len(rest)), rest)
        last = self._sift(self._reader.finish())
        self.text += last
        return shown + last

    def _take(self, thought: int, rest: str) -> str:
        """Release what is pending: so many characters of the thought, and the rest through the reader."""
        shown, self._pending = self._pending[:thought], ""
        shown += self._sift(self._reader.add(rest))
        self.text += shown
        return shown

    def _sift(self, found: Sequence[Found]) -> str:
        shown = ""
        for kind, text in found:
            if kind == "text":
                shown += text
            elif kind == "name":
                self.calls.append(SievedCall(f"call_{secrets.token_hex(6)}", text))
            else:
                self.calls[-1].arguments += text
        return shown
