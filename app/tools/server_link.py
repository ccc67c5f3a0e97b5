"""A link to one tool server: the Model Context Protocol's handshake, list of tools, and calls, as JSON-RPC.

Of what the protocol offers, the program uses tools only. Requests of the server are refused, such as those
for a completion or for the user's files. https://modelcontextprotocol.io/specification/2025-11-25
"""

import json
from collections.abc import Generator
from contextlib import closing
from importlib.metadata import version
from itertools import count, islice
from typing import Any, Protocol

from app.preferences import KnownTool
from app.tools import bounds
from app.tools.fault import ToolFault
from app.tools.listed import ToolResult, result_of, tools_of
from app.tools.web import WebCarrier
from engine.documents import json_of
from engine.hub import Stop

PROTOCOL = "2025-11-25"
SPOKEN = ("2024-11-05", "2025-03-26", "2025-06-18", PROTOCOL)
NO_METHOD = -32601
MOST_PAGES = 16  # of the list of tools


class Carrier(Protocol):
    """Carries messages to a tool server and back."""

    @property
    def is_open(self) -> bool: ...
    def exchange(self, message: bytes, stop: Stop, seconds: float) -> Generator[bytes, None, None]: ...
    def send(self, message: bytes) -> None: ...
    def close(self) -> None: ...
    def end(self) -> None: ...


class ServerLink:
    """The link. Its methods block, and raise ToolFault and Stopped. For one thread at a time.

    After a fault of the link itself, such as a hanging or lying server, it is closed.
    """

    def __init__(self, carrier: Carrier, stop: Stop) -> None:
        """Shake hands. Closes the carrier if that fails."""
        self._carrier = carrier
        self._ids = count(1)
        try:
            self._shake_hands(stop)
        except BaseException:
            carrier.close()
            raise

    @property
    def is_open(self) -> bool:
        return self._carrier.is_open

    def close(self) -> None:
        self._carrier.close()

    def end(self) -> None:
        """Close the link without waiting. May be called from any thread."""
        self._carrier.end()

    def tools(self, stop: Stop) -> list[KnownTool]:
        """Return the tools of the server, at most `bounds.MOST_TOOLS`."""
        found: list[KnownTool] = []
        cursor: dict[str, str] = {}
        for _ in range(MOST_PAGES):
            page = self._ask("tools/list", cursor, stop, bounds.START_S)
            found += tools_of(page)
            following = page.get("nextCursor")
            if not isinstance(following, str) or not following or len(found) >= bounds.MOST_TOOLS:
                break
            cursor = {"cursor": following}
        return found[: bounds.MOST_TOOLS]

    def call(self, name: str, arguments: dict[str, Any], stop: Stop) -> ToolResult:
        """Call a tool."""
        return result_of(self._ask("tools/call", {"name": name, "arguments": arguments}, stop, bounds.CALL_S))

    def _shake_hands(self, stop: Stop) -> None:
        me = {"name": "specexec-desktop", "version": version("specexec-desktop")}
        hello = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": me}
        spoken = self._ask("initialize", hello, stop, bounds.START_S).get("protocolVersion")
        if spoken not in SPOKEN:
            raise ToolFault(
                "The tool server speaks another version of the protocol.", "Take another version of it."
            )
        if isinstance(self._carrier, WebCarrier):
            self._carrier.version = str(spoken)
        self._carrier.send(_encoded({"method": "notifications/initialized"}))

    def _ask(self, method: str, given: dict[str, Any], stop: Stop, seconds: float) -> dict[str, Any]:
        """Send a request and return its result."""
        id = next(self._ids)
        request = _encoded({"id": id, "method": method, "params": given})
        try:
            with closing(self._carrier.exchange(request, stop, seconds)) as lines:
                for line in islice(lines, bounds.MOST_STRAYS):
                    message = _decoded(line)
                    if "method" in message:
                        self._refuse(message)
                    elif message.get("id") == id:
                        return _outcome(message)
        except ServerRefusal:
            raise
        except BaseException:
            self.close()
            raise
        self.close()
        raise ToolFault("The tool server did not answer the request.", "Check which server this is.")

    def _refuse(self, message: dict[str, Any]) -> None:
        """Answer a request of the server: a ping, or one that is refused. Notifications get no answer."""
        id = message.get("id")
        if not isinstance(id, int | str):
            return
        if message["method"] == "ping":
            self._carrier.send(_encoded({"id": id, "result": {}}))
        else:
            error = {"code": NO_METHOD, "message": "This client offers tools only."}
            self._carrier.send(_encoded({"id": id, "error": error}))


class ServerRefusal(ToolFault):
    """An error that the server answers with; the link stays usable."""


def _outcome(message: dict[str, Any]) -> dict[str, Any]:
    match message:
        case {"result": dict() as result}:
            return result
        case {"error": {"message": str() as text}}:
            raise ServerRefusal(f"The tool server refuses: {text[:500]}", "Change the arguments.")
    raise ToolFault("The tool server's answer has no result.", "Check which server this is.")


def _encoded(message: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode()


def _decoded(line: bytes) -> dict[str, Any]:
    try:
        message = json_of(line, dict[str, Any])
    except ValueError:
        message = {}
    if message.get("jsonrpc") != "2.0":
        raise ToolFault(
            "The tool server sent something that is no message of the protocol.",
            "Check that the command starts a server of the Model Context Protocol.",
        )
    return message
