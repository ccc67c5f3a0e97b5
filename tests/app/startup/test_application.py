"""The application from the command line to a window, its engine and the files it opens."""

import os
import subprocess
import sys
import threading
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
from app.startup.application import Program, close_store
from app.startup.card_offer import CardNotice
from app.startup.single_instance import SingleInstance
from app.store import Store
from app.store.exchange import export_file
from app.window.arguments import Arguments
from engine import hub, runtime
from engine.protocol.messages import Failed
from engine.runtime import Sources, Unreachable
from tests.app.fake_engine import FakeEngines
from tests.app.runtime_setup.conftest import seen
from tests.app.runtime_setup.packaged import CARD, FakeSetups, package, put_runtime
from tests.app.sidebar.conftest import chat
from tests.app.store.made import PAIR, SETTINGS

__all__ = ["seen"]

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
    """Start a program whose engines are `FakeEngines`."""
    made: list[Program] = []
    monkeypatch.setenv("SPECEXEC_MODELS", str(tmp_path / "models"))
    monkeypatch.setattr("app.window.core.EngineLink", lambda connect: EngineLink(FakeEngines()))

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
        each.offers.close()
        each.updates.close()
        if each.window.engine.is_running:
            with qtbot.waitSignal(each.window.engine.ended):
                each.window.close()
        each.window.panel.begin()
        each.window.close()
        each.window.deleteLater()
        for part in (each.setup, each.offers, each.updates):
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


def test_without_a_runtime_the_window_chats_and_offers_the_card_in_the_background(
    setups: FakeSetups,
    program: Callable[[], Program],
    seen: Callable[..., None],
    qtbot: QtBot,
) -> None:
    seen(CARD)
    begun = program()
    wizard, engine = begun.wizard, begun.window.engine
    notice = begun.window.findChild(CardNotice)
    qtbot.waitUntil(lambda: engine.state is State.READY)
    assert not wizard.isVisible()
    qtbot.waitUntil(notice.isVisible)
    assert "GeForce RTX 4090" in notice.toolTip()
    notice.click()
    qtbot.waitUntil(lambda: wizard.page is wizard.engine and wizard.main.isEnabled())
    assert wizard.engine.view.chosen == runtime.backends()["cuda"]
    wizard.main.click()
    assert engine.state is State.READY
    assert notice.isVisible()
    with qtbot.waitSignal(begun.setup.ended):
        setups.last.finish()
    assert not notice.isVisible()
    qtbot.waitUntil(lambda: engine.state is State.READY)


def test_without_a_card_nothing_is_offered(
    setups: FakeSetups, program: Callable[[], Program], seen: Callable[..., None], qtbot: QtBot
) -> None:
    seen()
    begun = program()
    qtbot.waitUntil(lambda: not begun.offers.is_looking)
    assert begun.offers.proposal is None
    assert begun.window.findChild(CardNotice).isHidden()


def test_a_model_that_needs_torch_offers_the_setup(
    setups: FakeSetups, program: Callable[[], Program], qtbot: QtBot
) -> None:
    begun = program()
    engine = begun.window.engine
    qtbot.waitUntil(lambda: engine.state is State.READY)
    engine.pair = None
    missing = runtime.RuntimeMissing("The model x needs PyTorch, which is not set up.", "Set it up.")
    engine.load_failed.emit(Failed(request=1, kind=missing.kind, message=missing.message, hint=missing.hint))
    notice = begun.window.transcript.notice
    (button,) = [each for each in notice.findChildren(QPushButton) if each.text() == "Set up PyTorch"]
    button.click()
    assert begun.wizard.isVisible()
    assert begun.wizard.page is begun.wizard.engine


