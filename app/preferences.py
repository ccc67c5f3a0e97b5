"""The user's preferences for the whole program, in one TOML file in the platform's config folder.

The settings of a chat are stored with the chat; the preferences hold the settings of new chats. Uses no Qt.
"""

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import platformdirs
import tomli_w
from msgspec import Meta, Struct, structs

from app.store import ChatSettings, SavedOptions
from engine.documents import read_toml
from engine.errors import SpecExecError
from engine.files import write_private
from engine.protocol.messages import Helps, Load

RECENT = 6

# The settings that SpecExec was published with. Greedy sampling makes small models repeat themselves.
NEW_CHATS = ChatSettings(options=SavedOptions(temperature=0.6, top_p=0.9))

GiB = Annotated[float, Meta(gt=0)]


class PreferencesError(SpecExecError):
    """The preferences cannot be read or written."""

    kind = "preferences"


class LoadPreferences(Struct, frozen=True, kw_only=True):
    """How models are loaded; the fields mean the same as in `Load`."""

    vram_limit: GiB | None = None
    ram_limit: GiB | None = None
    weights: Literal["auto", "packed", "unpacked"] = "auto"
    kv_cache: Literal["f16", "q8_0"] = "f16"
    prompt_cache: Annotated[float, Meta(ge=0)] | None = None
    prompt_cache_disk: Annotated[float, Meta(ge=0)] = 0.0
    processor_helps: Helps = "auto"
    threads: Annotated[int, Meta(ge=1)] | None = None
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    device: Literal["auto", "cuda", "cpu"] = "auto"


class ServerPreferences(Struct, frozen=True, kw_only=True):
    """How the local server is run; the fields mean the same as the options of `specexec serve`."""

    starts_with_window: bool = False
    port: Annotated[int, Meta(ge=1, le=65535)] = 8484
    needs_key: bool = False
    address: str = "127.0.0.1"
    origins: list[str] = []


class KnownTool(Struct, frozen=True, omit_defaults=True):
    """A tool as its server described it when the user looked at it. schema: the JSON schema of its arguments.
    always: whether it may be called without asking."""

    name: str
    description: str = ""
    schema: str = '{"type": "object"}'
    always: bool = False


class ToolServer(Struct, frozen=True, omit_defaults=True):
    """A server of tools: a program with its arguments, or an address.

    Attributes:
        variables: lines NAME=value, for the program's environment.
        has_key: whether the keyring has a key for the address (`app.tools.keys`).
        is_on: whether answers may call its tools.
        tools: its tools, as the user has seen them.
    """

    name: str
    command: str = ""
    address: str = ""
    variables: list[str] = []
    is_on: bool = False
    tools: list[KnownTool] = []
    has_key: bool = False


class ToolPreferences(Struct, frozen=True, kw_only=True):
    """Which tools answers may call.

    Attributes:
        built_in: whether they may call the program's own.
        always: the program's own tools that may be called without asking.
        most_calls: maximum number of calls for one question.
    """

    built_in: bool = False
    always: list[str] = msgspec.field(default_factory=lambda: ["calculator", "date"])
    most_calls: Annotated[int, Meta(ge=1, le=50)] = 8
    servers: list[ToolServer] = []


class RecentPair(Struct, frozen=True, omit_defaults=True):
    """A pair that was loaded before; the fields mean the same as in `Load`."""

    target: str | None = None
    draft: str = "auto"
    engine: str = ""


class WindowState(Struct, frozen=True, kw_only=True):
    """The layout of the window.

    Attributes:
        geometry: the window's geometry, as saved by Qt.
        splitters: the sizes of a splitter's parts in pixels, by the splitter's name.
        folded: the keys of the sidebar's collapsed groups.
    """

    geometry: bytes = b""
    splitters: dict[str, list[int]] = {}
    sidebar: bool = True
    folded: list[str] = []
    panel: bool = False


