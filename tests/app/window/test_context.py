"""The context: how full it is, and the ways on when it is nearly full."""

from collections.abc import Callable

import pytest
from msgspec import structs
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.conversation.context_bar import ContextBar
from app.settings.dialog import SettingsDialog
from app.store import ChatSettings, Store
from app.store.records import about_tokens
from app.window.window import Window
from engine.protocol import messages
from tests.app.fake_engine import FakeEngines, answer
from tests.app.window.test_window import ask, reach


def bar_of(window: Window) -> ContextBar:
    bar = window.centralWidget().findChild(ContextBar)
    assert isinstance(bar, ContextBar)
    return bar


def fill(window: Window, engines: FakeEngines, qtbot: QtBot, tokens: int) -> None:
    """Let an answer be given after which the chat has this many tokens."""
    given = answer(ask(window, engines, qtbot), "Yes.")
    engines.last.say(structs.replace(given, prompt_tokens=tokens - given.tokens))
    reach(window, qtbot, State.READY)


def context_of(window: Window) -> int:
    assert window.engine.pair is not None
    return window.engine.pair.context


@pytest.mark.parametrize(
    ("share", "is_shown", "is_near"), [(0.1, False, False), (0.5, True, False), (0.9, True, True)]
)
def test_the_bar_is_shown_when_it_matters(
    window: Window, engines: FakeEngines, qtbot: QtBot, share: float, is_shown: bool, is_near: bool
) -> None:
    fill(window, engines, qtbot, int(share * context_of(window)))
    bar = bar_of(window)
    assert bar.isVisible() is is_shown
    assert bar.new_chat.isVisible() is is_near
    assert bar.larger.isVisible() is is_near
    window.chat.open(None)
    assert not bar.isVisible()


def test_the_message_being_written_counts(window: Window, engines: FakeEngines, qtbot: QtBot) -> None:
    fill(window, engines, qtbot, context_of(window) // 2)
    bar = bar_of(window)
    assert "adds" not in bar.label.text()
    window.composer.write("word " * 800)
    assert f"adds about {about_tokens('word ' * 800)}" in bar.label.text().replace(",", "")
    assert bar.larger.isVisible()
    window.composer.write("word " * 4000)
    assert "more than fits" in bar.label.text()
    assert str(4 * context_of(window)) in bar.larger.text().replace(",", ""), "so much that it fits"


@pytest.mark.parametrize(
    ("before", "after"), [("", "and another thing"), ("one thing", "one thing\n\nand another thing")]
)
def test_a_new_chat_takes_the_message_along(
    before: str, after: str, window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    fill(window, engines, qtbot, int(0.9 * context_of(window)))
    old = window.chat.id
    window.chat.open(None)
    window.composer.write(before)
    window.chat.open(old)
    window.composer.write("and another thing")
    bar_of(window).new_chat.click()
    assert window.chat.id is None
    assert window.composer.text() == after
    assert old is not None
    window.chat.open(old)
    assert window.composer.text() == "", "it moved"


def test_a_larger_context_is_loaded_and_kept_for_the_chat(
    window: Window, engines: FakeEngines, qtbot: QtBot, store: Store
) -> None:
    context = context_of(window)
    assert window.engine.pair is not None
    window.engine.pair.token_nbytes = (3 << 20) // context
    fill(window, engines, qtbot, int(0.9 * context))
    bar = bar_of(window)
    assert "3.0 MB more memory" in bar.larger.text()
    bar.larger.click()
    reach(window, qtbot, State.READY)
    assert engines.last.asked(messages.Load)[-1].context == 2 * context
    assert window.chat.id is not None
    assert store.chats.settings(window.chat.id).context == 2 * context


def test_the_oldest_turns_are_left_out_and_the_memory_is_marked(
    window: Window,
    make_window: Callable[..., Window],
    engines: FakeEngines,
    qtbot: QtBot,
) -> None:
    for number in (1, 2, 3, 4):
        fill(window, engines, qtbot, int(0.22 * number * context_of(window)))
    bar, rows = bar_of(window), window.transcript.rows
    assert bar.leave_out.isVisible()
    bar.leave_out.click()
    assert not bar.leave_out.isVisible(), "there is room again"
    marked = [row for row in rows if row.mark is not None]
    assert marked == [rows[2 * window.chat.settings.left_out]]
    assert window.chat.settings.left_out == 2
    ask(window, engines, qtbot)
    assert len(engines.last.asked(messages.Chat)[-1].messages) == 5
    engines.last.say(answer(engines.last.asked(messages.Chat)[-1].id, "Yes."))
    reach(window, qtbot, State.READY)

    kept = window.chat.id
    window.chat.open(None)
    assert not any(row.mark for row in window.transcript.rows)
    again = make_window(FakeEngines())
    reach(again, qtbot, State.READY)
    again.chat.open(kept)
    (mark,) = [row.mark for row in again.transcript.rows if row.mark is not None]
    qtbot.mouseClick(mark.undo, Qt.MouseButton.LeftButton)
    assert again.chat.settings.left_out == 0
    assert not any(row.mark for row in again.transcript.rows)


def test_settings_and_presets_leave_the_memory_alone(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    for number in (1, 2):
        fill(window, engines, qtbot, int(0.45 * number * context_of(window)))
    bar_of(window).leave_out.click()
    left_out = window.chat.settings.left_out
    assert left_out
    window.header.settings.click()
    dialog = window.findChildren(SettingsDialog)[-1]
    dialog.chat_changed.emit(ChatSettings(system="Be brief."))
    dialog.close()
    assert window.chat.settings.system == "Be brief."
    assert window.chat.settings.left_out == left_out
