"""Calls of functions, which servers tell beside the text, written into the text in Hermes' format. So readers
of answers need not know where an answer comes from."""

import json
from typing import Any

from engine.calls.hermes import CLOSING, OPENING
from engine.documents import json_of
from engine.remote.reply import CalledPart

LEAST_LENGTH = 256  # what an empty call counts: they may be many
NO_JSON = "INVALID_JSON"  # the argument that holds what is no JSON object


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
        written = "".join(self._arguments).strip() or "{}"
        try:
            arguments = json_of(written.encode(), dict[str, Any])
        except ValueError:
            arguments = {NO_JSON: written}
        call = {"name": self._name, "arguments": arguments}
        return f"{OPENING}\n{json.dumps(call, ensure_ascii=False)}\n{CLOSING}"
