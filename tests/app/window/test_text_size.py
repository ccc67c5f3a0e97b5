"""The size and the fonts of text, which follow the preferences in the whole program."""

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.conversation.transcript import COLUMN_WIDTH
from app.panel.stepper import Stepper
from app.preferences import PreferencesFile
from app.sidebar.note_bar import NoteBar
from app.store import Store
from app.widgets import theme, typography
from app.widgets.typography import Typography
from app.window.window import Window
from tests.app.conversation.test_find import chat_of

Key, Control = Qt.Key, Qt.KeyboardModifier.ControlModifier


@pytest.fixture(autouse=True)
def usual_text(qapp: QApplication) -> Iterator[None]:
    yield
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)  # the closed windows
    theme.enlarge(qapp, 100)
    typography.choose(Typography())


def turn(window: Window, angle: int, held: Qt.KeyboardModifier) -> None:
    at = QPointF(40, 40)
    none = Qt.MouseButton.NoButton
    phase = Qt.ScrollPhase.NoScrollPhase
    event = QWheelEvent(at, at, QPoint(), QPoint(0, angle), none, held, phase, False)
    QApplication.sendEvent(window.transcript.viewport(), event)


def test_keys_change_the_size_of_all_text_and_it_is_kept(
    window: Window, store: Store, preferences: PreferencesFile, qtbot: QtBot
) -> None:
    window.chat.open(store.chats.add([chat_of("a question", "an answer with `code`")])[0])
    view = window.transcript.rows[1].view
    qtbot.waitUntil(lambda: "code" in view.body.toPlainText())
    question = window.transcript.rows[0].view.body
    usual = {
        "question": question.height(),
        "window": window.font().pointSizeF(),
        "answer": view.body.document().defaultFont().pixelSize(),
        "button": view.action_row.copy.sizeHint().height(),
    }
    for _ in range(4):
        qtbot.keyClick(window, Key.Key_Plus, Control)
    assert preferences.now.zoom == 175
    assert window.font().pointSizeF() == pytest.approx(1.75 * usual["window"])
    qtbot.waitUntil(lambda: view.body.document().defaultFont().pixelSize() > 1.6 * usual["answer"])
    assert question.height() > 1.6 * usual["question"], "its text is not cut"
    assert view.action_row.copy.sizeHint().height() > 1.3 * usual["button"]
    assert "Text size: 175%" in [bar.text for bar in window.findChildren(NoteBar)]
    column = window.transcript.widget().layout().itemAt(0).widget()
    assert column.maximumWidth() == round(1.75 * COLUMN_WIDTH)
    qtbot.keyClick(window, Key.Key_Minus, Control)
    assert preferences.now.zoom == 150
    qtbot.keyClick(window, Key.Key_0, Control)
    assert preferences.now.zoom == 100
    assert window.font().pointSizeF() == usual["window"]
    qtbot.waitUntil(lambda: view.body.document().defaultFont().pixelSize() == usual["answer"])
    assert PreferencesFile(preferences.path).now.zoom == 100


def test_the_wheel_with_ctrl_changes_the_size_by_whole_notches(
    window: Window, preferences: PreferencesFile
) -> None:
    turn(window, 120, Qt.KeyboardModifier.NoModifier)
    assert preferences.now.zoom == 100
    turn(window, 120, Control)
    assert preferences.now.zoom == 110
    for _ in range(4):  # a touchpad
        turn(window, -30, Control)
    assert preferences.now.zoom == 100


def test_the_smallest_and_the_largest_size_stay(
    window: Window, preferences: PreferencesFile, qtbot: QtBot
) -> None:
    preferences.change(zoom=300)
    qtbot.keyClick(window, Key.Key_Equal, Control)
    assert preferences.now.zoom == 300
    preferences.change(zoom=50)
    qtbot.keyClick(window, Key.Key_Minus, Control)
    assert preferences.now.zoom == 50


def test_messages_and_code_have_the_fonts_that_are_preferred(
    make_window: Callable[..., Window],
    engines: object,
    store: Store,
    preferences: PreferencesFile,
    qtbot: QtBot,
) -> None:
    preferences.change(chat_font="Letters", code_font="Typewriter")
    window = make_window(engines)
    window.chat.open(store.chats.add([chat_of("a question", "an answer with `code`")])[0])
    question, answer = (row.view for row in window.transcript.rows)
    qtbot.waitUntil(lambda: "code" in answer.body.toPlainText())
    found = answer.body.document().find("code")
    assert found.charFormat().font().family() == "Typewriter"
    assert question.body.font().family() == answer.body.document().defaultFont().family() == "Letters"
    assert window.font().family() != "Letters"
    window.settings.apply(preferences.now.__class__())
    assert question.body.font().family() != "Letters"
    qtbot.waitUntil(lambda: answer.body.document().find("code").charFormat().font().family() != "Typewriter")


PADDING = 20  # beside a sign of the panel, with the border, as the style sheet has it


def test_the_signs_of_the_panel_are_whole_in_large_text(
    window: Window, qapp: QApplication, qtbot: QtBot
) -> None:
    window.header.panel_switch.setChecked(True)
    pause = window.panel.findChild(Stepper).pause
    qtbot.waitUntil(pause.isVisible)

    def room() -> int:
        return pause.width() - pause.fontMetrics().horizontalAdvance(pause.text())

    usual = pause.width()
    theme.enlarge(qapp, 200)
    qtbot.waitUntil(lambda: pause.width() > usual)
    assert room() >= PADDING
    large = pause.width()
    theme.enlarge(qapp, 100)
    qtbot.waitUntil(lambda: pause.width() < large)
    assert room() >= PADDING
