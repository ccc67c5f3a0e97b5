"""What requests say about tools, whichever interface they use."""

import re
from typing import Any, Literal

from engine.calls.offer import NAME_LIMIT, OfferedTool, ToolOffer
from engine.server.faults import RequestFault

_NAME = re.compile(rf"[A-Za-z0-9_.:/-]{{1,{NAME_LIMIT}}}")


def offer_of(
    tools: list[OfferedTool],
    choice: Literal["none", "auto", "required"] = "auto",
    named: str = "",
    several: bool = True,
) -> ToolOffer:
    """Return what a request offers; nothing if no tool may be used. named: the function that must be called,
    or "". Raises RequestFault."""
    names = [tool.name for tool in tools]
    for name in names:
        if not _NAME.fullmatch(name):
            raise _bad(f"The name '{name[:100]}' of a tool is not 1 to {NAME_LIMIT} letters, digits, _ or -.")
        if names.count(name) > 1:
            raise _bad(f"Two tools have the name '{name}'.")
    if named and named not in names:
        raise _bad(f"'tool_choice' names '{named[:100]}', which is not among the tools.", "tool_choice")
    if choice == "none":
        return ToolOffer()
    if choice == "required" and not tools:
        raise _bad("'tool_choice' requires a call, but there are no tools.", "tool_choice")
    return ToolOffer(tuple(tools), choice, several and not named, named)


def tool_of(
    name: str, description: str | None, schema: dict[str, Any] | None, strict: bool | None
) -> OfferedTool:
    return OfferedTool(name, description or "", schema or {"type": "object", "properties": {}}, bool(strict))


def _bad(sentence: str, field: str = "tools") -> RequestFault:
    return RequestFault(400, "bad_field", sentence, field)
