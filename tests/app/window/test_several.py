"""Several windows of one program: they share the engine, and each shows a chat of its own."""

import threading
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit
from pytestqt.qtbot import QtBot
from shiboken6 import Shiboken

from app.connection.engine import State
from app.documents.records import Document
from app.preferences import PreferencesFile
from app.rendering.message_actions import Action
from app.store import Store, UnsentMessage
from app.store.unsent import Unsent
from app.window.window import Window
from engine.protocol import messages
from tests.app.conversation.test_find import chat_of
from tests.app.fake_engine import FakeEngines, answer
from tests.app.window.test_unsent import damaged
from tests.app.window.test_window import ask, delta, failure, last_answer, last_request, notice_text

Key = Qt.Key


@pytest.fixture
def other(window: Window, qtbot: QtBot) -> Iterator[Callable[[], Window]]:
    """Open further windows of the same program."""
    made: list[Window] = []

    def open_another() -> Window:
        another = Window(window.core, is_first=False)
        made.append(another)
        with qtbot.waitActive(another):
            another.start()
            another.bring_up()
        return another

    yield open_another
    for each in made:
        if Shiboken.isValid(each):
            each.close()
            each.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def texts(window: Window) -> list[str]:
    return [row.view.text for row in window.transcript.rows]


def opened(store: Store, *windows: Window) -> int:
    """Show a new chat in these windows. Return its id."""
    (chat,) = store.chats.add([chat_of("why?", "because")])
    for each in windows:
        each.chat.open(chat)
    return chat


def test_questions_of_both_windows_queue_and_each_answer_is_shown_in_its_own(
    window: Window, other: Callable[[], Window], engines: FakeEngines, qtbot: QtBot
) -> None:
    second = other()
    assert second.header.model.text() == window.header.model.text()
    assert len(engines.made) == 1, "one engine"
    one = ask(window, engines, qtbot, "first?")
    ask(second, engines, qtbot, "second?")
    assert len(engines.last.asked(messages.Chat)) == 1
    assert [waiting.text for waiting in second.chat.waiting] == ["second?"]
    assert second.waiting.isVisible()
    assert window.waiting.isVisible()
    assert window.composer.can_stop
    assert not second.composer.can_stop, "what is answered is in the other window"
    engines.last.say(delta(one, "One"))
    qtbot.waitUntil(lambda: window.transcript.answer.text == "One")
    assert texts(second) == []
    engines.last.say(answer(one, "One."))
    qtbot.waitUntil(lambda: len(engines.last.asked(messages.Chat)) == 2)
    engines.last.say(answer(last_request(engines), "Two."))
    qtbot.waitUntil(lambda: window.engine.state is State.READY)
    assert texts(window) == ["first?", "One."]
    assert texts(second) == ["second?", "Two."]
    assert not window.waiting.isVisible()


def test_a_chat_that_two_windows_show_is_the_same_in_both(
    window: Window, other: Callable[[], Window], engines: FakeEngines, store: Store, qtbot: QtBot
) -> None:
    chat = store.chats.add([chat_of("why?", "because", "really?", "yes")])[0]
    second = other()
    window.chat.open(chat)
    second.chat.open(chat)
    request = ask(window, engines, qtbot, "more")
    engines.last.say(delta(request, "Much"))
    qtbot.waitUntil(lambda: texts(second)[-2:] == ["more", "Much"])
    assert second.composer.can_stop
    engines.last.say(answer(request, "Much more."))
    qtbot.waitUntil(lambda: last_answer(second).action_row.isVisible())
    second.transcript.rows[2].view.action_row.buttons[Action.DELETE].click()
    assert texts(window) == texts(second) == ["why?", "because"]


def test_a_failure_and_questions_given_back_appear_where_their_chat_is(
    window: Window, other: Callable[[], Window], engines: FakeEngines, qtbot: QtBot
) -> None:
    second = other()
    request = ask(second, engines, qtbot, "too long")
    ask(second, engines, qtbot, "and then")
    engines.last.say(failure(request))
    qtbot.waitUntil(lambda: second.transcript.notice is not None)
    assert "Too long." in notice_text(second)
    assert window.transcript.notice is None
    assert second.composer.editor.toPlainText() == "and then"
    assert window.composer.editor.toPlainText() == ""


