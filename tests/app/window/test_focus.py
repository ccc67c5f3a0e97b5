"""The focus goes to where the next thing is written, and what is typed elsewhere is written there."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.store import Store
from app.window.window import Window
from tests.app.fake_engine import FakeEngines, answer
from tests.app.store.made import SETTINGS
from tests.app.window.test_window import ask, reach


@pytest.fixture
def answered(window: Window, engines: FakeEngines, qtbot: QtBot) -> Window:
    """A window with one question and its answer."""
    engines.last.say(answer(ask(window, engines, qtbot), "An answer."))
    reach(window, qtbot, State.READY)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return window


def test_a_chat_that_is_chosen_is_ready_to_be_written_in(
    answered: Window, store: Store, qtbot: QtBot
) -> None:
    other = store.chats.create(SETTINGS)
    answered.sidebar.refresh()
    view = answered.sidebar.view
    view.setFocus()
    row = view.visualRect(view.chats.index_of(other))
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=row.center())
    assert answered.chat.id == other
    assert answered.composer.editor.hasFocus()


def test_a_branch_is_ready_to_be_written_in(answered: Window) -> None:
    answered.transcript.setFocus()
    answered.transcript.branch_asked.emit(answered.chat.shown[-1].message.id)
    assert len(answered.chat.shown) == 2
    assert answered.composer.editor.hasFocus()


def test_after_a_restart_the_composer_has_the_focus(
    answered: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    engines.last.die()
    reach(answered, qtbot, State.LOST)
    notice = answered.transcript.notice
    assert notice is not None
    restart = notice.findChildren(QPushButton)[0]
    restart.setFocus()
    restart.click()
    assert answered.composer.editor.hasFocus()


PLACES: dict[str, Callable[[Window], QWidget]] = {
    "transcript": lambda window: window.transcript,
    "answer": lambda window: window.transcript.rows[-1].view.body,  # type: ignore[union-attr]
    "chats": lambda window: window.sidebar.view,
    "header": lambda window: window.header.panel_switch,
    "panel": lambda window: window.panel.tree,
}


@pytest.mark.parametrize("place", PLACES)
def test_what_is_typed_is_written_into_the_composer(answered: Window, qtbot: QtBot, place: str) -> None:
    before = answered.chat.id
    focused = PLACES[place](answered)
    focused.setFocus()
    assert focused.hasFocus()
    qtbot.keyClick(focused, "h")
    assert answered.composer.editor.hasFocus()
    qtbot.keyClicks(answered.composer.editor, "ello")
    assert answered.composer.text() == "hello"
    assert answered.chat.id == before


@pytest.mark.parametrize("held", [Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier])
def test_shortcuts_and_spaces_are_not_typed(
    answered: Window, qtbot: QtBot, held: Qt.KeyboardModifier
) -> None:
    answered.transcript.setFocus()
    qtbot.keyClick(answered.transcript, Qt.Key.Key_J, held)
    qtbot.keyClick(answered.transcript, Qt.Key.Key_Space)
    assert answered.composer.text() == ""
    assert answered.transcript.hasFocus()


def test_tab_goes_through_the_buttons_above_the_list_of_chats(window: Window, qtbot: QtBot) -> None:
    header = window.sidebar.header
    window.header.settings.setFocus()
    assert window.sidebar.view.isHidden(), "there is no chat yet"
    for button in (header.new_chat, header.search, header.more):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        assert button.hasFocus()
