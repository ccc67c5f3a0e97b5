"""A conversation that is too long: the notice offers what helps, and asks again."""

import pytest
from msgspec import structs
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.documents.records import Document
from app.store import Store
from app.window.window import Window
from engine.protocol import messages
from tests.app.fake_engine import FakeEngines, answer
from tests.app.window.test_context import context_of, fill
from tests.app.window.test_window import ask, reach


def refuse(window: Window, engines: FakeEngines, qtbot: QtBot, text: str = "long") -> None:
    """Let the engine refuse a question because the conversation is too long."""
    ask(window, engines, qtbot, text)
    refuse_again(window, engines, qtbot)


def refuse_again(window: Window, engines: FakeEngines, qtbot: QtBot) -> None:
    request = engines.last.asked(messages.Chat)[-1].id
    engines.last.say(
        messages.Failed(request=request, kind="prompt_too_long", message="Too long.", hint="Shorten it.")
    )
    reach(window, qtbot, State.READY)


def offers(window: Window) -> dict[str, QPushButton]:
    assert window.transcript.notice is not None
    return {button.text(): button for button in window.transcript.notice.findChildren(QPushButton)}


def sent(engines: FakeEngines) -> list[str]:
    return [each.content for each in engines.last.asked(messages.Chat)[-1].messages]


def test_the_message_can_be_edited_and_nothing_offers_to_try_again(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    refuse(window, engines, qtbot)
    assert [text for text in offers(window) if "context" not in text] == ["Edit the message"]
    offers(window)["Edit the message"].click()
    (row,) = [row for row in window.transcript.rows if row.editor is not None]
    assert row.editor is not None
    assert row.editor.editor.hasFocus()
    row.editor.editor.setPlainText("short")
    row.editor.saved.emit("short")
    assert sent(engines) == ["short"]


def test_a_larger_context_is_offered_once(window: Window, engines: FakeEngines, qtbot: QtBot) -> None:
    reach(window, qtbot, State.READY)
    fill(window, engines, qtbot, context_of(window) * 9 // 10)
    bar = window._panes.context
    refuse(window, engines, qtbot, "more")
    ways = [button for button in (bar.larger, bar.leave_out) if button.isVisible()]
    assert bar.new_chat.isVisible()
    assert ways == []
    assert len([text for text in offers(window) if text.startswith("Larger context")]) == 1
    window.transcript.clear_notice()
    qtbot.waitUntil(bar.larger.isVisible)
    assert bar.leave_out.isVisible()


def test_a_message_of_another_chat_is_edited_there(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    ask(window, engines, qtbot, "long")
    first = window.chat.id
    window.chat.open(None)
    refuse_again(window, engines, qtbot)
    qtbot.waitUntil(lambda: window.transcript.notice is not None)
    assert list(offers(window)) == ["Edit the message"]
    offers(window)["Edit the message"].click()
    assert window.chat.id == first
    assert window.transcript.is_editing


def test_a_message_is_edited_once_the_queued_question_is_answered(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    ask(window, engines, qtbot, "long")
    first = window.chat.id
    window.chat.open(None)
    ask(window, engines, qtbot, "queued")
    window.chat.open(None)
    request = engines.last.asked(messages.Chat)[-1].id
    engines.last.say(
        messages.Failed(request=request, kind="prompt_too_long", message="Too long.", hint="Shorten it.")
    )
    qtbot.waitUntil(lambda: len(engines.last.asked(messages.Chat)) == 2)
    assert window.engine.state is State.ANSWERING
    edit = offers(window)["Edit the message"]
    assert not edit.isEnabled()
    engines.last.say(answer(engines.last.asked(messages.Chat)[-1].id, "Yes."))
    reach(window, qtbot, State.READY)
    assert edit.isEnabled()
    edit.click()
    assert window.chat.id == first
    assert window.transcript.is_editing


def test_the_oldest_turns_are_left_out_but_never_the_question(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    for number in (1, 2):
        fill(window, engines, qtbot, int(0.4 * number * context_of(window)))
    refuse(window, engines, qtbot)
    for left_out in (1, 2):
        offers(window)["Leave out the oldest turns"].click()
        assert window.transcript.notice is None
        assert window.chat.settings.left_out == left_out
        assert sent(engines)[-1] == "long"
        assert len(sent(engines)) == 5 - 2 * left_out
        refuse_again(window, engines, qtbot)
    assert "Leave out the oldest turns" not in offers(window)


@pytest.mark.parametrize("is_granted", [True, False])
def test_a_larger_context_says_what_it_costs_and_asks_again_once_it_is_there(
    window: Window, engines: FakeEngines, qtbot: QtBot, is_granted: bool
) -> None:
    pair, context = window.engine.pair, context_of(window)
    assert pair is not None
    pair.token_nbytes = (3 << 20) // context
    refuse(window, engines, qtbot)
    asked = len(engines.last.asked(messages.Chat))
    (larger,) = [button for text, button in offers(window).items() if "3.0 MB more memory" in text]
    engines.last.script = lambda *_: None
    larger.click()
    load = engines.last.asked(messages.Load)[-1]
    assert load.context == 2 * context
    if is_granted:
        engines.last.say(structs.replace(pair, request=load.id, context=2 * context))
        qtbot.waitUntil(lambda: window.engine.state is State.ANSWERING)
        assert sent(engines) == ["long"]
    else:
        engines.last.say(
            messages.Failed(request=load.id, kind="out_of_memory", message="No room.", hint="", loaded=True)
        )
        reach(window, qtbot, State.READY)
        assert len(engines.last.asked(messages.Chat)) == asked


def test_a_question_is_asked_without_its_files(
    window: Window, engines: FakeEngines, qtbot: QtBot, store: Store
) -> None:
    engines.last.say(answer(ask(window, engines, qtbot, "hello")))
    reach(window, qtbot, State.READY)
    file = store.files.keep("notes.txt", Document("text", ["A note. " * 40]))
    window.chat.send("What do the notes say?", [file])
    qtbot.waitUntil(lambda: len(engines.last.asked(messages.Chat)) == 2)
    refuse_again(window, engines, qtbot)
    offers(window)["Ask without the files"].click()
    assert sent(engines)[-1] == "What do the notes say?"
    assert [len(each.message.files) for each in window.chat.shown if each.message.role == "user"] == [0, 0]


def test_no_context_is_offered_beyond_what_the_model_allows(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    pair = window.engine.pair
    assert pair is not None
    pair.longest_context = 3 * pair.context // 2
    refuse(window, engines, qtbot)
    assert "3072" in next(text.replace(",", "") for text in offers(window) if "context" in text)
    pair.longest_context = pair.context
    refuse(window, engines, qtbot)
    assert not [text for text in offers(window) if "context" in text]
