"""Where an answer's text ends. Knows text only, no tokens."""


class StoppableText:
    """Text that ends before the stop string that is complete first, however the text is cut into pieces.

    What may turn out to be the start of one is held back.

    Attributes: `text` (all that was given out), `stopped`.
    """

    def __init__(self, stops: list[str]) -> None:
        self._stops = [stop for stop in stops if stop]
        self._held = ""
        self.text = ""
        self.stopped = False

    def add(self, new: str) -> str:
        """The part that is certain now."""
        if self.stopped:
            return ""
        held = self._held + new
        found = [(at + len(stop), at) for stop in self._stops if (at := held.find(stop)) >= 0]
        if found:
            self.stopped = True
            _, start = min(found)
            return self._give(held[:start], "")
        keep = max((self._overlap(held, stop) for stop in self._stops), default=0)
        return self._give(held[: len(held) - keep], held[len(held) - keep :])

    def finish(self, new: str) -> str:
        """The rest: nothing more will come."""
        certain = self.add(new)
        return certain if self.stopped else certain + self._give(self._held, "")

    def _give(self, text: str, held: str) -> str:
        self._held = held
        self.text += text
        return text

    @staticmethod
    def _overlap(text: str, stop: str) -> int:
        """Length of the longest end of `text` that is a beginning of `stop`."""
        return next((n for n in range(min(len(text), len(stop) - 1), 0, -1) if text.endswith(stop[:n])), 0)
