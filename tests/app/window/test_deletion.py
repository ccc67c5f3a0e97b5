"""Messages are deleted in the window, with undo."""

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.rendering.message_actions import Action
from app.sidebar.note_bar import NoteBar
from app.store import Store
from app.window.window import Window
from engine.protocol import messages
from tests.app.conversation.test_find import chat_of
from tests.app.fake_engine import FakeEngines, answer


def press(window: Window, place: int, action: Action) -> None:
    window.transcript.rows[place].view.action_row.buttons[action].click()


def texts(window: Window) -> list[str]:
    return [row.view.text for row in window.transcript.rows]


def note(window: Window) -> NoteBar:
    return next(bar for bar in window.findChildren(NoteBar) if bar.isVisible())


def test_a_deleted_answer_leaves_its_question_to_be_answered_and_can_be_brought_back(
    window: Window, engines: FakeEngines, store: Store, qtbot: QtBot
) -> None:
    window.chat.open(store.chats.add([chat_of("why?", "because", "really?", "yes")])[0])
    press(window, 1, Action.DELETE)
    assert texts(window) == ["why?"]
    assert note(window).text == "Deleted 3 messages"
    qtbot.keyClick(window.transcript, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert texts(window) == ["why?", "because", "really?", "yes"]
    press(window, 3, Action.DELETE)
    assert note(window).text == "Deleted 1 message"
    press(window, 2, Action.REGENERATE)
    request = engines.last.asked(messages.Chat)[-1]
    assert [m.content for m in request.messages] == ["why?", "because", "really?"]
    engines.last.say(answer(request.id, "no"))
    qtbot.waitUntil(lambda: texts(window)[-1] == "no")


def test_undo_comes_back_to_the_chat(window: Window, store: Store) -> None:
    first, second = store.chats.add([chat_of("one", "1"), chat_of("two", "2")])
    window.chat.open(first)
    press(window, 0, Action.DELETE)
    assert texts(window) == []
    window.chat.open(second)
    note(window).press()
    assert window.chat.id == first
    assert texts(window) == ["one", "1"]
