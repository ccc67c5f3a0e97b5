"""The application from the command line to a window, its engine and the files it opens."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.connection.engine_link import EngineLink
from app.header.update_box import UpdateBox
from app.preferences import PreferencesFile
from app.runtime_setup import setup_job
from app.startup.application import Program
from app.startup.single_instance import SingleInstance
from app.store import Store
from app.store.exchange import export_file
from app.window.arguments import Arguments
from engine import hub, runtime
from engine.launch import interpreter
from engine.runtime import Sources, Unreachable
from tests.app.fake_engine import FakeConnection, FakeEngines
from tests.app.runtime_setup.packaged import FakeSetups, package, put_runtime
from tests.app.sidebar.conftest import chat

ROOT = Path(__file__).parents[3]
SECOND = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from app.startup.single_instance import SingleInstance
app = QCoreApplication([])
second = SingleInstance(Path(sys.argv[1]))
sys.exit(0 if not second.is_first and second.raise_first(Path(sys.argv[2])) else 1)
"""


class PackagedEngines(FakeEngines):
    """Engines that start only if a runtime is installed."""

    def __call__(self) -> FakeConnection:
        interpreter.command("engine.serving.process")
        return super().__call__()


@pytest.fixture
def setups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeSetups]:
    """Make the program a packaged one without a runtime."""
    package(tmp_path, monkeypatch)
    made = FakeSetups()
    monkeypatch.setattr(setup_job, "Setup", made)
    monkeypatch.setattr(setup_job, "POLL_MS", 5)
    yield made
    runtime.backends.cache_clear()


@pytest.fixture
def program(
    qapp: QApplication,
    store: Store,
    preferences: PreferencesFile,
    tmp_path: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[[], Program]]:
    """Start a program whose engines are `PackagedEngines`."""
    made: list[Program] = []
    monkeypatch.setenv("SPECEXEC_MODELS", str(tmp_path / "models"))
    monkeypatch.setattr("app.window.core.EngineLink", lambda connect: EngineLink(PackagedEngines()))

    def begin() -> Program:
        program = Program(qapp, Arguments(), preferences, store)
        made.append(program)
        program.open_window()
        qtbot.waitExposed(program.window)
        return program

    yield begin
    for each in made:
        each.close_down()
        each.setup.close()
        each.updates.close()
        if each.window.engine.is_running:
            with qtbot.waitSignal(each.window.engine.ended):
                each.window.close()
        each.window.panel.begin()
        each.window.close()
        each.window.deleteLater()
        for part in (each.setup, each.updates):
            part.deleteLater()


