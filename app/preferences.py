"""What the user chose for the program as a whole, in one TOML file of the platform's config folder. Knows no
Qt.

A chat's own settings lie with it in the store; here is what new ones begin with.
"""

import os
import tomllib
from datetime import datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated, Any, Literal

import msgspec
import platformdirs
import tomli_w
from msgspec import Meta, Struct, structs

from app.store import ChatSettings, SavedOptions
from engine.errors import SpecExecError
from engine.protocol.messages import Load

RECENT = 6

# The setting SpecExec was published with. The likeliest token, always, makes small models repeat themselves.
NEW_CHATS = ChatSettings(options=SavedOptions(temperature=0.6, top_p=0.9))

GiB = Annotated[float, Meta(gt=0)]


class PreferencesError(SpecExecError):
    """The settings cannot be read or written."""

    kind = "preferences"


class Loading(Struct, frozen=True, kw_only=True):
    """How every pair is loaded; fields as in `Load`."""

    vram_limit: GiB | None = None
    ram_limit: GiB | None = None
    weights: Literal["auto", "packed", "unpacked"] = "auto"
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    device: Literal["auto", "cuda", "cpu"] = "auto"


class RecentPair(Struct, frozen=True, omit_defaults=True):
    """target, draft: as in `Load`."""

    target: str | None = None
    draft: str = "auto"


class WindowState(Struct, frozen=True, kw_only=True):
    """geometry: as Qt saves it. splitters: sizes in pixels by name. folded: groups of the sidebar, by key."""

    geometry: bytes = b""
    splitters: dict[str, list[int]] = {}
    sidebar: bool = True
    folded: list[str] = []
    panel: bool = True


class Preferences(Struct, frozen=True, kw_only=True):
    theme: Literal["system", "light", "dark"] = "system"
    language: Literal["system", "en", "ko", "zh_CN"] = "system"
    send_key: Literal["enter", "ctrl_enter"] = "enter"
    reduced_motion: bool = False
    notifications: bool = True
    updates: bool = False  # ask once a day whether there is a newer version
    package_mirror: str = ""  # as in `engine.runtime.Sources`
    torch_mirror: str = ""
    package_proxy: str = ""
    loading: Loading = Loading()
    new_chats: ChatSettings = NEW_CHATS
    recent_pairs: list[RecentPair] = []  # the newest first
    window: WindowState = WindowState()


class PreferencesFile:
    """The preferences and where they are kept.

    Attributes:
        path: of the file.
        now: the preferences.
        trouble: why the file was set aside when it was read; None: it was sound, or there was none.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or preferences_path()
        self.now = Preferences()
        self.trouble: PreferencesError | None = None
        self._kept: dict[str, Any] = {}  # with the keys that only other versions know
        try:
            self._kept = tomllib.loads(self.path.read_text("utf-8"))
            self.now = msgspec.convert(self._kept, Preferences, str_keys=True)
        except FileNotFoundError:
            pass
        except (OSError, ValueError, msgspec.ValidationError) as error:
            self._kept = {}
            self.trouble = self._set_aside(error)

    def change(self, **fields: Any) -> None:
        """Change some and keep them all. Raises PreferencesError; they are in use then all the same."""
        self.now = structs.replace(self.now, **fields)
        self._kept = _merged(self._kept, self.now)
        try:
            _write(self.path, tomli_w.dumps(self._kept))
        except OSError as error:
            raise PreferencesError(
                f"The settings cannot be kept in {self.path.parent}: {error.strerror}.",
                "Check the disk and the folder's permissions.",
            ) from error

    def remember_pair(self, pair: RecentPair) -> None:
        """Put it in front. Raises PreferencesError."""
        others = [each for each in self.now.recent_pairs if each != pair]
        self.change(recent_pairs=[pair, *others][:RECENT])

    def _set_aside(self, error: Exception) -> PreferencesError:
        aside = self.path.with_name(f"{self.path.stem}-damaged-{datetime.now():%Y%m%d-%H%M%S}.toml")
        try:
            self.path.replace(aside)
        except OSError:
            aside = self.path
        return PreferencesError(
            f"The settings could not be read: {error}.",
            f"The usual ones are in use. The old file is {aside}.",
        )


def preferences_path() -> Path:
    return platformdirs.user_config_path("specexec-desktop", appauthor=False) / "settings.toml"


def load_request(target: str | None, draft: str, context: int | None, loading: Loading) -> Load:
    """What the engine is asked to load; its id means nothing."""
    return Load(id=0, target=target, draft=draft, context=context, **structs.asdict(loading))


def _merged(kept: dict[str, Any], value: Struct) -> dict[str, Any]:
    """`value` as TOML has it, which knows no None, with the keys of `kept` that it does not know."""
    merged = {key: each for key, each in kept.items() if key not in value.__struct_fields__}
    for name, field in structs.asdict(value).items():
        if isinstance(field, Struct):
            merged[name] = _merged(kept.get(name, {}), field)
        elif field is not None:
            merged[name] = msgspec.to_builtins(field, str_keys=True)
    return merged


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(
        "w", encoding="utf-8", newline="\n", dir=path.parent, prefix=f".{path.name}-", delete=False
    ) as growing:
        try:
            growing.write(text)
            growing.flush()
            os.fsync(growing.fileno())
            growing.close()
            Path(growing.name).replace(path)
        except OSError:
            Path(growing.name).unlink(missing_ok=True)
            raise
