"""All tools that answers may call now, under the names by which models call them."""

import json
import re
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from app.preferences import KnownTool, PreferencesFile, ToolServer
from app.store import Store, StoreError
from app.tools.builtin import BuiltInTool, built_in
from app.tools.fault import ToolFault
from app.tools.listed import ToolResult, shortened
from app.tools.server_links import ServerLinks
from engine.calls.offer import OfferedTool
from engine.documents import json_of
from engine.hub import Stop


@dataclass(frozen=True, slots=True)
class CallableTool:
    """A tool. name: by which models call it; server: whose it is, None for the program's own. always: whether
    it may be called without asking."""

    name: str
    known: KnownTool
    server: ToolServer | None
    always: bool

    @property
    def offered(self) -> OfferedTool:
        schema: dict[str, Any] = json.loads(self.known.schema)
        return OfferedTool(self.name, self.known.description, schema, strict=self.server is None)


class Toolbox:
    """The tools that the preferences allow."""

    def __init__(self, store: Store, preferences: PreferencesFile) -> None:
        self._preferences = preferences
        self._own: dict[str, BuiltInTool] = {tool.known.name: tool for tool in built_in(store)}
        self.links = ServerLinks()

    @property
    def most_calls(self) -> int:
        """Maximum number of calls for one question."""
        return self._preferences.now.tools.most_calls

    def all(self) -> list[CallableTool]:
        """Return the tools in the order of the settings; no two have the same name."""
        now = self._preferences.now.tools
        made: dict[str, CallableTool] = {}
        if now.built_in:
            for name, tool in self._own.items():
                made[name] = CallableTool(name, tool.known, None, name in now.always)
        for server in now.servers:
            for known in server.tools if server.is_on else ():
                name = _free(known.name, server.name, made)
                made[name] = CallableTool(name, structs.replace(known, always=False), server, known.always)
        return list(made.values())

    def find(self, name: str) -> CallableTool | None:
        return next((tool for tool in self.all() if tool.name == name), None)

    def allow_always(self, tool: CallableTool) -> None:
        """Let a tool be called without asking from now on. Raises PreferencesError."""
        now = self._preferences.now.tools
        if tool.server is None:
            changed = structs.replace(now, always=sorted({*now.always, tool.name}))
        else:
            servers = [_allowed(each, tool) if each == tool.server else each for each in now.servers]
            changed = structs.replace(now, servers=servers)
        self._preferences.change(tools=changed)

    def run(self, tool: CallableTool, arguments: str, stop: Stop) -> ToolResult:
        """Call a tool. Blocks. arguments: as the model wrote them. Raises ToolFault, Stopped."""
        try:
            given = json_of(arguments.strip().encode() or b"{}", dict[str, Any])
        except ValueError as error:
            raise ToolFault("The arguments are not a JSON object.", "Write them as one.") from error
        if tool.server is not None:
            return self.links.call(tool.server, tool.known, given, stop)
        try:
            return ToolResult(shortened(self._own[tool.name].run(given)))
        except StoreError as error:
            raise ToolFault(error.message, error.hint) from error


def _allowed(server: ToolServer, tool: CallableTool) -> ToolServer:
    tools = [
        structs.replace(each, always=True) if each.name == tool.known.name else each for each in server.tools
    ]
    return structs.replace(server, tools=tools)


def _free(name: str, server: str, taken: dict[str, CallableTool]) -> str:
    """Return a name that no other tool has: the tool's own, or with that of its server before it."""
    free = name
    number = 1
    while free in taken:
        prefix = re.sub(r"[^A-Za-z0-9]+", "_", server).strip("_") or "server"
        free = f"{prefix}_{name}" if number == 1 else f"{prefix}{number}_{name}"
        number += 1
    return free
