"""A Wine environment for tests.

Wine 8 lacks functions of the C runtime, ICU and colour management that Qt, numpy and Rust programs import.
The C files in this folder replace them, and numpy is patched to call the replacements.
"""

import os
import shutil
import subprocess
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REPLACEMENTS = Path(__file__).parent
MISSING, REPLACEMENT = b"api-ms-win-crt-math-l1-1-0.dll", b"tst-ms-win-crt-math-l1-1-0.dll"
OVERRIDES = "mscms=n;icuuc=n;bcryptprimitives=n;mshtml=;mscoree=;winedbg.exe=d;winemenubuilder.exe=d"
COMPILER = "x86_64-w64-mingw32-gcc"


class Wine:
    """A Wine prefix. Attributes: `drive`: its C: drive; `data`: the app's folder in the user's data."""

    def __init__(self, prefix: Path, display: str) -> None:
        """display: required, because a window without one is painted but never closed."""
        self.drive = prefix / "drive_c"
        self._environment = os.environ | {
            "DISPLAY": display,
            "WINEPREFIX": str(prefix),
            "WINEARCH": "win64",
            "WINEDEBUG": "-all",
            "WINEDLLOVERRIDES": OVERRIDES,
            "LC_ALL": "C.UTF-8",
            "KMP_AFFINITY": "disabled",  # Wine does not support its queries
        }

    @property
    def data(self) -> Path:
        (found,) = self.drive.glob("users/*/AppData/Local/specexec-desktop")
        return found

    def start(self, *command: str | Path) -> "subprocess.Popen[str]":
        """Start a program with pipes, because Python for Windows cannot write to Wine's files."""
        return subprocess.Popen(
            ["wine", *command],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )

    def run(self, *command: str | Path, timeout_s: float = 500) -> tuple[int, str]:
        """Run a program and return (exit status, output)."""
        process = self.start(*command)
        lines: list[str] = []
        reader = threading.Thread(target=_read, args=(process, lines), daemon=True)
        reader.start()
        status = process.wait(timeout_s)
        reader.join(2)  # a Wine service that the program started may hold the pipe open
        return status, "".join(lines)

    def end(self) -> None:
        subprocess.run(["wineserver", "-k"], env=self._environment, check=False)
        subprocess.run(["wineserver", "-w"], env=self._environment, check=False, timeout=60)


def _read(process: "subprocess.Popen[str]", lines: list[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.append(line)


@contextmanager
def wine_prefix(prefix: Path, display: str) -> Iterator[Wine]:
    """Create a prefix; remove it and end its programs afterwards."""
    wine = Wine(prefix, display)
    try:
        status, output = wine.run("wineboot", "-i")
        assert status == 0, output
        for source in REPLACEMENTS.glob("*.c"):
            definitions = [path for path in (source.with_suffix(".def"),) if path.exists()]
            target = wine.drive / "windows" / "system32" / f"{source.stem}.dll"
            options = ["-shared", "-Os", "-s", "-o", target]
            subprocess.run([COMPILER, *options, source, *definitions, "-ladvapi32"], check=True)
        yield wine
    finally:
        wine.end()
        shutil.rmtree(prefix)


def windows_path(path: Path) -> str:
    return "Z:" + str(path).replace("/", "\\")


def patch_numpy(folder: Path) -> None:
    """Patch numpy in a folder of packages."""
    for module in folder.glob("numpy/**/*.pyd"):
        module.write_bytes(module.read_bytes().replace(MISSING, REPLACEMENT))


def patch_wheel(wheel: Path) -> Path:
    """Patch a wheel of numpy in place and return it."""
    patched = wheel.with_suffix(".patched")
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(patched, "w", zipfile.ZIP_STORED) as target:
        for name in source.namelist():
            target.writestr(name, source.read(name).replace(MISSING, REPLACEMENT))
    return patched.replace(wheel)
