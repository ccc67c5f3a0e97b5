"""Stop strings: where an answer's text ends. Works on text only, not on tokens."""

from engine.protocol.thoughts import overlap


class StoppableText:
    """The text of an answer, which arrives in pieces. It ends before the first stop string that is completed,
    even if that string is spread over several pieces.

    Text that may be the start of a stop string is held back.

    Attributes: `text`, everything released so far; `found`, the stop string that has been completed, or "".
    """

    def __init__(self, stops: list[str]) -> None:
        self._stops = [stop for stop in stops if stop]
        self._held = ""
        self.text = ""
        self.found = ""

    @property
    def stopped(self) -> bool:
        return bool(self.found)

    def add(self, new: str) -> str:
        """Add a piece; return the text that can be released now."""
        if self.stopped:
            return ""
        held = self._held + new
        matches = [(at + len(stop), at, stop) for stop in self._stops if (at := held.find(stop)) >= 0]
        if matches:
            _, start, self.found = min(matches)
            return self._release(held[:start], "")
        keep = max((overlap(held, stop) for stop in self._stops), default=0)
        return self._release(held[: len(held) - keep], held[len(held) - keep :])

    def finish(self, new: str) -> str:
        """Add the last piece; return the rest of the text."""
        released = self.add(new)
        return released if self.stopped else released + self._release(self._held, "")

    def _release(self, text: str, held: str) -> str:
        self._held = held
        self.text += text
        return text
