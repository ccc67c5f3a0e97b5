"""Presets: named settings for new chats.

Presets are stored in the same file as the chats, not in files of their own, because a name may contain any
character, two names may differ only in case, and two windows may save at the same time. Only an exported
preset is a file of its own.
"""

from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from app.store import rows
from app.store.database import Database
from app.store.exported import VERSION, read_exported
from app.store.records import ChatSettings, Preset, settings_of, to_json, well_formed


class PresetFile(Struct, kw_only=True):
    """The content of the JSON file of an exported preset; `version` as in `exported.Versioned`."""

    format: Literal["specexec-preset"] = "specexec-preset"
    version: int = VERSION
    name: str
    settings: ChatSettings


class Presets:
    """All presets. Each has a unique name."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[Preset]:
        """Return the presets sorted by name."""
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT name, settings FROM presets ORDER BY name COLLATE NOCASE, name"
            )
            return [Preset(name, settings_of(settings)) for name, settings in found]

    def save(self, preset: Preset) -> None:
        """Save a preset; it replaces a preset of the same name."""
        with self._database.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO presets VALUES (?, ?)",
                (well_formed(preset.name), to_json(preset.settings)),
            )

    def delete(self, name: str) -> None:
        """Delete a preset. Raises NotInStore if no preset has this name."""
        with self._database.writing() as connection:
            if not connection.execute("DELETE FROM presets WHERE name = ?", (name,)).rowcount:
                raise rows.not_found("preset")


def to_file(preset: Preset) -> bytes:
    """Return the content of the file to which a preset is exported."""
    return msgspec.json.format(msgspec.json.encode(PresetFile(name=preset.name, settings=preset.settings)))


def from_file(path: Path) -> Preset:
    """Read an exported preset. Raises BadImport if the file cannot be read or is not a preset."""
    hint = "Choose a preset that was exported by SpecExec Desktop."
    file = read_exported(path, PresetFile, "is not a preset", hint)
    return Preset(file.name, file.settings)
