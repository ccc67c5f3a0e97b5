"""A Windows to test in.

Wine 8 lacks functions of the C runtime, of ICU and of colour management that Qt, numpy and Rust's programs
import: the C files here stand in for them, and numpy's calls are led there.
"""

import os
import shutil
import subprocess
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STAND_INS = Path(__file__).parent
LACKING, STAND_IN = b"api-ms-win-crt-math-l1-1-0.dll", b"tst-ms-win-crt-math-l1-1-0.dll"
OVERRIDES = "mscms=n;icuuc=n;bcryptprimitives=n;mshtml=;mscoree=;winedbg.exe=d;winemenubuilder.exe=d"
COMPILER = "x86_64-w64-mingw32-gcc"


class Wine:
    """Attributes: `drive`: its C:; `data`: the user's folder of the app."""

    def __init__(self, prefix: Path, display: str) -> None:
        """display: without one, no window is made: it is painted, but never closed."""
        self.drive = prefix / "drive_c"
        self._environment = os.environ | {
            "DISPLAY": display,
            "WINEPREFIX": str(prefix),
            "WINEARCH": "win64",
            "WINEDEBUG": "-all",
            "WINEDLLOVERRIDES": OVERRIDES,
            "LC_ALL": "C.UTF-8",
            "KMP_AFFINITY": "disabled",  # what it asks for, Wine does not know
        }

    @property
    def data(self) -> Path:
        (found,) = self.drive.glob("users/*/AppData/Local/specexec-desktop")
        return found

    def start(self, *command: str | Path) -> "subprocess.Popen[str]":
        """Through pipes: Windows' Python cannot write into Wine's files."""
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
        """Exit status and words."""
        process = self.start(*command)
        said: list[str] = []
        reader = threading.Thread(target=_read, args=(process, said), daemon=True)
        reader.start()
        status = process.wait(timeout_s)
        reader.join(2)  # a service of Wine's that it was the first to need holds the pipe open
        return status, "".join(said)

    def end(self) -> None:
        subprocess.run(["wineserver", "-k"], env=self._environment, check=False)
        subprocess.run(["wineserver", "-w"], env=self._environment, check=False, timeout=60)


def _read(process: "subprocess.Popen[str]", said: list[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        said.append(line)


@contextmanager
def made(prefix: Path, display: str) -> Iterator[Wine]:
    """Gone with its programs at the end."""
    found = Wine(prefix, display)
    try:
        status, words = found.run("wineboot", "-i")
        assert status == 0, words
        for source in STAND_INS.glob("*.c"):
            definitions = [path for path in (source.with_suffix(".def"),) if path.exists()]
            target = found.drive / "windows" / "system32" / f"{source.stem}.dll"
            options = ["-shared", "-Os", "-s", "-o", target]
            subprocess.run([COMPILER, *options, source, *definitions, "-ladvapi32"], check=True)
        yield found
    finally:
        found.end()
        shutil.rmtree(prefix)


def windows_path(path: Path) -> str:
    return "Z:" + str(path).replace("/", "\\")


def lead_numpy(folder: Path) -> None:
    """In a folder of packages."""
    for module in folder.glob("numpy/**/*.pyd"):
        module.write_bytes(module.read_bytes().replace(LACKING, STAND_IN))


def led_numpy(wheel: Path) -> Path:
    """The wheel, made anew in its place."""
    led = wheel.with_suffix(".led")
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(led, "w", zipfile.ZIP_STORED) as target:
        for name in source.namelist():
            target.writestr(name, source.read(name).replace(LACKING, STAND_IN))
    return led.replace(wheel)
