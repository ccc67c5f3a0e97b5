"""Whatever fails while the program starts is shown in a box with a way on; the exit status is 1."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QAbstractButton, QApplication

from app.runtime_setup.setup_job import EngineSetup
from app.startup import application
from app.startup.application import open_preferences, open_store
from app.store import StoreLocked
from app.widgets.plain_text import PlainMessageBox
from app.window.arguments import Arguments

Answers = Callable[..., list[str]]


@pytest.fixture(autouse=True)
def whole(qapp: QApplication) -> Iterator[None]:
    """Remove what a program that did not start leaves in the application."""
    yield
    for part in qapp.findChildren(EngineSetup):
        part.setParent(None)
        part.deleteLater()


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Answers:
    """Click the buttons with these texts, one per box. The list returned collects what the boxes say."""

    def prepare(*clicks: str) -> list[str]:
        said: list[str] = []
        waiting = list(clicks)
        clicked: list[QAbstractButton] = []

        def click(box: PlainMessageBox) -> int:
            said.append(f"{box.text()} {box.informativeText()}")
            text = waiting.pop(0)
            clicked.append(next(button for button in box.buttons() if button.text() == text))
            return 0

        monkeypatch.setattr(PlainMessageBox, "exec", click)
        monkeypatch.setattr(PlainMessageBox, "clickedButton", lambda box: clicked[-1])
        return said

    return prepare


def failing(error: Exception) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


@pytest.fixture
def home(qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, and the application of the tests in place of a new one."""
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setattr(application, "make_application", lambda: qapp)
    monkeypatch.setattr(application, "keep_log", lambda: None)
    monkeypatch.setattr(application.signal, "signal", lambda *_: None)
    monkeypatch.setattr(application.Updates, "start", lambda _: None)
    return tmp_path


@pytest.mark.parametrize(
    ("stage", "sentence"),
    [
        ("SingleInstance", "The program cannot start."),
        ("PreferencesFile", "The settings cannot be opened."),
        ("Store", "The chats cannot be opened."),
        ("theme.choose", "The window cannot be opened."),
        ("Program", "The window cannot be opened."),
        ("Program.open_window", "The window cannot be opened."),
    ],
)
def test_a_start_that_fails_says_so_and_ends_with_status_1(
    home: Path,
    answers: Answers,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    stage: str,
    sentence: str,
) -> None:
    said = answers("Quit")
    monkeypatch.setattr(f"app.startup.application.{stage}", failing(ZeroDivisionError("injected")))
    with caplog.at_level(logging.ERROR), pytest.raises(SystemExit) as ended:
        application.run(Arguments())
    assert ended.value.code == 1
    assert said == [f"{sentence} ZeroDivisionError: injected"]
    assert "Traceback" in caplog.text


def test_the_program_starts_without_chats_that_cannot_be_opened(
    home: Path, tmp_path: Path, answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()))
    said = answers("Show the folder", "Start without the chats")
    real = application.Store
    calls = iter([failing(StoreLocked("Another program uses it.", "Close it.")), real])
    monkeypatch.setattr(application, "Store", lambda *arguments: next(calls)(*arguments))
    store = open_store(tmp_path)
    try:
        assert store.path == tmp_path / "conversations.sqlite"
        assert not store.chats.recent()
    finally:
        store.close()
    assert said == ["The chats cannot be opened. Another program uses it.\nClose it."] * 2
    assert opened == [str(application.default_path().parent)]


def test_the_program_starts_with_default_settings(
    home: Path, tmp_path: Path, answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers("Start with the default settings")
    real = application.PreferencesFile
    calls = iter([failing(OSError("injected")), real])
    monkeypatch.setattr(application, "PreferencesFile", lambda *arguments: next(calls)(*arguments))
    assert open_preferences(tmp_path).path == tmp_path / "settings.toml"


def test_a_way_on_that_fails_too_ends_the_program(
    home: Path, tmp_path: Path, answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = answers("Start without the chats", "Quit")
    monkeypatch.setattr(application, "Store", failing(OSError("injected")))
    with pytest.raises(SystemExit) as ended:
        open_store(tmp_path)
    assert ended.value.code == 1
    assert len(said) == 2