def test_a_chat_deleted_in_one_window_is_left_by_the_other(
    window: Window, other: Callable[[], Window], store: Store
) -> None:
    chat = store.chats.add([chat_of("why?", "because")])[0]
    second = other()
    window.chat.open(chat)
    second.chat.open(chat)
    window.sidebar.chat_deleted.emit(chat)
    assert second.chat.id is None
    assert window.chat.id is None


def test_closing_one_window_leaves_the_other_and_its_answer(
    window: Window,
    other: Callable[[], Window],
    engines: FakeEngines,
    preferences: PreferencesFile,
    qtbot: QtBot,
) -> None:
    second = other()
    second.resize(640, 500)
    request = ask(second, engines, qtbot, "goes on?")
    chat = second.chat.id
    with qtbot.waitSignal(second.left):
        qtbot.keyClick(second, Key.Key_W, Qt.KeyboardModifier.ControlModifier)
    assert window.isVisible()
    assert not engines.last.closed.is_set()
    second.deleteLater()
    QCoreApplication.sendPostedEvents(second, QEvent.Type.DeferredDelete.value)
    engines.last.say(delta(request, "Yes"), answer(request, "Yes."))
    qtbot.waitUntil(lambda: window.engine.state is State.READY)
    window.chat.open(chat)
    assert texts(window) == ["goes on?", "Yes."]
    assert PreferencesFile(preferences.path).now.other_window.geometry
    assert PreferencesFile(preferences.path).now.window.geometry == b""


def test_the_last_window_ends_the_engine_whichever_it_is(
    window: Window, other: Callable[[], Window], engines: FakeEngines, qtbot: QtBot
) -> None:
    second = other()
    window.close()
    assert not window.isVisible()
    assert second.isVisible()
    assert not engines.last.closed.is_set()
    with qtbot.waitSignal(second.closed):
        second.close()
    assert engines.last.closed.is_set()


def test_quitting_closes_all_windows(
    window: Window, other: Callable[[], Window], engines: FakeEngines, qtbot: QtBot
) -> None:
    second = other()
    with qtbot.waitSignal(second.closed):
        qtbot.keyClick(second, Key.Key_Q, Qt.KeyboardModifier.ControlModifier)
    assert window.core.windows == []
    assert engines.last.closed.is_set()


def test_quitting_from_a_hidden_first_window_ends_the_engine_once(
    window: Window, other: Callable[[], Window], qtbot: QtBot
) -> None:
    second = other()
    window.close()
    ends: list[Window] = []
    for each in (window, second):
        each.closed.connect(lambda each=each: ends.append(each))
    with qtbot.waitSignal(window.engine.ended):
        window.close_all()  # from the tray
    assert ends == [second]


def test_each_window_has_a_message_of_its_own_for_a_new_chat_and_none_is_lost(
    window: Window, other: Callable[[], Window], store: Store, qtbot: QtBot
) -> None:
    window.composer.write("of the first")
    window._unsent.keep()
    second = other()
    assert second.composer.editor.toPlainText() == ""
    second.composer.write("of the second")
    second.close()
    assert store.unsent.of(None).typed == "of the second\n\nof the first"
    qtbot.keyClicks(window.composer.editor, "!")
    qtbot.waitUntil(lambda: store.unsent.of(None).typed == "of the second\n\nof the first!")


def test_what_a_window_could_not_store_is_stored_after_it_was_closed(
    window: Window, other: Callable[[], Window], store: Store, qtbot: QtBot, full: threading.Event
) -> None:
    chat = store.chats.add([chat_of("why?", "because")])[0]
    second = other()
    second.chat.open(chat)
    window.core.unsent._next_try.setInterval(50)
    full.set()
    second.composer.write("half a question")
    with qtbot.waitSignal(window.core.unsent.failed):
        second.close()
    assert not store.unsent.of(chat)
    full.clear()
    qtbot.waitUntil(lambda: store.unsent.of(chat).typed == "half a question")