class Preferences(Struct, frozen=True, kw_only=True):
    """All preferences; the file has the same fields."""

    theme: Literal["system", "light", "dark", "contrast"] = "system"
    language: Literal["system", "en", "ko", "zh_CN"] = "system"
    send_key: Literal["enter", "ctrl_enter"] = "enter"
    reduced_motion: bool = False
    zoom: Annotated[int, Meta(ge=50, le=300)] = 100  # size of all text, in percent of the system's
    chat_font: str = ""  # family; "" is the system's
    code_font: str = ""
    wrap_code: bool = False
    notifications: bool = True
    unload_after: Literal["never", "5", "15", "60"] = "never"  # minutes without a question
    updates: bool = False  # whether to check once a day for a newer version
    package_mirror: str = ""  # this and the next two: as in `engine.runtime.Sources`
    torch_mirror: str = ""
    package_proxy: str = ""
    loading: LoadPreferences = LoadPreferences()
    server: ServerPreferences = ServerPreferences()
    tools: ToolPreferences = ToolPreferences()
    new_chats: ChatSettings = NEW_CHATS
    recent_pairs: list[RecentPair] = []  # newest first
    window: WindowState = WindowState()  # the first window
    other_window: WindowState = WindowState(sidebar=False, panel=False)  # the others

    @property
    def last_local(self) -> RecentPair:
        """The pair on this machine that was loaded last; the one for new chats if there is none."""
        here = (pair for pair in self.recent_pairs if not pair.engine)
        return next(here, self.usual_pair)

    @property
    def usual_pair(self) -> RecentPair:
        """The pair for new chats."""
        return RecentPair(self.new_chats.target if not self.new_chats.engine else None)


class PreferencesFile:
    """Reads and writes the file of the preferences.

    Attributes:
        path: the file.
        now: the current preferences.
        error: the reason why an unreadable file was set aside; None if it was valid or did not exist.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or preferences_path()
        self.now = Preferences()
        self.error: PreferencesError | None = None
        self._kept: dict[str, Any] = {}  # the file's content, including keys that only other versions know
        try:
            self._kept = read_toml(self.path)
            self.now = msgspec.convert(self._kept, Preferences, str_keys=True)
        except FileNotFoundError:
            pass
        except (OSError, ValueError) as error:
            self._kept = {}
            self.error = self._set_aside(error)

    def change(self, **fields: Any) -> None:
        """Change some preferences and save all of them.

        Raises PreferencesError if they cannot be saved; the changes are in use all the same.
        """
        self.now = structs.replace(self.now, **fields)
        self._kept = _merged(self._kept, self.now)
        try:
            _write(self.path, tomli_w.dumps(self._kept))
        except OSError as error:
            raise PreferencesError(
                f"The settings could not be saved in {self.path.parent}: {error.strerror}.",
                "Check the disk and the folder's permissions.",
            ) from error

    def remember_pair(self, pair: RecentPair) -> None:
        """Put a pair at the front of the recent pairs. Raises PreferencesError, as `change` does."""
        others = [recent for recent in self.now.recent_pairs if recent != pair]
        self.change(recent_pairs=[pair, *others][:RECENT])

    def _set_aside(self, error: Exception) -> PreferencesError:
        """Rename the unreadable file and return the error to report."""
        aside = self.path.with_name(f"{self.path.stem}-damaged-{datetime.now():%Y%m%d-%H%M%S}.toml")
        try:
            self.path.replace(aside)
        except OSError:
            aside = self.path
        return PreferencesError(
            f"The settings could not be read: {error}.",
            f"The default settings are in use. The old file was kept as {aside}.",
        )


def preferences_path() -> Path:
    """Return the path of the preferences file."""
    return platformdirs.user_config_path("specexec-desktop", appauthor=False) / "settings.toml"


def pair_of(load: Load) -> RecentPair:
    """Return the pair that a request loads."""
    return RecentPair(load.target, load.draft, load.engine)


def load_request(pair: RecentPair, context: int | None, loading: LoadPreferences) -> Load:
    """Return the request to load a pair. The id of the request is a placeholder."""
    if pair.engine:  # an engine elsewhere decides itself how it loads
        return Load(id=0, target=pair.target, engine=pair.engine)
    return Load(id=0, target=pair.target, draft=pair.draft, context=context, **structs.asdict(loading))


def _merged(kept: dict[str, Any], value: Struct) -> dict[str, Any]:
    """Return `value` as data for TOML, plus those entries of `kept` for which `value` has no field.

    Fields that are None are left out, because TOML has no None.
    """
    merged = {key: old for key, old in kept.items() if key not in value.__struct_fields__}
    for name, field in structs.asdict(value).items():
        if isinstance(field, Struct):
            merged[name] = _merged(kept.get(name, {}), field)
        elif field is not None:
            merged[name] = msgspec.to_builtins(field, str_keys=True)
    return merged


def _write(path: Path, text: str) -> None:
    """Replace the file as a whole, so that it is never half written. Only this user can read it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_private(path, text.encode())
