"""Calls of functions, which servers tell beside the text, written into the text in Hermes' format. So readers
of answers need not know where an answer comes from."""

import json

from engine.calls.arguments import arguments_of
from engine.calls.hermes import CLOSING, OPENING
from engine.remote.reply import CalledPart

LEAST_LENGTH = 256  # what an empty call counts: they may be many


class WrittenCall:
    """One call, while it arrives. `length`: of what has arrived, in characters."""

    def __init__(self) -> None:
        self._name = ""
        self._arguments: list[str] = []
        self.length = LEAST_LENGTH

    def add(self, piece: CalledPart) -> None:
        """Add a piece; the name comes with the first one."""
        arguments = piece.arguments or ""
        self._name = self._name or piece.name or ""
        self._arguments.append(arguments)
        self.length += len(arguments) + 1

    def text(self) -> str:
        """Return the call as text."""
        call = {"name": self._name, "arguments": arguments_of("".join(self._arguments))}
        return f"{OPENING}\n{json.dumps(call, ensure_ascii=False)}\n{CLOSING}"
