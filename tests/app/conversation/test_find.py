"""Search in the chat shown: all matches are found, counted, highlighted and gone to."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.conversation.find_bar import FindBar
from app.conversation.transcript import MOST_SHOWN
from app.rendering.text_body import TextBody
from app.store import Store, StoredMessage, WholeChat
from app.widgets import theme
from app.window.window import Window
from engine.protocol import messages
from tests.app.fake_engine import FakeEngines, answer

Key, Mod = Qt.Key, Qt.KeyboardModifier


def chat_of(*texts: str) -> WholeChat:
    """Return a chat whose messages alternate between questions and answers."""
    made = [
        StoredMessage(
            id=n + 1,
            parent=n or None,
            role="assistant" if n % 2 else "user",
            text=text,
            created_at=0,
        )
        for n, text in enumerate(texts)
    ]
    return WholeChat(title="x", named=True, created_at=0, updated_at=0, messages=made)


@pytest.fixture
def bar(window: Window) -> FindBar:
    (found,) = window.findChildren(FindBar)
    return found


def show(window: Window, store: Store, *texts: str) -> None:
    window.chat.open(store.chats.add([chat_of(*texts)])[0])


def find(window: Window, bar: FindBar, qtbot: QtBot, query: str) -> None:
    if not bar.isVisible():
        qtbot.keyClick(window, Key.Key_F, Mod.ControlModifier)
    assert QApplication.focusWidget() is bar.field
    bar.field.clear()
    qtbot.keyClicks(bar.field, query)


def marked(body: TextBody) -> list[str]:
    return [selection.cursor.selectedText() for selection in body.extraSelections()]


def current(window: Window) -> list[str]:
    """Return the text that is marked as the current match."""
    accent = theme.current().accent
    return [
        selection.cursor.selectedText()
        for row in window.transcript.rows
        for _, body in row.view.bodies()
        for selection in body.extraSelections()
        if selection.format.background().color().name() == accent
    ]


def test_all_matches_are_counted_and_highlighted_and_gone_to_in_turn(
    window: Window, bar: FindBar, store: Store, qtbot: QtBot
) -> None:
    show(window, store, "A number?", "The **num**ber of numbers.\n\n```\nnumber = 1\n```", "Number!")
    qtbot.waitUntil(lambda: "number = 1" in window.transcript.rows[1].view.body.toPlainText())
    window.composer.setFocus()
    find(window, bar, qtbot, "number")
    qtbot.waitUntil(lambda: bar.count.text() == "1 of 5")
    assert marked(window.transcript.rows[0].view.body) == ["number"]
    assert marked(window.transcript.rows[1].view.body) == ["num", "ber", "number", "number"] or marked(
        window.transcript.rows[1].view.body
    ) == ["number", "number", "number"]
    assert current(window) == ["number"]
    qtbot.keyClick(bar.field, Key.Key_Return)
    assert bar.count.text() == "2 of 5"
    qtbot.keyClick(window, Key.Key_F3)
    assert bar.count.text() == "3 of 5"
    qtbot.keyClick(bar.field, Key.Key_Return, Mod.ShiftModifier)
    qtbot.keyClick(window, Key.Key_F3, Mod.ShiftModifier)
    assert bar.count.text() == "1 of 5"
    qtbot.keyClick(window, Key.Key_F3, Mod.ShiftModifier)
    assert bar.count.text() == "5 of 5", "the last one comes before the first"
    assert current(window) == ["Number"]
    bar.case.click()
    qtbot.waitUntil(lambda: bar.count.text().endswith("of 4"))
    qtbot.keyClick(bar.field, Key.Key_Escape)
    assert not bar.isVisible()
    assert QApplication.focusWidget() is window.composer.editor
    assert [marked(row.view.body) for row in window.transcript.rows] == [[], [], []]


def test_what_markdown_hides_is_not_found(window: Window, bar: FindBar, store: Store, qtbot: QtBot) -> None:
    show(window, store, "x", "A [link](https://hidden.example/) and a*b in `a*b`.")
    qtbot.waitUntil(lambda: "link" in window.transcript.rows[1].view.body.toPlainText())
    find(window, bar, qtbot, "hidden")
    assert bar.count.text() == "No matches"
    assert not bar.after.isEnabled()
    find(window, bar, qtbot, "ab")
    assert bar.count.text() == "No matches"


def test_matches_in_messages_without_a_row_are_counted_and_shown(
    window: Window, bar: FindBar, store: Store, qtbot: QtBot
) -> None:
    show(window, store, "needle at the top", *["filler"] * (2 * MOST_SHOWN), "a needle at the end")
    assert len(window.transcript.rows) == MOST_SHOWN
    find(window, bar, qtbot, "needle")
    assert bar.count.text() == "2 of 2", "the one in view first"
    qtbot.keyClick(bar.field, Key.Key_Return)
    assert bar.count.text() == "1 of 2"
    assert len(window.transcript.rows) == 2 * MOST_SHOWN + 2
    assert current(window) == ["needle"]
    qtbot.waitUntil(lambda: window.transcript.verticalScrollBar().value() < 100)


def test_folded_thoughts_and_long_questions_are_unfolded(
    window: Window, bar: FindBar, store: Store, qtbot: QtBot
) -> None:
    long = "filler " * 3000 + "needle"
    show(window, store, long, "<think>The needle is hidden.</think>It is gone.")
    qtbot.waitUntil(lambda: window.transcript.rows[1].view.body.toPlainText() == "It is gone.")
    window.transcript.verticalScrollBar().setValue(0)
    find(window, bar, qtbot, "needle")
    assert bar.count.text() == "1 of 2"
    qtbot.waitUntil(lambda: current(window) == ["needle"])
    assert window.transcript.rows[0].view.body.toPlainText() == long
    qtbot.keyClick(bar.field, Key.Key_Return)
    qtbot.waitUntil(lambda: marked(window.transcript.rows[1].view.thought.body) == ["needle"])
    assert bar.count.text() == "2 of 2"


def test_matches_of_an_answer_being_written_are_counted_and_the_place_stays(
    window: Window, bar: FindBar, store: Store, engines: FakeEngines, qtbot: QtBot
) -> None:
    window.composer.write("a needle?")
    qtbot.keyClick(window.composer.editor, Key.Key_Return)
    request = engines.last.asked(messages.Chat)[-1].id
    find(window, bar, qtbot, "needle")
    assert bar.count.text() == "1 of 1"
    engines.last.say(messages.TextDelta(request=request, text="One needle, ", tokens=1))
    qtbot.waitUntil(lambda: bar.count.text() == "1 of 2")
    engines.last.say(messages.TextDelta(request=request, text="two needles.", tokens=1))
    qtbot.waitUntil(lambda: bar.count.text() == "1 of 3")
    view = window.transcript.answer
    qtbot.waitUntil(lambda: marked(view.body) == ["needle", "needle"])
    engines.last.say(answer(request, "One needle, two needles."))
    qtbot.waitUntil(lambda: window.engine.state.name == "READY")
    show(window, store, "no such thing", "here")
    qtbot.waitUntil(lambda: bar.count.text() == "No matches")


def test_the_search_of_all_chats_still_marks_its_words(
    window: Window, bar: FindBar, store: Store, qtbot: QtBot
) -> None:
    chat = store.chats.add([chat_of("a needle", "a thread")])[0]
    message = store.messages.all(chat)[0].id
    window.search.hit_chosen.emit(chat, message, "needle")
    body = window.transcript.rows[0].view.body
    qtbot.waitUntil(lambda: marked(body) == ["needle"])
    find(window, bar, qtbot, "a")
    qtbot.waitUntil(lambda: sorted(marked(body)) == ["a", "needle"])
    bar.leave.click()
    assert marked(body) == ["needle"]
