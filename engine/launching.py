"""With which interpreter, and with which packages, the engine's processes are started.

In a checkout: the interpreter that runs. A packaged app brings an interpreter and the window's packages;
what the engine needs besides (torch for this machine) is a *runtime*: a folder in the user's data that
`engine.runtime` sets up. Starting imports neither.
"""

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from engine.errors import SpecExecError

ROOT = Path(__file__).parents[1]
ENTERED = "SPECEXEC_RUNTIME"  # in the environment of a process that runs in a runtime: its folder


class RuntimeMissing(SpecExecError):
    """The packages that the engine runs with are not set up."""

    kind = "runtime_missing"


@dataclass(frozen=True, slots=True)
class Runtime:
    """An accepted runtime, as its `runtime.json` says.

    Attributes: `key`: of the requirement lists it was made from; `packages`: the folder they are in.
    """

    folder: Path
    backend: str
    key: str
    python: str

    @property
    def packages(self) -> Path:
        return self.folder / "lib"


def lists() -> Path:
    """The folder of the requirement lists; only packaging makes it."""
    return ROOT / "requirements"


def is_packaged() -> bool:
    return lists().is_dir()


def runtimes() -> Path:
    """The folder of all runtimes."""
    return platformdirs.user_data_path("specexec-desktop", appauthor=False) / "runtime"


def python_version() -> str:
    """What compiled packages depend on."""
    return f"{sys.implementation.cache_tag}-{sys.platform}"


def current() -> Runtime | None:
    """The runtime that is in use; None: there is none that this interpreter can use."""
    try:
        name = json.loads((runtimes() / "current.json").read_text("utf-8"))["folder"]
        folder = runtimes() / name
        said = json.loads((folder / "runtime.json").read_text("utf-8"))
        found = Runtime(folder, said["backend"], said["key"], said["python"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if found.python == python_version() else None


def command(module: str, *arguments: str) -> list[str]:
    """How to run `module` where the engine's packages are. Raises `RuntimeMissing`."""
    if not is_packaged():
        return [sys.executable, "-m", module, *arguments]
    if entered := os.environ.get(ENTERED):
        return command_in(Path(entered), module, *arguments)
    if (found := current()) is None:
        raise RuntimeMissing("The engine is not set up yet.", "Set it up: the window leads through it.")
    return command_in(found.folder, module, *arguments)


def command_in(folder: Path, module: str, *arguments: str) -> list[str]:
    return [*isolated(), "-m", "engine.entering", str(folder), module, *arguments]


def isolated() -> list[str]:
    """The bundled interpreter, deaf to what the user's own Python is told. Never the one without a console:
    it cannot always write to a pipe."""
    program = Path(sys.executable)
    if program.name.lower() == "pythonw.exe":
        program = program.with_name("python.exe")
    return [str(program), "-I", "-X", "utf8"]
