"""The Windows set-up under Wine: installed, used, upgraded, removed. What Wine hides: packaging/README.md."""

import hashlib
import re
import subprocess
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.store import Store
from tests.packaging.installed.conftest import NAME, build, need, one, report
from tests.packaging.installed.display import display
from tests.packaging.installed.wine import Wine, lead_numpy, led_numpy, made, windows_path

pytestmark = pytest.mark.timeout(1800)
UNINSTALL = rf"HKCU\Software\Microsoft\Windows\CurrentVersion\Uninstall\{NAME}"


@pytest.fixture(scope="module")
def setups(dist: Path) -> tuple[Path, Path]:
    """Of an older version and of this one."""
    need("makensis", "x86_64-w64-mingw32-gcc")
    build(dist, "windows", "--fast", "--version", "0.0.9")
    build(dist, "windows", "--fast")
    build(dist, "runtime", "cpu", "--system", "windows")
    older = one(dist, f"{NAME}-0.0.9-setup-x86_64.exe")
    (newer,) = {*dist.glob(f"{NAME}-*-setup-x86_64.exe")} - {older}
    return older, newer


@pytest.fixture(scope="module")
def wine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wine]:
    need("wine", "wineboot", "Xvfb", "x86_64-w64-mingw32-gcc")
    with display() as shown, made(tmp_path_factory.mktemp("wine"), shown) as found:
        yield found


def install(wine: Wine, setup: Path, batch: Path) -> Path:
    """Silently, into a folder with spaces and letters outside ASCII; NSIS wants it last, without quotes."""
    batch.write_bytes(f'@"{windows_path(setup)}" /S /D=C:\\My Äpps\\Spec Exec\r\n'.encode("cp437"))
    status, words = wine.run("cmd", "/c", windows_path(batch))
    assert status == 0, words
    (folder,) = wine.drive.glob("My ?*pps/Spec Exec")
    lead_numpy(folder / "lib")
    return folder


def wheels_for_wine(archive: Path, app: Path, folder: Path) -> Path:
    """Those of the runtime file, numpy's led to the stand-in and its hash put into the app's list."""
    with zipfile.ZipFile(archive) as file:
        file.extractall(folder)
    numpy = led_numpy(one(folder, "numpy-*.whl"))
    listed = app / "requirements" / "engine.txt"
    pin = rf"\g<1>    --hash=sha256:{hashlib.sha256(numpy.read_bytes()).hexdigest()} \\\n"
    listed.write_text(re.sub(r"(?m)^(numpy==.*\n)", pin, listed.read_text(), count=1))
    return folder


def start_window(wine: Wine, app: Path) -> "subprocess.Popen[str]":
    running = wine.start(app / "SpecExec Desktop.exe")
    wait_for(lambda: wine.run(app / "specexec.exe", "--running")[0] == 1)
    return running


def wait_for(holds: Callable[[], bool], timeout_s: float = 90) -> None:
    ends = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.5)


def answers(wine: Wine, window: Path, folder: Path) -> None:
    _, words = wine.run(window, "--self-test", windows_path(folder / "answer.png"), "--with-engine")
    assert "Paris" in str(report(words).get("answer")), words


def keep_a_chat(path: Path) -> None:
    store = Store(path)
    store.chats.rename(store.chats.create(), "of the older version")
    store.close()


def a_chat_is_kept(path: Path) -> bool:
    store = Store(path)
    found = store.chats.titled("of the older version")
    store.close()
    return bool(found)


def test_it_installs_answers_is_upgraded_and_goes(
    wine: Wine, setups: tuple[Path, Path], dist: Path, tmp_path: Path
) -> None:
    older, newer = setups
    app = install(wine, older, tmp_path / "install.bat")
    assert app.parent.name == "My Äpps"
    window, terminal = app / "SpecExec Desktop.exe", app / "specexec.exe"
    status, words = wine.run(window, "--self-test", windows_path(tmp_path / "window.png"))
    seen = report(words)
    assert (status, seen["platform"], seen["ok"]) == (0, "windows", True), words
    status, words = wine.run(terminal, "chat", "hello")
    assert status == 1
    assert "not set up" in words

    archive = one(dist, "*-runtime-cpu-windows-*.zip")
    wheels = wheels_for_wine(archive, app, tmp_path / "wheels")
    status, words = wine.run(terminal, "setup", "--wheels", windows_path(wheels))
    assert (status, report(words).get("backend")) == (0, "cpu"), words
    answers(wine, window, tmp_path)

    chats = wine.data / "conversations.sqlite"
    keep_a_chat(chats)
    running = start_window(wine, app)
    app = install(wine, newer, tmp_path / "install.bat")  # ends what runs
    assert running.wait(60) is not None
    assert "0.0.9" not in wine.run("reg", "query", UNINSTALL)[1]
    assert "specexec-chat" in wine.run("reg", "query", r"HKCU\Software\Classes\.specexec-chat")[1]
    answers(wine, window, tmp_path)  # with the runtime of the older one

    running = start_window(wine, app)
    wine.run(app / "uninstall.exe", "/S")  # goes on in a copy of itself
    wait_for(lambda: not app.exists())
    assert running.wait(60) is not None
    assert wine.run("reg", "query", UNINSTALL)[0] != 0
    assert wine.run("reg", "query", r"HKCU\Software\Classes\.specexec-chat")[0] != 0
    assert not list(wine.drive.glob("users/*/AppData/Roaming/Microsoft/Windows/Start Menu/**/SpecExec*"))
    assert (wine.data / "runtime" / "current.json").exists()
    assert a_chat_is_kept(chats)
