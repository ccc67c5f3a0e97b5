"""JSON and TOML from outside: files, answers of servers. Whatever they contain, a fault is a ValueError.

Imports nothing else from the engine.
"""

import tomllib
from pathlib import Path
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

JSON_NBYTES = 64 << 20  # longer documents are refused; an export of many chats has a few million bytes
TOML_NBYTES = 1 << 20  # tomllib reads about a million bytes per second


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
        return tomllib.loads(_content(path, TOML_NBYTES).decode())
    except RecursionError:
        raise ValueError("it is too deeply nested") from None


def _content(path: Path, most_nbytes: int) -> bytes:
    with path.open("rb") as file:
        content = file.read(most_nbytes + 1)
    if len(content) > most_nbytes:
        raise ValueError(f"it has more than {most_nbytes >> 20} MiB")
    return content