def test_what_a_window_could_not_store_replaces_nothing_that_another_wrote_since(
    window: Window, other: Callable[[], Window], store: Store, qtbot: QtBot, full: threading.Event
) -> None:
    chat = store.chats.add([chat_of("why?", "because")])[0]
    second = other()
    window.core.unsent._next_try.setInterval(50)
    for each in (window, second):
        each.chat.open(chat)
    full.set()
    with qtbot.waitSignal(window.core.unsent.failed):
        window.composer.write("newer")
        second.composer.write("not stored")
        second.chat.open(None)
    full.clear()
    qtbot.waitUntil(lambda: store.unsent.of(chat).typed == "not stored\n\nnewer")
    window.core.unsent.retry()
    second.composer.write("elsewhere")
    second.chat.open(chat)
    for each in (window, second):
        assert each.composer.text() == "not stored\n\nnewer"


def test_what_is_written_in_one_window_appears_in_another_that_shows_the_chat(
    window: Window, other: Callable[[], Window], store: Store, qtbot: QtBot
) -> None:
    second = other()
    chat = opened(store, window, second)
    window.composer.write("half a question")
    window.composer.editor.moveCursor(QTextCursor.MoveOperation.Start)
    qtbot.waitUntil(lambda: second.composer.text() == "half a question")
    assert window.composer.editor.textCursor().position() == 0, "whoever writes is not disturbed"
    qtbot.keyClicks(second.composer.editor, "?")
    qtbot.waitUntil(lambda: window.composer.text() == "half a question?")
    assert store.unsent.of(chat).typed == "half a question?"
    qtbot.keyClick(second.composer.editor, Key.Key_Return)
    assert window.composer.text() == second.composer.text() == ""
    assert not store.unsent.of(chat)


def test_what_two_windows_write_in_one_chat_at_the_same_time_is_kept_by_both(
    window: Window, other: Callable[[], Window], store: Store, qtbot: QtBot
) -> None:
    second = other()
    chat = opened(store, window, second)
    window.composer.write("one")
    second.composer.write("two")
    window._unsent.keep()
    for each in (window, second):
        assert each.composer.text() == "one\n\ntwo"
        each._unsent.keep()
    assert store.unsent.of(chat).typed == "one\n\ntwo"


def test_what_was_given_back_is_not_doubled_where_the_field_shows_it_otherwise(
    window: Window, other: Callable[[], Window], store: Store, qtbot: QtBot
) -> None:
    """A field turns no-break spaces into plain ones."""
    second = other()
    chat = opened(store, window, second)
    window.core.unsent.put_before(chat, ["10\u00a0km"], [])
    qtbot.keyClicks(window.composer.editor, "?")
    window._unsent.keep()
    assert window.composer.text() == second.composer.text() == "10 km?"


@pytest.mark.parametrize("text", ["queued", "queued " * 4_000], ids=["short", "long"])
def test_what_is_given_back_while_two_windows_have_unstored_changes_is_kept_once(
    text: str, window: Window, other: Callable[[], Window], store: Store, qtbot: QtBot
) -> None:
    second = other()
    chat = opened(store, window, second)
    file = store.files.keep("notes.txt", Document("text", ["Notes."]))
    window.composer.write("one")
    second.composer.write("two")
    window.core.unsent.put_before(chat, [text], [file])
    for each in (window, second):
        each._unsent.keep()
    kept = store.unsent.of(chat)
    assert [*kept.pasted, *kept.typed.split("\n\n")] == [text, "one", "two"]
    assert [each.id for each in kept.files] == [file.id]
    for each in (window, second):
        assert each.composer.unsent().content == kept.content


