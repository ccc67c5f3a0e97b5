"""The engines elsewhere that the user has added: a TOML file in the config folder, and their keys in the
system's keyring."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec
import platformdirs
import tomli_w
from filelock import FileLock, Timeout

from engine.documents import read_toml
from engine.errors import BadOption, DiskProblem
from engine.files import make_private_folder, named_path, replacing
from engine.remote.address import base_url, origin_of, place_of
from engine.remote.errors import EnginesFileProblem, EngineUnknown
from engine.secret import NO_KEYRING, KeptSecret

VARIABLE = "SPECEXEC_ENGINE_KEY_"
MOST_NAME = 64  # characters
MOST_ENGINES = 1000
_LOCK_S = 10.0

_secrets: dict[str, KeptSecret] = {}  # by account; without a keyring, they live as long as the program


@dataclass(frozen=True, slots=True)
class AddedEngine:
    """An engine elsewhere.

    name: under which it was added. address: base URL of its interface, such as http://host:8000/v1.
    certificate: path of a file with the certificates that sign the server's own, in PEM; "": the system's.
    allow_clear: whether its key may be sent unencrypted over a public network.
    """

    name: str
    address: str
    certificate: str = ""
    allow_clear: bool = False

    @property
    def place(self) -> str:
        """Host and port, as users are shown where their text goes."""
        return place_of(self.address)


class _EnginesFile(msgspec.Struct):
    engines: list[AddedEngine] = []


def added() -> list[AddedEngine]:
    """Return the added engines, in the order in which they were added. Raises EnginesFileProblem."""
    path = engines_path()
    try:
        listed = msgspec.convert(read_toml(path), _EnginesFile).engines[:MOST_ENGINES]
        return [checked(engine) for engine in listed]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, BadOption) as error:
        raise EnginesFileProblem(
            f"The list of added engines cannot be read: {error}.", f"Correct or delete {path}."
        ) from error


def find(name: str) -> AddedEngine:
    """Return the engine that was added under `name`. Raises EngineUnknown; EnginesFileProblem."""
    for engine in added():
        if engine.name == name:
            return engine
    raise EngineUnknown(
        f"No engine was added under the name {name[:MOST_NAME]!r}.",
        "specexec engines lists the added ones; specexec engines add adds one.",
    )


def checked(engine: AddedEngine) -> AddedEngine:
    """Return the engine with its address in full. Raises BadOption if its name or address cannot be used."""
    name = engine.name.strip()
    if not name or len(name) > MOST_NAME or not name.isprintable() or "/" in name or name.startswith("-"):
        raise BadOption(
            f"{engine.name[:MOST_NAME]!r} cannot be the name of an engine.",
            f"Take at most {MOST_NAME} characters, without a slash, and none that cannot be seen.",
        )
    certificate = str(named_path(engine.certificate).absolute()) if engine.certificate else ""
    return AddedEngine(name, base_url(engine.address), certificate, engine.allow_clear)


def add(engine: AddedEngine, key: str = "") -> str:
    """Add an engine, and store its key in the keyring; "": it needs none. Return "", or a notice for the user
    if there is no keyring.

    Raises BadOption if the name is taken or cannot be used, or if the address or the key cannot;
    EnginesFileProblem; DiskProblem.
    """
    engine, key = checked(engine), checked_key(key)
    with _changing() as path:
        engines = added()
        if any(other.name.casefold() == engine.name.casefold() for other in engines):
            raise BadOption(
                f"An engine was already added under the name {engine.name!r}.",
                "Take another name, or remove the other engine first.",
            )
        _write(path, [*engines, engine])
    secret = _secret(engine)
    if not key:
        return ""
    if secret.keep(key):
        return ""
    return f"{NO_KEYRING.format(what='key')} Other programs find it in ${variable_of(engine.name)}."


def remove(name: str) -> None:
    """Remove an added engine and its key. Raises EngineUnknown; EnginesFileProblem; DiskProblem."""
    with _changing() as path:
        engine = find(name)
        _write(path, [other for other in added() if other.name != name])
    _secret(engine).forget()


def key_of(name: str) -> str | None:
    """Return the key of an added engine: from this session, else the system's keyring, else the environment;
    None if it has none. Raises EngineUnknown; EnginesFileProblem."""
    return _secret(find(name)).get() or os.environ.get(variable_of(name)) or None


def variable_of(name: str) -> str:
    """Return the environment variable that may hold an engine's key."""
    return VARIABLE + re.sub(r"[^A-Z0-9]", "_", name.upper())


def checked_key(key: str) -> str:
    """Return the key without surrounding space. Raises BadOption if it cannot be sent in a header."""
    key = key.strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise BadOption("This is not a key.", "Copy all of it, as one line without spaces.")
    return key


def engines_path() -> Path:
    return platformdirs.user_config_path("specexec-desktop", appauthor=False) / "engines.toml"


def _secret(engine: AddedEngine) -> KeptSecret:
    # With the origin, so that a key is sent to the server for which it was stored, whatever the file says.
    account = f"engine/{engine.name}/{origin_of(engine.address)}"
    return _secrets.setdefault(account, KeptSecret(account))


@contextmanager
def _changing() -> Iterator[Path]:
    """Yield the file's path while no other process changes the file. Raises DiskProblem."""
    path = engines_path()
    lock = FileLock(path.with_suffix(".lock"))
    try:
        make_private_folder(path.parent)
        lock.acquire(_LOCK_S)
    except (OSError, Timeout) as error:
        raise _problem(path, error) from error
    try:
        yield path
    finally:
        lock.release()


def _write(path: Path, engines: list[AddedEngine]) -> None:
    document: dict[str, Any] = {"engines": [asdict(engine) for engine in engines]}
    try:
        with replacing(path) as temporary:
            temporary.touch(0o600)
            temporary.write_bytes(tomli_w.dumps(document).encode())
    except OSError as error:
        raise _problem(path, error) from error


def _problem(path: Path, error: OSError) -> DiskProblem:
    return DiskProblem(
        f"{path} cannot be written: {error.strerror or error}.", "Check the folder's permissions."
    )
