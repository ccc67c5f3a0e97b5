"""Fixtures: windows with a scripted engine, without a display; no test leaves a thread or timer running."""

import gc
import os
import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

# Even with a display: shortcuts need the active window, which the window manager chooses.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import Qt, QThread, QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from shiboken6 import Shiboken

from app.connection.engine_link import EngineLink
from app.preferences import PreferencesFile
from app.store import Store, StoreFull
from app.store.database import Database
from app.widgets import theme
from app.window import better_model
from app.window.arguments import Arguments
from app.window.core import Core
from app.window.window import SIZE, Window
from engine.remote import engines as engines_elsewhere
from tests.app.fake_engine import FakeEngines
from tests.app.threads import join


def pytest_configure(config: pytest.Config) -> None:
    # Messages of Qt's offscreen platform, unrelated to this project.
    for line in (
        "This plugin does not support propagateSizeHints()",
        "This plugin does not support raise()",
        "This plugin does not support grabbing the keyboard",
    ):
        config.addinivalue_line("qt_log_ignore", f"^{line.replace('(', '[(]').replace(')', '[)]')}$")


@pytest.fixture(autouse=True)
def collects_between_tests() -> Iterator[None]:
    """Collect garbage as the program does (`app.startup.collector`): never while Qt is at work. What is left
    after that is set aside, so that `get_objects` returns what one test has made."""
    gc.collect()
    gc.freeze()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(autouse=True)
def light(qapp: QApplication) -> None:
    if not qapp.styleSheet() or theme.current() is not theme.LIGHT:  # takes 0.1 s
        theme.dress(qapp, Qt.ColorScheme.Light)


@pytest.fixture(autouse=True)
def no_better_offer(monkeypatch: pytest.MonkeyPatch) -> None:
    """No window examines this machine, which takes about a second."""
    monkeypatch.setattr(better_model, "better_offer", lambda helps: None)


@pytest.fixture(autouse=True)
def own_engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees or changes the tester's engines elsewhere, nor the keys of them."""
    monkeypatch.setattr(engines_elsewhere, "engines_path", lambda: tmp_path / "engines.toml")
    monkeypatch.setattr(engines_elsewhere, "_secrets", {})


@pytest.fixture(autouse=True)
def leaves_nothing_running(qapp: QApplication) -> Iterator[None]:
    threads = set(threading.enumerate())
    yield
    new = [each for each in threading.enumerate() if each not in threads and not _is_dummy(each)]
    for thread in new:
        join(thread, 1.0)  # a thread whose result has arrived may still be ending
    left: list[object] = [thread for thread in new if thread.is_alive()]
    # By type: reading `__class__` would load lazy objects of other libraries.
    qt = [o for o in gc.get_objects() if issubclass(type(o), QThread | QTimer) and Shiboken.isValid(o)]
    left += [o for o in qt if (o.isRunning() if isinstance(o, QThread) else o.isActive())]
    assert not left, f"left running: {left}"


def _is_dummy(thread: threading.Thread) -> bool:
    """Return whether this is Python's record of a QThread, which outlives the thread."""
    return isinstance(thread, threading._DummyThread)


@pytest.fixture
def engines() -> FakeEngines:
    return FakeEngines()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "conversations.sqlite")
    yield store
    store.close()


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """While it is set, nothing can be stored."""
    full, writing = threading.Event(), Database.writing

    @contextmanager
    def checked(database: Database) -> Iterator[sqlite3.Connection]:
        if full.is_set():
            raise StoreFull("The disk is full.", "Make room.")
        with writing(database) as connection:
            yield connection

    monkeypatch.setattr(Database, "writing", checked)
    return full


@pytest.fixture
def preferences(tmp_path: Path) -> PreferencesFile:
    return PreferencesFile(tmp_path / "settings.toml")


@pytest.fixture
def make_window(qtbot: QtBot, store: Store, preferences: PreferencesFile) -> Iterator[Callable[..., Window]]:
    """Create windows on one store; they and their engines are closed after the test."""
    windows: list[Window] = []

    def make(engines: FakeEngines, arguments: Arguments | None = None) -> Window:
        window = Window(Core(arguments or Arguments(), store, preferences, EngineLink(engines)))
        windows.append(window)
        window.resize(*SIZE)  # the screen of the tests is narrow
        window.start()
        qtbot.waitExposed(window)
        return window

    yield make
    for window in windows:
        if window.engine.is_running:
            with qtbot.waitSignal(window.engine.ended):
                window.close()
        window.panel.begin()
        window.close()
        window.deleteLater()
        window.core.deleteLater()


@pytest.fixture
def window(make_window: Callable[..., Window], engines: FakeEngines, qtbot: QtBot) -> Window:
    """A window with a loaded model."""
    made = make_window(engines)
    qtbot.waitUntil(lambda: made.engine.state.name == "READY")
    return made


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    """Start a private X server."""
    if shutil.which("Xvfb") is None:
        pytest.skip("needs Xvfb")
    reader, writer = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writer), "-screen", "0", "2700x1800x24", "-nolisten", "tcp"],
        pass_fds=(writer,),
        stderr=subprocess.DEVNULL,
    )
    os.close(writer)
    with os.fdopen(reader) as pipe:
        number = pipe.readline().strip()
    assert number, "Xvfb did not start"
    yield f":{number}"
    server.terminate()
    server.wait()
