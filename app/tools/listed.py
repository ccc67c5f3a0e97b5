"""Tools and results as a server describes them, none of which can be trusted."""

import json
import unicodedata
from typing import Any

from msgspec import Struct

from app.preferences import KnownTool
from app.tools.bounds import DESCRIPTION_LENGTH, NAME_LENGTH, RESULT_LENGTH, SCHEMA_LENGTH

CUT = "\n[The rest was cut off.]"


class ToolResult(Struct, frozen=True):
    """The answer of a tool. failed: whether it says that it has failed."""

    text: str
    failed: bool = False


def tools_of(page: dict[str, Any]) -> list[KnownTool]:
    """Return the tools of a page of the list; those that cannot be used are left out."""
    found = page.get("tools")
    return [made for tool in found if (made := _tool(tool))] if isinstance(found, list) else []


def _tool(tool: Any) -> KnownTool | None:
    match tool:
        case {"name": str() as name, "inputSchema": {"type": "object"} as schema, **others}:
            text = json.dumps(schema)
            description = others.get("description")
            if _is_name(name) and len(text) <= SCHEMA_LENGTH:
                described = description if isinstance(description, str) else ""
                return KnownTool(name, plainly(described)[:DESCRIPTION_LENGTH], text)
    return None


def _is_name(name: str) -> bool:
    return 0 < len(name) <= NAME_LENGTH and all(
        letter.isascii() and (letter.isalnum() or letter in "_-.") for letter in name
    )


def result_of(result: dict[str, Any]) -> ToolResult:
    """Return the text of a call's result; contents of other kinds are named only."""
    content = result.get("content")
    parts = [_text(part) for part in content] if isinstance(content, list) else []
    structured = result.get("structuredContent")
    if not any(parts) and structured is not None:
        parts = [json.dumps(structured, ensure_ascii=False)]
    return ToolResult(shortened(plainly("\n".join(filter(None, parts)))), result.get("isError") is True)


def _text(part: Any) -> str:
    match part:
        case {"type": "text", "text": str() as text}:
            return text
        case {"type": "resource", "resource": {"text": str() as text}}:
            return text
        case {"type": str() as kind}:
            return f"[{kind[:40]}]"
    return ""


def plainly(text: str) -> str:
    """Return `text` without characters that hide or reorder what is seen, except spaces and line breaks."""
    return "".join(
        letter
        for letter in text
        if letter in "\n\t" or unicodedata.category(letter) not in ("Cc", "Cf", "Cs")
    )


def shortened(text: str) -> str:
    """Return `text`, cut off at the length that a model reads of a result."""
    return text if len(text) <= RESULT_LENGTH else text[:RESULT_LENGTH] + CUT
