"""The program's own tools: a calculator, the date, and a search in the user's chats. Nothing leaves the
machine, and nothing is changed."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.preferences import KnownTool
from app.store import Store
from app.tools.calculator import calculate
from app.tools.fault import ToolFault

MOST_HITS = 8


@dataclass(frozen=True, slots=True)
class BuiltInTool:
    """A tool, and the function that gives its result. It may raise ToolFault and StoreError."""

    known: KnownTool
    run: Callable[[dict[str, Any]], str]


def built_in(store: Store, now: Callable[[], datetime] = datetime.now) -> list[BuiltInTool]:
    """Return the tools. store: the chats that are searched; now: the local time."""
    return [
        BuiltInTool(
            _listed(
                "calculator",
                "Calculate the value of an arithmetic expression, such as (2 + 3) * sqrt(7).",
                expression="the expression",
            ),
            lambda given: calculate(_text(given, "expression")),
        ),
        BuiltInTool(
            _listed("date", "Tell the present date, weekday and time on the user's machine."),
            lambda given: _date(now()),
        ),
        BuiltInTool(
            _listed(
                "search_chats",
                "Search the user's earlier chats for messages that contain all of some words.",
                words="the words to search for",
            ),
            lambda given: _search(store, _text(given, "words")),
        ),
    ]


def _listed(name: str, description: str, **texts: str) -> KnownTool:
    """Return a tool whose arguments are texts. texts: name and description of each."""
    schema = {
        "type": "object",
        "properties": {each: {"type": "string", "description": about} for each, about in texts.items()},
        "required": list(texts),
        "additionalProperties": False,
    }
    return KnownTool(name, description, json.dumps(schema))


def _text(given: dict[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str):
        raise ToolFault(f"The argument “{name}” must be a text.", "Give it as text.")
    return value


def _date(now: datetime) -> str:
    return f"{now.astimezone():%A, %Y-%m-%d %H:%M %Z}"


def _search(store: Store, words: str) -> str:
    hits = store.search(words, MOST_HITS)
    if not hits:
        return "No message contains these words."
    return "\n".join(
        f"{datetime.fromtimestamp(hit.created_at):%Y-%m-%d} “{hit.title}” ({hit.role}): {hit.excerpt}"
        for hit in hits
    )
