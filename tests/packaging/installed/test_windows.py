"""The Windows set-up under Wine: installed, used, upgraded, removed. What Wine hides: packaging/README.md.

Wine 8 lacks functions of the C runtime, of ICU and of colour management; wine/ stands in for them, and
numpy's calls are led there.
"""

import hashlib
import os
import re
import subprocess
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.packaging.installed.conftest import NAME, build, need, one, report

pytestmark = pytest.mark.timeout(1200)
STAND_INS = Path(__file__).parent / "wine"
LACKING, STAND_IN = b"api-ms-win-crt-math-l1-1-0.dll", b"tst-ms-win-crt-math-l1-1-0.dll"
OVERRIDES = "mscms=n;icuuc=n;bcryptprimitives=n;mshtml=;mscoree=;winedbg.exe=d;winemenubuilder.exe=d"
UNINSTALL = rf"HKCU\Software\Microsoft\Windows\CurrentVersion\Uninstall\{NAME}"


class Wine:
    """A Windows of its own. Attributes: `drive`: its C:; `data`: the user's."""

    def __init__(self, prefix: Path) -> None:
        self.drive = prefix / "drive_c"
        self.environment = {
            **{name: value for name, value in os.environ.items() if name != "DISPLAY"},
            **{"WINEPREFIX": str(prefix), "WINEARCH": "win64", "WINEDEBUG": "-all", "LC_ALL": "C.UTF-8"},
            **{"WINEDLLOVERRIDES": OVERRIDES, "KMP_AFFINITY": "disabled"},
        }

    @property
    def data(self) -> Path:
        (found,) = self.drive.glob(f"users/*/AppData/Local/{NAME}")
        return found

    def start(self, *command: str | Path) -> "subprocess.Popen[str]":
        """Through pipes: Windows' Python cannot write into Wine's files."""
        return subprocess.Popen(
            ["wine", *command],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )

    def run(self, *command: str | Path, timeout_s: float = 400) -> tuple[int, str]:
        process = self.start(*command)
        try:
            words, _ = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            self.end()
            process.kill()
            raise
        return process.returncode, words

    def end(self) -> None:
        subprocess.run(["wineserver", "-k"], env=self.environment, check=False)


@pytest.fixture(scope="module")
def setups() -> tuple[Path, Path]:
    """Of an older version and of this one."""
    need("makensis", "x86_64-w64-mingw32-gcc")
    build("windows", "--fast", "--version", "0.0.9")
    build("windows", "--fast")
    build("runtime", "cpu", "--system", "windows")
    older = one(f"{NAME}-0.0.9-setup-x86_64.exe")
    (newer,) = {*older.parent.glob(f"{NAME}-*-setup-x86_64.exe")} - {older}
    return older, newer


@pytest.fixture(scope="module")
def wine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wine]:
    need("wine", "wineboot", "x86_64-w64-mingw32-gcc")
    prefix = tmp_path_factory.mktemp("wine")
    found = Wine(prefix)
    subprocess.run(["wineboot", "-i"], env=found.environment, check=True, capture_output=True, timeout=200)
    system = found.drive / "windows" / "system32"
    for source in STAND_INS.glob("*.c"):
        definitions = [path for path in (source.with_suffix(".def"),) if path.exists()]
        target = system / f"{source.stem}.dll"
        compiler = ["x86_64-w64-mingw32-gcc", "-shared", "-Os", "-s"]
        subprocess.run([*compiler, "-o", target, source, *definitions, "-ladvapi32"], check=True)
    yield found
    found.end()


def install(wine: Wine, setup: Path, batch: Path) -> Path:
    """Silently, into a folder with spaces and letters outside ASCII; NSIS wants it last, without quotes."""
    batch.write_bytes(f'@"{windows_path(setup)}" /S /D=C:\\My Äpps\\Spec Exec\r\n'.encode("cp437"))
    status, words = wine.run("cmd", "/c", windows_path(batch))
    assert status == 0, words
    (folder,) = wine.drive.glob("My ?*pps/Spec Exec")
    lead_numpy(folder / "lib")
    return folder


def windows_path(path: Path) -> str:
    return "Z:" + str(path).replace("/", "\\")


def lead_numpy(folder: Path) -> None:
    for module in folder.glob("numpy/**/*.pyd"):
        module.write_bytes(module.read_bytes().replace(LACKING, STAND_IN))


def wheels_for_wine(app: Path, folder: Path) -> Path:
    """Those of the runtime file, numpy's led to the stand-in and its hash put into the app's list."""
    with zipfile.ZipFile(one("*runtime-cpu-windows*.zip")) as archive:
        archive.extractall(folder)
    (numpy,) = folder.glob("numpy-*.whl")
    led = numpy.with_suffix(".led")
    with zipfile.ZipFile(numpy) as source, zipfile.ZipFile(led, "w", zipfile.ZIP_STORED) as target:
        for name in source.namelist():
            target.writestr(name, source.read(name).replace(LACKING, STAND_IN))
    led.replace(numpy)
    listed = app / "requirements" / "engine.txt"
    digest = hashlib.sha256(numpy.read_bytes()).hexdigest()
    pin = rf"\g<1>    --hash=sha256:{digest} \\\n"
    listed.write_text(re.sub(r"(?m)^(numpy==.*\n)", pin, listed.read_text(), count=1))
    return folder


def test_it_installs_answers_is_upgraded_and_goes(
    wine: Wine, setups: tuple[Path, Path], tmp_path: Path
) -> None:
    older, newer = setups
    app = install(wine, older, tmp_path / "install.bat")
    window = app / "SpecExec Desktop.exe"
    status, words = wine.run(window, "--self-test", windows_path(tmp_path / "window.png"))
    assert (status, report(words)["platform"], report(words)["ok"]) == (0, "windows", True), words
    status, words = wine.run(app / "specexec.exe", "chat", "hello")
    assert status == 1
    assert "not set up" in words

    wheels = wheels_for_wine(app, tmp_path / "wheels")
    status, words = wine.run(app / "specexec.exe", "setup", "--wheels", windows_path(wheels), timeout_s=600)
    assert (status, report(words)["backend"]) == (0, "cpu"), words
    picture = windows_path(tmp_path / "answer.png")
    status, words = wine.run(window, "--self-test", picture, "--with-engine")
    assert "Paris" in str(report(words).get("answer")), words

    chats = wine.data / "conversations.sqlite"
    running = wine.start(window)
    wait_for(lambda: wine.run(app / "specexec.exe", "--running")[0] == 1)
    wait_for(chats.exists)
    app = install(wine, newer, tmp_path / "install.bat")  # ends what runs
    assert running.wait(60) is not None
    assert chats.exists()
    assert (wine.data / "runtime" / "current.json").exists()
    registered = wine.run("reg", "query", UNINSTALL)[1]
    assert "DisplayVersion" in registered
    assert "specexec-chat" in wine.run("reg", "query", r"HKCU\Software\Classes\.specexec-chat")[1]

    running = wine.start(window)
    wait_for(lambda: wine.run(app / "specexec.exe", "--running")[0] == 1)
    wine.run(app / "uninstall.exe", "/S")  # goes on in a copy of itself
    wait_for(lambda: not app.exists())
    assert running.wait(60) is not None
    assert wine.run("reg", "query", UNINSTALL)[0] != 0
    assert not list(wine.drive.glob("users/*/AppData/Roaming/Microsoft/Windows/Start Menu/**/SpecExec*"))
    assert chats.exists()
    assert (wine.data / "runtime" / "current.json").exists()


def wait_for(holds: Callable[[], bool], timeout_s: float = 90) -> None:
    ends = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.5)
