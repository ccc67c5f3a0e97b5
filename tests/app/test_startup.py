"""From the command line to a window, its engine, and the files it is given."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.arguments import Arguments
from app.engine import State
from app.engine_link import EngineLink
from app.preferences import PreferencesFile
from app.single_instance import SingleInstance
from app.startup import Program
from app.store import Store
from app.store.exchange import export_file
from app.wizard import engine_setup
from engine import launching, runtime
from engine.runtime import Sources, Unreachable
from tests.app.fake_engine import FakeConnection, FakeEngines
from tests.app.sidebar.conftest import chat
from tests.app.wizard.packaged import FakeSetups, package, put_runtime

ROOT = Path(__file__).parents[2]
SECOND = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from app.single_instance import SingleInstance
app = QCoreApplication([])
second = SingleInstance(Path(sys.argv[1]))
sys.exit(0 if not second.is_first and second.raise_first(Path(sys.argv[2])) else 1)
"""


class PackagedEngines(FakeEngines):
    """They start where there is a runtime."""

    def __call__(self) -> FakeConnection:
        launching.command("engine.process")
        return super().__call__()


@pytest.fixture
def setups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeSetups]:
    """The program is a packaged one, without a runtime."""
    package(tmp_path, monkeypatch)
    made = FakeSetups()
    monkeypatch.setattr(engine_setup, "Setup", made)
    monkeypatch.setattr(engine_setup, "POLL_MS", 5)
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
    """A program that is begun; its engines are `PackagedEngines`."""
    made: list[Program] = []
    monkeypatch.setenv("SPECEXEC_MODELS", str(tmp_path / "models"))
    monkeypatch.setattr("app.window.EngineLink", lambda: EngineLink(PackagedEngines()))

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


def test_bad_usage_is_status_2() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "app", "--budget", "x"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 2


def test_the_window_imports_no_torch() -> None:
    code = "import sys, app.startup; assert not {'torch', 'transformers', 'accelerate'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=60)


def test_without_a_runtime_the_window_leads_to_its_set_up_and_then_starts_the_engine(
    setups: FakeSetups, program: Callable[[], Program], qtbot: QtBot
) -> None:
    begun = program()
    wizard, engine = begun._wizard, begun.window.engine
    qtbot.waitUntil(lambda: wizard.isVisible() and wizard.page is wizard.engine)
    qtbot.waitUntil(lambda: wizard.main.isEnabled())
    assert engine.state is State.LOST
    wizard.main.click()
    with qtbot.waitSignal(begun.setup.ended):
        setups.last.finish()
    qtbot.waitUntil(lambda: engine.state is State.READY)
    assert begun.window.transcript._notice is None


def test_a_set_up_has_the_memory_to_itself_and_the_old_engine_comes_back_where_it_fails(
    setups: FakeSetups, program: Callable[[], Program], qtbot: QtBot
) -> None:
    put_runtime("cpu")
    begun = program()
    engine = begun.window.engine
    qtbot.waitUntil(lambda: engine.state is State.READY)
    begun.window.composer.write("hello")
    begun.window.composer.sent.emit("hello")
    assert engine.state is State.ANSWERING
    begun.setup.begin(runtime.backends()["cpu"], Sources())
    qtbot.waitUntil(lambda: engine.state is State.UNLOADED)
    setups.last.fail(Unreachable("No network.", "Try again."))
    qtbot.waitUntil(lambda: engine.state is State.READY)


def test_an_engine_starts_anew_in_the_runtime_that_was_set_up(
    setups: FakeSetups, program: Callable[[], Program], qtbot: QtBot
) -> None:
    put_runtime("cpu")
    begun = program()
    engine = begun.window.engine
    qtbot.waitUntil(lambda: engine.state is State.READY)
    before = engine._link._reader
    begun.setup.begin(runtime.backends()["cuda"], Sources())
    qtbot.waitUntil(lambda: engine.state is State.UNLOADED)
    setups.last.finish()
    qtbot.waitUntil(lambda: engine.state is State.READY)
    assert engine._link._reader is not before
    assert not begun._wizard.isVisible() or begun._wizard.page is not begun._wizard.engine


def test_a_set_up_goes_on_in_a_window_made_anew(
    setups: FakeSetups, program: Callable[[], Program], qtbot: QtBot
) -> None:
    begun = program()
    old = begun.window
    qtbot.waitUntil(lambda: begun._wizard.main.isEnabled() and begun._wizard.page is begun._wizard.engine)
    begun._wizard.main.click()
    old.language_changed.emit()
    qtbot.waitUntil(lambda: begun.window is not old and begun._wizard.isVisible())
    assert begun._wizard.engine.view.progress.isVisible()
    setups.last.finish()
    qtbot.waitUntil(lambda: begun.window.engine.state is State.READY)


def test_a_chat_that_was_exported_is_opened(
    program: Callable[[], Program], store: Store, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "bread.specexec-chat"
    export_file(path, [chat("Bread", 1, "How long?", "An hour."), chat("Soup", 2, "How hot?", "Very.")])
    begun = program()
    begun.open_file(path)
    qtbot.waitUntil(lambda: begun.window.chat.id is not None, timeout=20_000)
    assert [each.message.text for each in begun.window.chat.shown] == ["How long?", "An hour."]
    assert {line.title for line in store.chats.recent(10)} == {"Bread", "Soup"}


def test_a_file_that_holds_no_chat_is_named(
    program: Callable[[], Program], tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "bad.specexec-chat"
    path.write_text("{")
    begun = program()
    with qtbot.waitSignal(begun.window.sidebar.trouble, timeout=20_000) as told:
        begun.open_file(path)
    assert "bad.specexec-chat cannot be read" in told.args[0].message
    assert begun.window.chat.id is None


def test_a_second_start_hands_its_file_to_the_first_window(tmp_path: Path, qtbot: QtBot) -> None:
    first = SingleInstance(tmp_path)
    file = tmp_path / "a b ä\n.specexec-chat"
    with qtbot.waitSignals([first.raise_asked, first.file_asked], timeout=20_000):
        first.file_asked.connect(lambda path: asked.append(path))
        asked: list[Path] = []
        second = subprocess.Popen([sys.executable, "-c", SECOND, str(tmp_path), str(file)], cwd=ROOT)
    assert second.wait(20) == 0
    assert asked == [file]
    first.close()
