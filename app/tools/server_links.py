"""The links to all tool servers. A server is started when one of its tools is first called."""

import threading
from typing import Any

from app.preferences import KnownTool, ToolServer
from app.tools.child import ChildCarrier
from app.tools.fault import ToolFault
from app.tools.keys import key_of
from app.tools.listed import ToolResult
from app.tools.server_link import ServerLink
from app.tools.web import WebCarrier
from engine.hub import Stop

_Key = tuple[str, str, str, tuple[str, ...]]


class ServerLinks:
    """Opens links and keeps them for later calls. Thread-safe; a server gets one request at a time.

    The methods block, and raise ToolFault and Stopped.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._links: dict[_Key, tuple[ServerLink, list[KnownTool]]] = {}
        self._busy: dict[_Key, threading.Lock] = {}
        self._is_closed = False

    def tools(self, server: ToolServer, stop: Stop, key: str = "") -> list[KnownTool]:
        """Return the tools that a server has now, from a link that is opened for this. key: one that is not
        stored yet."""
        carrier = WebCarrier(server.address, key) if server.address and key else _carrier(server)
        link = ServerLink(carrier, stop)
        try:
            return link.tools(stop)
        finally:
            link.close()

    def call(self, server: ToolServer, tool: KnownTool, arguments: dict[str, Any], stop: Stop) -> ToolResult:
        """Call a tool, unless its server now describes it otherwise than the user has seen it."""
        key = _key(server)
        with self._lock:
            busy = self._busy.setdefault(key, threading.Lock())
        with busy:
            stop.check()
            link, tools = self._opened(key, server, stop)
            if tool not in tools:
                raise ToolFault(
                    f"{server.name} now describes the tool {tool.name} differently, or has it no longer.",
                    "Look at its tools in the settings.",
                )
            return link.call(tool.name, arguments, stop)

    def close(self) -> None:
        """End all servers that are running, without waiting for them. No link is opened afterwards."""
        with self._lock:
            self._is_closed = True
            links, self._links = list(self._links.values()), {}
        for link, _ in links:
            link.end()

    def _opened(self, key: _Key, server: ToolServer, stop: Stop) -> tuple[ServerLink, list[KnownTool]]:
        with self._lock:
            kept = self._links.get(key)
        if kept is not None and kept[0].is_open:
            return kept
        link = ServerLink(_carrier(server), stop)
        try:
            opened = link, link.tools(stop)
        except BaseException:
            link.close()
            raise
        with self._lock:
            if not self._is_closed:
                self._links[key] = opened
                return opened
        link.close()
        raise ToolFault("The program is being closed.", "Start it again.")


def _carrier(server: ToolServer) -> ChildCarrier | WebCarrier:
    if server.address:
        return WebCarrier(server.address, key_of(server))
    return ChildCarrier(server.command, server.variables)


def _key(server: ToolServer) -> _Key:
    return server.name, server.command, server.address, tuple(server.variables)
