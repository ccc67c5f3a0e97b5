"""Settings under a name, to begin chats with.

They lie in the same file as the chats, not in files of their own: a name may hold any character and differ
from another in case only, and two windows may save at once. A file is made where one is exported.
"""

from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from app.store import rows
from app.store.database import Database
from app.store.errors import BadImport
from app.store.records import ChatSettings, Preset, to_json, well_formed

VERSION = 1
_settings = msgspec.json.Decoder(ChatSettings)


class PresetFile(Struct, kw_only=True):
    """A preset as exported, in JSON. A later version may add fields; an incompatible one has a higher
    number."""

    format: Literal["specexec-preset"] = "specexec-preset"
    version: int = VERSION
    name: str
    settings: ChatSettings


class Presets:
    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[Preset]:
        """By name."""
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT name, settings FROM presets ORDER BY name COLLATE NOCASE, name"
            )
            return [Preset(name, _settings.decode(settings)) for name, settings in found]

    def save(self, preset: Preset) -> None:
        """In the place of one that has its name."""
        with self._database.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO presets VALUES (?, ?)",
                (well_formed(preset.name), to_json(preset.settings)),
            )

    def delete(self, name: str) -> None:
        """Raises NotInStore."""
        with self._database.writing() as connection:
            if not connection.execute("DELETE FROM presets WHERE name = ?", (name,)).rowcount:
                raise rows.gone("preset")


def to_file(preset: Preset) -> bytes:
    return msgspec.json.format(msgspec.json.encode(PresetFile(name=preset.name, settings=preset.settings)))


def from_file(path: Path) -> Preset:
    """Raises BadImport."""
    hint = "Choose a preset that SpecExec Desktop exported."
    try:
        file = msgspec.json.decode(path.read_bytes(), type=PresetFile)
    except OSError as error:
        raise BadImport(
            f"{path} cannot be read: {error.strerror}.", "Check the file's permissions."
        ) from error
    except msgspec.MsgspecError as error:
        raise BadImport(f"{path.name} is no preset: {error}.", hint) from error
    if file.version > VERSION:
        raise BadImport(f"{path.name} was written by a newer version.", "Update SpecExec Desktop.")
    return Preset(file.name, file.settings)
