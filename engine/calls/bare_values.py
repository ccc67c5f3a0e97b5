"""Arguments that are written between marks, without quotes; the schema says what they are."""

import json
from typing import Any

import msgspec

from engine.calls.grammar import json_rule, quoted
from engine.calls.offer import OfferedTool

Types = dict[str, str]
# Any argument, in a grammar: its name, and its schema.
ANY_NAME, ANY_TEXT = "/[A-Za-z0-9_.-]+/", {"type": "string"}


def types_of(tool: OfferedTool) -> Types:
    """Return the types of a function's parameters by name, "" where the schema names none or several."""
    return {name: _type_of(schema) for name, schema in tool.properties.items()}


def as_json(value: str, kind: str) -> str:
    """Return a value as JSON. kind: its type in the schema, or ""."""
    if kind == "boolean" and value.strip() in ("True", "False"):  # as Seed-OSS's template writes them
        return value.strip().lower()
    if kind != "string":
        try:
            return msgspec.json.encode(msgspec.json.decode(value)).decode()
        except (ValueError, RecursionError):
            pass
    return json.dumps(value, ensure_ascii=False)


def value_rules(rule: str, schema: Any, end: str) -> tuple[str, list[str]]:
    """Return the body of a rule for a value and the mark `end` behind it, and the rules that the body uses.
    rule: the prefix of their names."""
    if _type_of(schema) != "string":
        return f"{rule}_value {quoted(end)}", [f"{rule}_value: {json_rule(schema)}"]
    if texts := _texts(schema):
        return f"({' | '.join(map(quoted, texts))}) {quoted(end)}", []
    return f"{rule}_text", [f"{rule}_text[suffix={quoted(end)}]: /(.|\\n)*/"]


def _type_of(schema: Any) -> str:
    kind = schema.get("type") if isinstance(schema, dict) else None
    return kind if isinstance(kind, str) else ""


def _texts(schema: dict[str, Any]) -> list[str]:
    """Return the only texts that a schema allows; none if it allows others."""
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else [])
    return [text for text in allowed if isinstance(text, str) and text] if isinstance(allowed, list) else []
