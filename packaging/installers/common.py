"""What all installers share: paths, the version, running programs.

The functions that run a program raise `Failed` if it fails.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import dev  # for its lock
from torch_build import wheel_folders

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
WORK = ROOT / "build" / "packaging"
DIST = ROOT / "dist"
NAME = "specexec-desktop"
TITLE = "SpecExec Desktop"
PYTHON = "3.11"
# The names that uv uses for the platforms.
PLATFORM = {"linux": "x86_64-manylinux_2_34", "windows": "x86_64-pc-windows-msvc"}


class Failed(Exception):
    """A build error; the message is one sentence for the user of build.py."""


@dataclass(frozen=True, slots=True)
class Order:
    """The options of a build.

    Attributes:
        version: the version to build.
        wheels: a folder with wheels of packages whose hashes are not in the lists yet, or None.
        fast: whether to use low compression.
        into: the output folder.
        releases: the address of the release index that the packages read, or "".
        public_key: the key with which they verify it, in hexadecimal, or "".
    """

    version: str
    wheels: Path | None
    fast: bool
    into: Path
    releases: str = ""
    public_key: str = ""


def version() -> str:
    found: str = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    return found


def repository() -> str:
    """Return the address of the repository that a GitHub workflow builds; "" elsewhere."""
    name = os.environ.get("GITHUB_REPOSITORY")
    return f"https://github.com/{name}" if name else ""


def epoch() -> int:
    """Return the timestamp of all files in a package: SOURCE_DATE_EPOCH, else the time of the last commit."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    return int(run(["git", "log", "-1", "--format=%ct"], cwd=ROOT).strip())


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def run(argv: Sequence[str | Path], cwd: Path | None = None, **environment: str) -> str:
    """Run a program and return its standard output."""
    try:
        done = subprocess.run(
            list(map(str, argv)),
            cwd=cwd,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
        )
    except FileNotFoundError as error:
        raise Failed(f"{argv[0]} is not installed: see packaging/README.md") from error
    if done.returncode:
        raise Failed(f"{' '.join(map(str, argv))}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


def fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


@contextmanager
def alone(name: str) -> Iterator[None]:
    """Hold the lock of the folder `name` in `WORK`; wait for other builds that hold it."""
    WORK.mkdir(parents=True, exist_ok=True)
    with (WORK / f"{name}.lock").open("a") as file:
        if not dev.try_lock(file.fileno()):
            say(f"  Waiting for another build, which makes {name}")
            while not dev.try_lock(file.fileno()):
                time.sleep(0.2)
        yield  # closing the file gives the lock back


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def pip_wheel_folder() -> Path | None:
    """Return the folder of wheels that pip is configured to use, if there is one."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    listing = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return next((folder for folder in wheel_folders(listing) if folder.is_dir()), None)


def tools() -> Path:
    """Return the folder of an environment with uv and a package's packages, for the build machine.

    It is created once, and again after the lists of these packages have changed. Builds side by side
    create it one at a time.
    """
    folder = WORK / "tools"
    with alone(folder.name):
        wanted = sha256(PACKAGING / "requirements" / "uv.txt") + sha256(
            PACKAGING / "requirements" / "package.txt"
        )
        stamp = folder / "stamp"
        if not stamp.is_file() or stamp.read_text() != wanted:
            fresh(folder)
            run([sys.executable, "-m", "venv", folder])
            lists = PACKAGING / "requirements"
            pip = [tool("python"), "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
            run([*pip, "-r", lists / "uv.txt"])
            uv = [tool("uv"), *UV, "pip", "install", "--python", tool("python"), *HASHED]
            run([*uv, "-r", lists / "package.txt"])
            stamp.write_text(wanted)
    return folder


UV = ("--no-config", "--system-certs", "--quiet")
HASHED = ("--no-deps", "--require-hashes", "--only-binary", ":all:")


def tool(name: str) -> Path:
    """Return the path of a program in the environment that `tools` creates."""
    on_windows = os.name == "nt"
    return WORK / "tools" / ("Scripts" if on_windows else "bin") / (f"{name}.exe" if on_windows else name)


def install(requirements: Path, folder: Path, system: str) -> None:
    """Install the packages in a list into `folder`, for `system`, whatever system the build machine has."""
    tools()
    target = ["--target", folder, "--python-platform", PLATFORM[system], "--python-version", PYTHON]
    run([tool("uv"), *UV, "pip", "install", *HASHED, *target, "--requirements", requirements])
