"""Choose the interpreter and the packages with which the engine's processes are started.

A packaged app ships an interpreter and `lib`, the packages with which window and engine run on the processor.
torch, in the build for this machine, and what models need that compiled passes do not cover, come with a
*runtime*: a folder in the user's data that `engine.runtime` sets up, whose own `lib` has all packages of the
engine. A wheel that was installed without torch uses a runtime, too, with the interpreter and the packages of
its environment; where torch is installed, as in a source checkout, the engine uses that environment alone.
This module imports neither torch nor Qt.
"""

import json
import os
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import platformdirs

from engine.errors import SpecExecError

ROOT = Path(__file__).parents[2]
# The environment variable that tells a process whose packages it runs with. Its value is `packages_home`.
RUNTIME_VARIABLE = "SPECEXEC_RUNTIME"
# The packages of a runtime that a package lacks, by the names under which they are imported.
RUNTIME_ONLY = ("torch", "transformers", "accelerate", "safetensors")


class RuntimeMissing(SpecExecError):
    """torch and the packages around it are needed, but not installed."""

    kind = "runtime_missing"


@dataclass(frozen=True, slots=True)
class Runtime:
    """A runtime that has passed its test, as described by its `runtime.json`.

    Attributes: `folder`; `backend`, its name, such as "cuda"; `key`, which identifies the requirement lists
    the runtime was installed from; `python`, the `python_abi` that its packages are for; `packages`, the
    folder with the packages.
    """

    folder: Path
    backend: str
    key: str
    python: str

    @property
    def packages(self) -> Path:
        return self.folder / "lib"


def requirements_folder() -> Path:
    """Return the folder with the requirement lists, which exists in a packaged app and in a wheel."""
    if is_packaged():
        return ROOT / "requirements"
    return ROOT / "resources" / "requirements" / ("windows" if os.name == "nt" else "linux")


def is_packaged() -> bool:
    """Whether the program came with its own interpreter."""
    return (ROOT / "requirements").is_dir()


def uses_runtimes() -> bool:
    """Whether torch comes with a runtime, and not with the environment."""
    return is_packaged() or (requirements_folder().is_dir() and not _has_torch())


def _has_torch() -> bool:
    return find_spec("torch") is not None


def runtimes_folder() -> Path:
    """Return the folder that contains all runtimes."""
    return platformdirs.user_data_path("specexec-desktop", appauthor=False) / "runtime"


def python_abi() -> str:
    """Return a name for the Python version and the platform, on which compiled packages depend."""
    return f"{sys.implementation.cache_tag}-{sys.platform}"


def current() -> Runtime | None:
    """Return the runtime in use; None if there is none, if what describes it is damaged, or if it is for
    another Python."""
    try:
        (name,) = _texts(runtimes_folder() / "current.json", "folder")
        folder = runtimes_folder() / name
        runtime = Runtime(folder, *_texts(folder / "runtime.json", "backend", "key", "python"))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    is_inside = folder.parent == runtimes_folder() and name not in (".", "..")
    return runtime if is_inside and runtime.python == python_abi() else None


def _texts(file: Path, *names: str) -> list[str]:
    """Return the texts with these names from a JSON file. Not by `documents`, which imports msgspec: that
    package must come from the runtime, if there is one."""
    content = json.loads(file.read_text("utf-8"))
    texts = [content[name] for name in names]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("not a text")
    return texts


def packages_home() -> Path | None:
    """Return the folder whose `lib` holds the engine's packages: that of the runtime in use, or a packaged
    app's own; None if they are in the environment."""
    runtime = current() if uses_runtimes() else None
    return runtime.folder if runtime else ROOT if is_packaged() else None


def command(module: str, *arguments: str) -> list[str]:
    """Return the command line that runs `module` with the engine's packages."""
    entered = os.environ.get(RUNTIME_VARIABLE)
    home = Path(entered) if entered else packages_home()
    return command_in(home, module, *arguments) if home else [*python(), "-m", module, *arguments]


def command_in(folder: Path, module: str, *arguments: str) -> list[str]:
    """Return the command line that runs `module` with the packages in folder/lib."""
    return [*python(), "-m", "engine.launch.entry", str(folder), module, *arguments]


def need_runtime(what: str) -> None:
    """Raise `RuntimeMissing` unless torch is installed for this process. what: what needs it, the beginning
    of a sentence."""
    if not _has_torch():
        raise _missing(what)


def missing_runtime(error: BaseException) -> RuntimeMissing | None:
    """Return what `error` says about a package that only a runtime has; None if it is about something
    else."""
    lacking = isinstance(error, ModuleNotFoundError) and error.name in RUNTIME_ONLY
    return _missing("This") if lacking else None


def _missing(what: str) -> RuntimeMissing:
    hint = (
        "Set it up in the window (Settings, Engine), or by: specexec setup."
        if uses_runtimes()
        else "Install the program's packages again, for example by: pip install --force-reinstall torch."
    )
    return RuntimeMissing(f"{what} needs PyTorch, which is not set up.", hint)


def python() -> list[str]:
    """Return the running interpreter's path; if it came with the program, with options that make it ignore
    the user's Python settings. It is never pythonw.exe, which has no console and cannot always write to a
    pipe."""
    program = Path(sys.executable)
    if program.name.lower() == "pythonw.exe":
        program = program.with_name("python.exe")
    return [str(program), *(["-I", "-X", "utf8"] if is_packaged() else [])]
