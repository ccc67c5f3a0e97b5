"""JSON and TOML from outside: files, answers of servers. Whatever they contain, a fault is a ValueError.

Imports nothing else from the engine.
"""

import tomllib
from pathlib import Path
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

JSON_NBYTES = 64 << 20  # longer documents are refused; an export of many chats has a few million bytes
MOST_LEVELS = 64  # of tables in tables; what is read can also be written and compared
TOML_NBYTES = 16 << 20  # longer than any system prompt in the settings


def json_of(content: bytes, kind: type[T]) -> T:
    """Return the JSON document `content` as a `kind`.

    Raises ValueError if it is not JSON, too deeply nested or not a `kind`; also what the constructors of
    `kind` raise.
    """
    try:
        return msgspec.json.decode(content, type=kind)
    except RecursionError:
        raise ValueError("it is too deeply nested") from None


def read_json(path: Path, kind: type[T]) -> T:
    """Return the JSON file at `path` as a `kind`. Raises as `json_of`; OSError."""
    return json_of(_content(path, JSON_NBYTES), kind)


def read_toml(path: Path) -> dict[str, Any]:
    """Return the TOML file at `path`. Raises ValueError if it is not TOML or too deeply nested; OSError."""
    try:
        document = tomllib.loads(_content(path, TOML_NBYTES).decode())
    except RecursionError:
        raise ValueError("it is too deeply nested") from None
    level: list[Any] = [document]
    for _ in range(MOST_LEVELS):
        level = [inner for value in level for inner in _inner(value)]
    if level:
        raise ValueError("it is too deeply nested")
    return document


def _inner(value: Any) -> list[Any]:
    """Return the tables and lists in a table or list."""
    values = value.values() if isinstance(value, dict) else value
    return [each for each in values if isinstance(each, dict | list)]


def _content(path: Path, most_nbytes: int) -> bytes:
    with path.open("rb") as file:
        content = file.read(most_nbytes + 1)
    if len(content) > most_nbytes:
        raise ValueError(f"it has more than {most_nbytes >> 20} MiB")
    return content