@pytest.mark.skipif(sys.platform != "linux", reason="the remedy names Linux packages")
def test_a_machine_without_a_display_gets_a_remedy_and_status_1() -> None:
    environment = {**os.environ, "QT_QPA_PLATFORM": "no-such-platform"}
    run = subprocess.run(
        [sys.executable, "-m", "app"], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 1
    assert "specexec chat" in run.stderr
    assert "Traceback" not in run.stderr


def test_a_usage_error_gives_status_2() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "app", "--budget", "x"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 2


def test_the_window_imports_no_torch() -> None:
    heavy = "{'torch', 'transformers', 'accelerate'}"
    code = f"import sys, app.startup.application; assert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=60)


def test_without_a_runtime_the_window_opens_the_setup_and_then_starts_the_engine(
    setups: FakeSetups, program: Callable[[], Program], qtbot: QtBot
) -> None:
    begun = program()
    wizard, engine = begun.wizard, begun.window.engine
    qtbot.waitUntil(lambda: wizard.isVisible() and wizard.page is wizard.engine)
    qtbot.waitUntil(lambda: wizard.main.isEnabled())
    assert engine.state is State.LOST
    wizard.main.click()
    with qtbot.waitSignal(begun.setup.ended):
        setups.last.finish()
    qtbot.waitUntil(lambda: engine.state is State.READY)
    assert begun.window.transcript.notice is None


def test_a_setup_unloads_the_model_and_a_failed_one_loads_it_again(
    setups: FakeSetups, program: Callable[[], Program], qtbot: QtBot
) -> None:
    put_runtime("cpu")
    begun = program()
    engine = begun.window.engine
    qtbot.waitUntil(lambda: engine.state is State.READY)
    begun.window.composer.write("hello")
    begun.window.composer.sent.emit("hello", [])
    assert engine.state is State.ANSWERING
    begun.setup.begin(runtime.backends()["cpu"], Sources())
    qtbot.waitUntil(lambda: engine.state is State.UNLOADED)
    setups.last.fail(Unreachable("No network.", "Try again."))
    qtbot.waitUntil(lambda: engine.state is State.READY)


def test_the_engine_restarts_in_a_new_runtime(
    setups: FakeSetups, program: Callable[[], Program], qtbot: QtBot
) -> None:
    put_runtime("cpu")
    begun = program()
    engine = begun.window.engine
    qtbot.waitUntil(lambda: engine.state is State.READY)
    states: list[State] = []
    engine.state_changed.connect(states.append)
    begun.setup.begin(runtime.backends()["cuda"], Sources())
    qtbot.waitUntil(lambda: engine.state is State.UNLOADED)
    setups.last.finish()
    qtbot.waitUntil(lambda: engine.state is State.READY)
    assert State.STARTING in states
    assert not begun.wizard.isVisible() or begun.wizard.page is not begun.wizard.engine


def test_a_setup_continues_in_a_window_created_again(
    setups: FakeSetups, program: Callable[[], Program], qtbot: QtBot
) -> None:
    begun = program()
    old = begun.window
    qtbot.waitUntil(lambda: begun.wizard.main.isEnabled() and begun.wizard.page is begun.wizard.engine)
    begun.wizard.main.click()
    old.language_changed.emit()
    qtbot.waitUntil(lambda: begun.window is not old and begun.wizard.isVisible())
    assert begun.wizard.engine.view.progress.isVisible()
    setups.last.finish()
    qtbot.waitUntil(lambda: begun.window.engine.state is State.READY)


def test_the_picker_deletes_and_updates_models(
    setups: FakeSetups,
    program: Callable[[], Program],
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models/small.gguf").write_bytes(bytes(1024))
    monkeypatch.setattr(hub, "find_renewal", lambda *_: None)
    begun = program()
    window, picker = begun.window, begun.window.header.picker
    [stored] = hub.stored(tmp_path / "models")
    picker.update_asked.emit(stored)
    box = window.findChild(UpdateBox)
    qtbot.waitUntil(lambda: box.text() == "small.gguf is up to date.")
    box.close()
    picker.delete_asked.emit(stored)
    [asked] = [each for each in window.findChildren(QMessageBox) if each.isVisible()]
    delete = next(each for each in asked.findChildren(QPushButton) if each.text() == "Delete")
    delete.click()
    qtbot.waitUntil(lambda: not hub.stored(tmp_path / "models"))


def test_a_chat_is_opened_in_a_window_of_its_own_once(
    program: Callable[[], Program], setups: FakeSetups, store: Store, qtbot: QtBot
) -> None:
    begun = program()
    one, other = store.chats.add([chat("one", 0, "first"), chat("two", 1, "second")])
    begun.window.sidebar.refresh()
    begun.window.chat.open(one)
    begun.window.sidebar.view.setCurrentIndex(begun.window.sidebar.view.chats.index_of(other))
    begun.window.sidebar.menu.open_window.trigger()
    (second,) = [window for window in begun.window.core.windows if window is not begun.window]
    assert second.chat.id == other
    assert begun.window.chat.id == one
    assert begun.front is second
    begun.open_another(one)
    assert begun.front is begun.window
    assert len(begun.window.core.windows) == 2
    begun.show_window()
    second.window_asked.emit(None)
    assert [window.chat.id for window in begun.window.core.windows] == [other, one, None]
    for window in [*begun.window.core.windows]:
        if window is not begun.window:
            window.close()
    assert begun.front is begun.window


def test_an_exported_chat_is_opened(
    program: Callable[[], Program], store: Store, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "bread.specexec-chat"
    export_file(path, [chat("Bread", 1, "How long?", "An hour."), chat("Soup", 2, "How hot?", "Very.")])
    begun = program()
    begun.open_file(path)
    qtbot.waitUntil(lambda: begun.window.chat.id is not None, timeout=20_000)
    assert [each.message.text for each in begun.window.chat.shown] == ["How long?", "An hour."]
    assert {line.title for line in store.chats.recent(10)} == {"Bread", "Soup"}


def test_a_file_without_chats_is_reported(
    program: Callable[[], Program], tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "bad.specexec-chat"
    path.write_text("{")
    begun = program()
    with qtbot.waitSignal(begun.window.sidebar.failed, timeout=20_000) as told:
        begun.open_file(path)
    assert "bad.specexec-chat cannot be read" in told.args[0].message
    assert begun.window.chat.id is None


def test_a_second_start_passes_its_file_to_the_first_window(tmp_path: Path, qtbot: QtBot) -> None:
    first = SingleInstance(tmp_path)
    file = tmp_path / "a b ä\n.specexec-chat"
    with qtbot.waitSignals([first.raise_asked, first.file_asked], timeout=20_000):
        first.file_asked.connect(lambda path: asked.append(path))
        asked: list[Path] = []
        second = subprocess.Popen([sys.executable, "-c", SECOND, str(tmp_path), str(file)], cwd=ROOT)
    assert second.wait(20) == 0
    assert asked == [file]
    first.close()