def test_what_becomes_readable_while_two_windows_have_unstored_changes_is_kept_once(
    window: Window, other: Callable[[], Window], store: Store, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = other()
    (chat,) = store.chats.add([chat_of("why?", "because")])
    store.unsent.keep(chat, UnsentMessage(typed="of yesterday"))
    with monkeypatch.context() as patched:
        patched.setattr(Unsent, "of", damaged)
        for each in (window, second):
            each.chat.open(chat)
        window.composer.write("one")
        window._unsent.keep()
    qtbot.keyClicks(window.composer.editor, " more")
    qtbot.keyClicks(second.composer.editor, " too")
    window.core.unsent.retry()
    kept = store.unsent.of(chat)
    assert kept.typed == "of yesterday\n\none more\n\none too"
    for each in (window, second):
        assert each.composer.unsent() == kept


def test_half_a_character_that_was_pasted_disturbs_nobody_who_writes(
    window: Window, other: Callable[[], Window], store: Store, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = other()
    chat = opened(store, window, second)
    editor = window.composer.editor

    def text_with_halves() -> str:
        """As where Qt passes halves of characters on to Python: some systems drop them."""
        return QPlainTextEdit.toPlainText(editor).replace("½", "\ud83d")

    monkeypatch.setattr(editor, "toPlainText", text_with_halves)
    qtbot.keyClicks(editor, "before")
    editor.insertPlainText(" a½b")
    editor.moveCursor(QTextCursor.MoveOperation.Start)
    qtbot.waitUntil(lambda: second.composer.text() == "before a?b")
    assert editor.textCursor().position() == 0
    assert store.unsent.of(chat) == window.composer.unsent()
    assert editor.document().isUndoAvailable()


def test_another_window_continues_what_could_not_be_stored(
    window: Window, other: Callable[[], Window], store: Store, qtbot: QtBot, full: threading.Event
) -> None:
    chat = store.chats.add([chat_of("why?", "because")])[0]
    second = other()
    window.chat.open(chat)
    full.set()
    window.composer.write("not stored")
    window.chat.open(None)
    second.chat.open(chat)
    assert second.composer.text() == "not stored"
    full.clear()
    second.composer.write("not stored so far")
    qtbot.waitUntil(lambda: store.unsent.of(chat).typed == "not stored so far")


@pytest.mark.parametrize("stops", [0, 1])
def test_a_question_given_back_replaces_nothing_that_another_window_wrote_in_its_chat(
    stops: int, window: Window, other: Callable[[], Window], engines: FakeEngines, store: Store, qtbot: QtBot
) -> None:
    ask(window, engines, qtbot)
    ask(window, engines, qtbot, "queued")
    chat, second = window.chat.id, other()
    window.composer.write("half")
    qtbot.waitUntil(lambda: store.unsent.of(chat).typed == "half")
    second.chat.open(chat)
    second.composer.write("half a question")
    qtbot.waitUntil(lambda: store.unsent.of(chat).typed == "half a question")
    (window, second)[stops].chat.stop()
    for each in (window, second):
        assert each.composer.text() == "queued\n\nhalf a question"
        each._unsent.keep()
    assert store.unsent.of(chat).typed == "queued\n\nhalf a question"


def test_a_file_for_a_chat_that_another_window_shows_appears_there(
    window: Window, other: Callable[[], Window], store: Store, qtbot: QtBot
) -> None:
    chat = store.chats.add([chat_of("why?", "because")])[0]
    second = other()
    second.chat.open(chat)
    second.composer.write("what does it say?")
    file = store.files.keep("notes.txt", Document("text", ["Notes."]))
    window._unsent.add_file(chat, file)
    assert second.composer.unsent() == UnsentMessage(typed="what does it say?", files=[file])
    qtbot.waitUntil(lambda: store.unsent.of(chat) == second.composer.unsent())


def test_closing_one_of_two_windows_leaves_its_questions_in_the_queue(
    window: Window, other: Callable[[], Window], engines: FakeEngines, qtbot: QtBot
) -> None:
    second = other()
    ask(second, engines, qtbot)
    ask(second, engines, qtbot, "queued")
    with qtbot.waitSignal(second.left):
        second.close()
    assert [waiting.text for waiting in window.chat.waiting] == ["queued"]
