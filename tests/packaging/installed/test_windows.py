"""The Windows installer under Wine: install, use, upgrade, remove. Wine's limits: packaging/README.md."""

import hashlib
import re
import subprocess
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.store import Store
from tests.packaging.installed.conftest import NAME, build, need, one, release_server, report
from tests.packaging.installed.display import display
from tests.packaging.installed.wine import Wine, patch_numpy, patch_wheel, windows_path, wine_prefix

pytestmark = pytest.mark.timeout(1800)
UNINSTALL = rf"HKCU\Software\Microsoft\Windows\CurrentVersion\Uninstall\{NAME}"


@pytest.fixture(scope="module")
def setups(dist: Path) -> tuple[Path, Path]:
    """Return the installers of an older version and of this one."""
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
    with display() as shown, wine_prefix(tmp_path_factory.mktemp("wine"), shown) as found:
        yield found


def install(wine: Wine, setup: Path, batch: Path) -> Path:
    """Install silently into a folder with spaces and non-ASCII letters; NSIS needs it last, unquoted."""
    batch.write_bytes(f'@"{windows_path(setup)}" /S /D=C:\\My Äpps\\Spec Exec\r\n'.encode("cp437"))
    status, output = wine.run("cmd", "/c", windows_path(batch))
    assert status == 0, output
    (folder,) = wine.drive.glob("My ?*pps/Spec Exec")
    patch_numpy(one(folder, "app-*") / "lib")
    return folder


def wheels_for_wine(archive: Path, app: Path, folder: Path) -> Path:
    """Unpack the wheels of the runtime file, patch numpy's, and add its hash to the app's list."""
    with zipfile.ZipFile(archive) as file:
        file.extractall(folder)
    numpy = patch_wheel(one(folder, "numpy-*.whl"))
    listed = one(app, "app-*") / "requirements" / "engine.txt"
    pin = rf"\g<1>    --hash=sha256:{hashlib.sha256(numpy.read_bytes()).hexdigest()} \\\n"
    listed.write_text(re.sub(r"(?m)^(numpy==.*\n)", pin, listed.read_text(), count=1))
    return folder


def start_window(wine: Wine, app: Path) -> "subprocess.Popen[str]":
    running = wine.start(app / "SpecExec Desktop.exe")
    wait_for(lambda: wine.run(app / "specexec.exe", "--running")[0] == 1)
    return running


def wait_for(condition: Callable[[], bool], timeout_s: float = 90) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.5)


def answers(wine: Wine, window: Path, folder: Path) -> dict[str, object]:
    _, output = wine.run(window, "--self-test", windows_path(folder / "answer.png"), "--with-engine")
    seen = report(output)
    assert "Tokyo" in str(seen.get("answer")), output
    print(window, seen["window_after_s"], seen["ready_after_s"], seen["first_token_after_s"])
    return seen


def update(wine: Wine, app: Path, newer: Path, folder: Path) -> None:
    """Let the older version update itself: it prepares the newer one while its window is open, and the next
    start changes over."""
    version = newer.name.removeprefix(f"{NAME}-").removesuffix("-setup-x86_64.exe")
    (wine.data / "settings.toml").write_text("updates = true\n")
    running = start_window(wine, app)
    script = folder / "prepare.py"
    with release_server(newer.parent, version) as source:
        script.write_text(source)
        old = one(app, "app-*")
        status, output = wine.run(old / "python" / "python.exe", "-I", windows_path(script))
    assert (status, f"next: app-{version}" in output) == (0, True), output
    assert (app / "current").read_text() == "app-0.0.9"
    assert wine.run(app / "specexec.exe", "--stop")[0] == 0
    assert running.wait(60) is not None
    patch_numpy(app / f"app-{version}" / "lib")
    running = start_window(wine, app)
    wait_for(lambda: (app / "current").read_text() == f"app-{version}")
    wait_for(lambda: version in wine.run("reg", "query", UNINSTALL, "/v", "DisplayVersion")[1])
    assert wine.run(app / "specexec.exe", "--stop")[0] == 0
    assert running.wait(60) is not None


def save_chat(path: Path) -> None:
    store = Store(path)
    store.chats.rename(store.chats.create(), "of the older version")
    store.close()


def chat_exists(path: Path) -> bool:
    store = Store(path)
    found = store.chats.titled("of the older version")
    store.close()
    return bool(found)


def test_the_installer_installs_answers_upgrades_and_uninstalls(
    wine: Wine, setups: tuple[Path, Path], dist: Path, tmp_path: Path
) -> None:
    older, newer = setups
    app = install(wine, older, tmp_path / "install.bat")
    assert app.parent.name == "My Äpps"
    window, terminal = app / "SpecExec Desktop.exe", app / "specexec.exe"
    seen = answers(wine, window, tmp_path)  # with the packages that are installed with it
    assert (seen["platform"], seen["ok"]) == ("windows", True)
    status, output = wine.run(terminal, "chat", "hello", "--dtype", "float32")
    assert status == 1
    assert "needs PyTorch, which is not set up" in output

    archive = one(dist, "*-runtime-cpu-windows-*.zip")
    wheels = wheels_for_wine(archive, app, tmp_path / "wheels")
    status, output = wine.run(terminal, "setup", "--wheels", windows_path(wheels), "--json")
    assert (status, report(output).get("backend")) == (0, "cpu"), output
    answers(wine, window, tmp_path)

    chats = wine.data / "conversations.sqlite"
    save_chat(chats)
    update(wine, app, newer, tmp_path)
    running = start_window(wine, app)
    app = install(wine, newer, tmp_path / "install.bat")  # ends the running program
    assert running.wait(60) is not None
    assert "0.0.9" not in wine.run("reg", "query", UNINSTALL)[1]
    assert "specexec-chat" in wine.run("reg", "query", r"HKCU\Software\Classes\.specexec-chat")[1]
    answers(wine, window, tmp_path)  # with the older version's runtime

    running = start_window(wine, app)
    wine.run(app / "uninstall.exe", "/S")  # continues in a copy of itself
    wait_for(lambda: not app.exists())
    assert running.wait(60) is not None
    assert wine.run("reg", "query", UNINSTALL)[0] != 0
    assert wine.run("reg", "query", r"HKCU\Software\Classes\.specexec-chat")[0] != 0
    assert not list(wine.drive.glob("users/*/AppData/Roaming/Microsoft/Windows/Start Menu/**/SpecExec*"))
    assert (wine.data / "runtime" / "current.json").exists()
    assert chat_exists(chats)
