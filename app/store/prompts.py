"""The prompt library: texts to send again, with variables such as {{language}}.

In a file of its own, a library is exported and imported as a whole.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from app.store import rows
from app.store.database import Database
from app.store.exported import VERSION, read_exported
from app.store.records import well_formed

_VARIABLE = re.compile(r"\{\{\s*([^{}\n]{1,60}?)\s*\}\}")


class SavedPrompt(Struct, frozen=True):
    """A saved prompt. text: may have variables, names between double braces."""

    name: Annotated[str, Meta(min_length=1, max_length=200)]
    text: Annotated[str, Meta(max_length=1_000_000)]


class PromptFile(Struct, kw_only=True):
    """The content of the JSON file of an exported library; `version` as in `exported.Versioned`."""

    format: Literal["specexec-prompts"] = "specexec-prompts"
    version: int = VERSION
    prompts: list[SavedPrompt]


class Prompts:
    """All saved prompts. Each has a unique name."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[SavedPrompt]:
        """Return the prompts sorted by name."""
        with self._database.reading() as connection:
            found = connection.execute("SELECT name, text FROM prompts ORDER BY name COLLATE NOCASE, name")
            return [SavedPrompt(name, text) for name, text in found]

    def save(self, prompts: Iterable[SavedPrompt]) -> None:
        """Save prompts; they replace prompts of the same names."""
        with self._database.writing() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO prompts VALUES (?, ?)",
                [(well_formed(prompt.name), well_formed(prompt.text)) for prompt in prompts],
            )

    def delete(self, name: str) -> None:
        """Delete a prompt. Raises NotInStore if no prompt has this name."""
        with self._database.writing() as connection:
            if not connection.execute("DELETE FROM prompts WHERE name = ?", (name,)).rowcount:
                raise rows.not_found("prompt")


def variables(text: str) -> list[str]:
    """Return the names of the variables in a prompt, each once, in order."""
    return list(dict.fromkeys(_VARIABLE.findall(text)))


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a prompt with the values of its variables; those without a value stay as they are. Braces in
    values mean nothing."""
    return _VARIABLE.sub(lambda found: values.get(found[1], found[0]), text)


def matching(prompts: Sequence[SavedPrompt], typed: str) -> list[SavedPrompt]:
    """Return the prompts whose name begins with `typed`, then those that have it elsewhere in their name."""
    sought = typed.casefold()
    begins = [prompt for prompt in prompts if prompt.name.casefold().startswith(sought)]
    return begins + [each for each in prompts if sought in each.name.casefold() and each not in begins]


def to_file(prompts: Sequence[SavedPrompt]) -> bytes:
    """Return the content of the file to which a library is exported."""
    return msgspec.json.format(msgspec.json.encode(PromptFile(prompts=list(prompts))))


def from_file(path: Path) -> list[SavedPrompt]:
    """Read an exported library. Raises BadImport if the file cannot be read or is none."""
    hint = "Choose prompts that were exported by SpecExec Desktop."
    return read_exported(path, PromptFile, "has no prompts", hint).prompts
