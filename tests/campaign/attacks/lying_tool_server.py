"""Lying answers of a tool server: a named error, or tools and a result within their bounds."""

import json
import string
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from app.tools import bounds
from app.tools.fault import ToolFault
from app.tools.listed import CUT
from app.tools.server_link import ServerLink
from engine.hub import Stop
from tests.app.tools.reference_server import TOOLS, content
from tests.campaign.attack import SURVIVED, Outcome, Try, Verdict
from tests.campaign.mutation import as_json, damaged, nested, spoiled

FIXED = 60
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}}
RESULT = {**content("An answer, and \u202e more of it."), "structuredContent": {"sum": 3}}
OF_NAMES = frozenset(string.ascii_letters + string.digits + "_-.")


class LyingCarrier:
    """Answers as an honest server would, but for some messages that are spoiled, damaged or too many."""

    def __init__(self, random: Random) -> None:
        self.is_open = True
        self._random = random

    def exchange(self, message: bytes, stop: Stop, seconds: float) -> Generator[bytes, None, None]:
        request = json.loads(message)
        answers: dict[str, Any] = {"initialize": HELLO, "tools/list": {"tools": TOOLS}, "tools/call": RESULT}
        answer = {"jsonrpc": "2.0", "id": request["id"], "result": answers[request["method"]]}
        for _ in range(self._random.choice((0, 0, 0, 0, 0, 1, 5, bounds.MOST_STRAYS + 5))):
            yield as_json({**answer, "id": self._random.choice((None, -1, "1", 1.5, [1]))})
        match self._random.randrange(12):
            case 0:
                yield damaged(as_json(answer), self._random)
            case 1:
                yield as_json(nested(self._random.choice((900, 20_000)), self._random.choice((list, dict))))
            case 2 | 3:
                yield spoiled(answer, self._random)
            case _:
                yield as_json(answer)
        raise ToolFault("The tool server has ended.", "Start it again.")

    def send(self, message: bytes) -> None:
        json.loads(message)

    def close(self) -> None:
        self.is_open = False

    end = close


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    def once(random: Random) -> Outcome:
        link = ServerLink(LyingCarrier(random), Stop())
        tools = link.tools(Stop())
        if len(tools) > bounds.MOST_TOOLS:
            return Outcome(Verdict.LOST, f"{len(tools)} tools")
        for tool in tools:
            sizes = len(tool.name), len(tool.description), len(tool.schema)
            most = bounds.NAME_LENGTH, bounds.DESCRIPTION_LENGTH, bounds.SCHEMA_LENGTH
            if any(a > b for a, b in zip(sizes, most, strict=True)) or not OF_NAMES.issuperset(tool.name):
                return Outcome(Verdict.LOST, f"a tool beyond its bounds: {tool.name[:80]!r} {sizes}")
            json.loads(tool.schema)
        text = link.call("echo", {}, Stop()).text
        if len(text) > bounds.RESULT_LENGTH + len(CUT) or "\u202e" in text:
            return Outcome(Verdict.LOST, f"a result beyond its bounds: {len(text)}")
        return SURVIVED

    yield once
