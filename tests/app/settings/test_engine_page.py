"""The engine page: repairing and replacing the runtime."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.background import Work
from app.local_server.local_server import LocalServer
from app.preferences import PreferencesFile
from app.runtime_setup import setup_job
from app.runtime_setup.setup_job import EngineSetup
from app.settings import program_options
from app.settings.dialog import SettingsDialog
from app.settings.engine_page import EnginePage
from app.store import ChatSettings, Store
from app.widgets.form_parts import Facts
from engine import machine, runtime
from engine.launch import interpreter
from engine.machine import Gpu
from engine.runtime import RuntimeRefused
from engine.updates import Package
from tests.app.runtime_setup.packaged import FakeSetups, package, put_runtime
from tests.app.shared_fixtures import machine as described

CARD = Gpu("nvidia", "GeForce RTX 4090", driver="581.20")


@pytest.fixture(autouse=True)
def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    package(tmp_path, monkeypatch)
    monkeypatch.setattr(setup_job, "POLL_MS", 5)
    seen = described(cards=(CARD,))
    monkeypatch.setattr(machine, "probe", lambda folder: seen)
    put_runtime("cpu")
    yield
    runtime.backends.cache_clear()


@pytest.fixture
def setups(monkeypatch: pytest.MonkeyPatch) -> FakeSetups:
    made = FakeSetups()
    monkeypatch.setattr(setup_job, "Setup", made)
    return made


@pytest.fixture
def file(tmp_path: Path) -> PreferencesFile:
    return PreferencesFile(tmp_path / "settings.toml")


@pytest.fixture
def setup(file: PreferencesFile, qapp: QApplication) -> Iterator[EngineSetup]:
    """The program's one set-up."""
    made = EngineSetup(file, qapp)
    yield made
    made.close()
    made.setParent(None)
    made.deleteLater()


@pytest.fixture
def page(setups: FakeSetups, setup: EngineSetup, qtbot: QtBot) -> Iterator[EnginePage]:
    made = EnginePage(setup)
    qtbot.addWidget(made)
    made.show()
    qtbot.waitUntil(lambda: made.findChild(Facts).isVisible() and made.view.chosen is not None)
    yield made
    made.findChild(Work).close()


def said(page: EnginePage) -> str:
    return " ".join(each.text() for each in page.findChildren(QLabel) if each.isVisible())


def test_the_runtime_in_use_is_shown_and_can_be_repaired(
    page: EnginePage, setup: EngineSetup, setups: FakeSetups, qtbot: QtBot
) -> None:
    text = said(page)
    for part in ("Processor (CPU)", "2.13.0+cpu", str(interpreter.runtimes_folder() / "cpu-1")):
        assert part in text
    assert "earlier version" not in text
    assert page.main.text() == "Repair"
    qtbot.keyClick(page.main, Qt.Key.Key_Space)
    assert setups.last.backend.name == "cpu"
    assert not page.main.isEnabled()
    with qtbot.waitSignal(setup.ended):
        setups.last.finish()
    assert page.main.isEnabled()
    assert page.view.choosing.isVisible()


def test_another_backend_replaces_the_runtime_only_after_a_successful_set_up(
    page: EnginePage, setup: EngineSetup, setups: FakeSetups, qtbot: QtBot
) -> None:
    qtbot.keyClick(page.view.backends, Qt.Key.Key_Up)
    assert page.main.text() == "Switch to this engine"
    qtbot.keyClick(page.main, Qt.Key.Key_Space)
    with qtbot.waitSignal(setup.ended):
        setups.last.fail(RuntimeRefused("It does not work here.", "Update the driver."))
    assert "It does not work here. Update the driver." in said(page)
    assert "2.13.0+cpu" in said(page)
    qtbot.keyClick(page.view.progress.resume, Qt.Key.Key_Space)
    with qtbot.waitSignal(setup.ended):
        setups.last.finish()
    qtbot.waitUntil(lambda: "2.13.0+cu130" in said(page))
    assert page.main.text() == "Repair"


def test_a_runtime_from_an_earlier_version_asks_for_a_repair(page: EnginePage, qtbot: QtBot) -> None:
    (interpreter.requirements_folder() / "torch-cpu.txt").write_text("torch==2.14.0")
    page.hide()
    page.show()
    qtbot.waitUntil(lambda: "from an earlier version; repair it" in said(page))


def test_a_packaged_program_has_the_engine_page_and_enter_presses_no_button_there(
    file: PreferencesFile,
    setups: FakeSetups,
    setup: EngineSetup,
    server: LocalServer,
    tmp_path: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    released = Package("deb", "1.2.3", releases="https://releases.test", public_key="ab" * 32)
    monkeypatch.setattr(program_options, "this_package", lambda: released)
    store = Store(tmp_path / "conversations.sqlite")
    dialog = SettingsDialog(file, store, ChatSettings(), server)
    qtbot.addWidget(dialog)
    dialog.show()
    titles = [dialog.tabs.tabText(place) for place in range(dialog.tabs.count())]
    dialog.tabs.setCurrentIndex(titles.index("Engine"))
    page = dialog.findChild(EnginePage)
    assert page is not None
    qtbot.waitUntil(lambda: page.main.text() == "Repair")
    page.view.network.click()
    pressed: list[bool] = []
    for button in dialog.findChildren(QPushButton):
        button.clicked.connect(pressed.append)
    page.view.sources.mirror.setFocus()
    qtbot.keyClick(page.view.sources.mirror, Qt.Key.Key_Return)
    assert pressed == []
    assert not dialog.appearance_page.rows["updates"].editor.focus.isChecked()  # type: ignore[attr-defined]

    monkeypatch.setattr(interpreter, "is_packaged", lambda: False)
    monkeypatch.setattr(program_options, "this_package", lambda: None)
    checkout = SettingsDialog(file, store, ChatSettings(), server)
    qtbot.addWidget(checkout)
    assert checkout.findChild(EnginePage) is None
    assert "updates" not in checkout.appearance_page.rows
    page.findChild(Work).close()
    store.close()
