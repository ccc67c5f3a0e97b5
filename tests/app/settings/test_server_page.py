"""The page of the local server: what it shows in each state, and what its controls do."""

import threading

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from app.local_server import server_key
from app.local_server.local_server import LocalServer, ServerState
from app.preferences import Preferences, PreferencesFile, ServerPreferences
from app.settings import server_card
from app.settings.dialog import SettingsDialog
from app.settings.editors import ChoiceEditor, SwitchEditor, WholeEditor
from app.settings.server_page import ServerPage
from app.store import ChatSettings, Store
from engine.errors import DiskProblem, EngineGone
from engine.secret import SERVICE
from tests.engine.hub.conftest import MemoryKeyring, own_keyring

__all__ = ["own_keyring"]

KEY = "sk-a-secret"
PLACE = SERVICE, server_key.ACCOUNT


@pytest.fixture
def page(server: LocalServer, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> ServerPage:
    monkeypatch.setattr(server_card, "answered", lambda address, key: 7)
    made = ServerPage(server, Preferences())
    qtbot.addWidget(made)
    made.show()
    return made


def run(server: LocalServer, key: str = "") -> None:
    server.address, server.key, server.error = "http://127.0.0.1:8484/v1", key, None
    server._enter(ServerState.RUNNING)


def test_a_running_server_shows_its_address_and_hides_its_key(page: ServerPage, server: LocalServer) -> None:
    assert page.card.address.isHidden()
    run(server, KEY)
    assert page.card.switch.isChecked()
    assert "Running" in page.card.state.text()
    page.card.address.copy.click()
    assert QGuiApplication.clipboard().text() == "http://127.0.0.1:8484/v1"
    assert page.card.key.line.echoMode() is QLineEdit.EchoMode.Password
    assert KEY not in page.card.key.line.displayText()
    assert KEY not in page.card.key.line.toolTip()
    page.card.key.copy.click()
    assert QGuiApplication.clipboard().text() == KEY


def test_the_example_shows_dots_and_copies_the_key(page: ServerPage, server: LocalServer) -> None:
    run(server, KEY)
    for language in ("Python", "curl"):
        page.language.setCurrentText(language)
        assert KEY not in page.example.toPlainText()
        assert "http://127.0.0.1:8484/v1" in page.example.toPlainText()
        page.copy.click()
        assert KEY in QGuiApplication.clipboard().text()


def test_the_number_of_answered_requests_is_shown(
    page: ServerPage, server: LocalServer, qtbot: QtBot
) -> None:
    run(server)
    page.card._count()
    qtbot.waitUntil(lambda: "7" in page.card.state.text())


def test_a_failure_is_shown_and_can_be_tried_again(
    page: ServerPage, server: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []
    monkeypatch.setattr(server, "_launch", lambda: started.append(True))
    server._fail(EngineGone("The port is taken.", "Choose another."))
    assert "The port is taken." in page.card.problem.message
    assert not page.card.switch.isChecked()
    server._engine.state = server._engine.state.READY
    page.card.switch.click()
    assert started
    assert not page.card.problem.message


def test_changes_wait_for_a_restart(page: ServerPage, server: LocalServer, qtbot: QtBot) -> None:
    run(server)
    assert page.card.restart.isHidden()
    port = page.form.rows["server.port"].editor
    assert isinstance(port, WholeEditor)
    with qtbot.waitSignal(page.changed):
        port.box.setValue(9000)
    assert not page.card.restart.isHidden()
    start = page.form.rows["server.starts_with_window"].editor
    assert isinstance(start, SwitchEditor)
    with qtbot.waitSignal(page.changed):
        port.box.setValue(8484)
    start.box.click()
    assert page.card.restart.isHidden()


def test_an_address_for_others_forces_the_key(page: ServerPage, qtbot: QtBot) -> None:
    address, key = (page.form.rows[f"server.{name}"].editor for name in ("address", "needs_key"))
    assert isinstance(address, ChoiceEditor)
    assert isinstance(key, SwitchEditor)
    address.offer([("127.0.0.1", "this"), ("192.168.1.5", "others")])
    assert key.isEnabled()
    assert not key.box.isChecked()
    address.box.setCurrentIndex(1)
    address.box.activated.emit(1)
    assert not key.isEnabled()
    assert key.box.isChecked()
    assert not page.form.value.server.needs_key  # what the user chose is kept for this machine


def test_another_key_is_made_without_blocking_the_page(
    page: ServerPage,
    server: LocalServer,
    qtbot: QtBot,
    own_keyring: MemoryKeyring,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    restarts: list[bool] = []
    monkeypatch.setattr(server, "restart", lambda: restarts.append(True))
    goes_on, kept = threading.Event(), own_keyring.kept
    monkeypatch.setattr(
        own_keyring, "get_password", lambda *_: goes_on.wait(60) and own_keyring.kept.get(PLACE)
    )
    run(server, KEY)
    page.card.renew.click()
    assert not page.card.renew.isEnabled()
    assert not restarts
    goes_on.set()
    qtbot.waitUntil(lambda: bool(restarts), timeout=20_000)
    assert page.card.renew.isEnabled()
    assert kept[PLACE] != KEY


def test_a_key_that_cannot_be_made_is_said(
    page: ServerPage, server: LocalServer, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> server_key.ServerKey:
        raise DiskProblem("The disk is full.", "Delete files.")

    monkeypatch.setattr("app.local_server.local_server.new_key", fail)
    run(server, KEY)
    page.card.renew.click()
    qtbot.waitUntil(lambda: "The disk is full." in page.card.problem.message, timeout=20_000)
    assert page.card.renew.isEnabled()


def test_a_key_in_a_file_is_said(page: ServerPage, server: LocalServer) -> None:
    run(server, KEY)
    assert page.card.in_file.isHidden()
    server.is_key_in_file = True
    server.changed.emit()
    assert not page.card.in_file.isHidden()


def test_a_locked_keyring_offers_to_start_again_and_a_new_key(page: ServerPage, server: LocalServer) -> None:
    assert page.card.renew.isHidden()
    server._fail(server_key.KeyringStaysLocked("The keyring stays locked.", "Unlock it."))
    assert "stays locked" in page.card.problem.message
    assert not page.card.renew.isHidden()


def test_the_dialog_keeps_the_options(
    server: LocalServer, preferences: PreferencesFile, store: Store, qtbot: QtBot
) -> None:
    dialog = SettingsDialog(preferences, store, ChatSettings(), server)
    qtbot.addWidget(dialog)
    dialog.show_page("server_page")
    dialog.show()
    assert dialog.server_page.isVisible()
    key = dialog.server_page.form.rows["server.needs_key"].editor
    assert isinstance(key, SwitchEditor)
    with qtbot.waitSignal(dialog.preferences_changed):
        key.box.click()
    assert PreferencesFile(preferences.path).now.server == ServerPreferences(needs_key=True)