def test_without_the_included_model_another_is_offered(program: Callable[[], Program], qtbot: QtBot) -> None:
    """A wheel brings no model along."""
    begun = program()
    engine = begun.window.engine
    qtbot.waitUntil(lambda: engine.state is State.READY)
    engine.pair = None
    engine.load_failed.emit(
        Failed(request=1, kind="model_not_found", message="It is not installed.", hint="Get it.")
    )
    notice = begun.window.transcript.notice
    (button,) = [each for each in notice.findChildren(QPushButton) if each.text() == "Get a model"]
    button.click()
    assert begun.wizard.isVisible()
    assert begun.wizard.page is not begun.wizard.engine


def test_a_setup_lets_an_answer_go_on_and_rests_the_model_while_it_tests(
    setups: FakeSetups, program: Callable[[], Program], qtbot: QtBot
) -> None:
    put_runtime("cpu")
    begun = program()
    engine = begun.window.engine
    qtbot.waitUntil(lambda: engine.state is State.READY)
    begun.window.composer.sent.emit("hello", [])
    assert engine.state is State.ANSWERING
    begun.setup.begin(runtime.backends()["cpu"], Sources())
    with qtbot.waitSignal(begun.setup.testing):
        setups.last.say(stage="testing")
    assert engine.state is State.ANSWERING
    setups.last.fail(Unreachable("No network.", "Try again."))
    with qtbot.waitSignal(begun.setup.ended):
        pass
    assert engine.state is State.ANSWERING
    begun.window.core.engine.stop()
    qtbot.waitUntil(lambda: engine.state is State.READY)
    begun.setup.begin(runtime.backends()["cpu"], Sources())
    setups.last.say(stage="testing")
    qtbot.waitUntil(lambda: engine.state is State.IDLE)


def test_the_engine_restarts_in_a_new_runtime_once_the_answer_is_complete(
    setups: FakeSetups, program: Callable[[], Program], qtbot: QtBot
) -> None:
    put_runtime("cpu")
    begun = program()
    engine = begun.window.engine
    qtbot.waitUntil(lambda: engine.state is State.READY)
    begun.window.composer.sent.emit("hello", [])
    assert engine.state is State.ANSWERING
    begun.setup.begin(runtime.backends()["cuda"], Sources())
    with qtbot.waitSignal(begun.setup.ended):
        setups.last.finish()
    assert engine.state is State.ANSWERING
    states: list[State] = []
    engine.state_changed.connect(states.append)
    engine.stop()
    qtbot.waitUntil(lambda: State.STARTING in states and engine.state is State.READY)
    assert not begun.wizard.isVisible()


def test_a_setup_continues_in_a_window_created_again(
    setups: FakeSetups, program: Callable[[], Program], qtbot: QtBot
) -> None:
    begun = program()
    old = begun.window
    begun.wizard.begin_setup()
    qtbot.waitUntil(begun.wizard.main.isEnabled)
    begun.wizard.main.click()
    old.language_changed.emit()
    qtbot.waitUntil(lambda: begun.window is not old and begun.window.isVisible())
    begun.wizard.begin_setup()
    assert begun.wizard.engine.view.progress.isVisible()
    setups.last.finish()
    qtbot.waitUntil(lambda: begun.window.engine.state is State.READY)


def test_changed_settings_reach_the_open_wizard(
    setups: FakeSetups, program: Callable[[], Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, followed = program(), []
    core = begun.window.core
    monkeypatch.setattr(begun.wizard.survey, "follow_settings", lambda: followed.append(True))
    core.preferences_changed.emit(core.preferences.now)
    assert not followed, "a closed one predicts anew when it is opened"
    begun.wizard.begin_setup()
    core.preferences_changed.emit(core.preferences.now)
    assert followed


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


def test_the_program_ends_also_if_the_last_text_cannot_be_saved(
    store: Store, full: threading.Event, caplog: pytest.LogCaptureFixture
) -> None:
    question = store.messages.ask(store.chats.create(SETTINGS), "Tell a story.")
    store.messages.answer(question, SETTINGS, PAIR).add("Once upon")
    full.set()
    close_store(store)
    assert "the last text could not be saved: The disk is full." in caplog.text
    assert not store.messages.under_way()
