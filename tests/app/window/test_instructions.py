"""The chip below the composer: the chat's preset or system prompt, one click away."""

import pytest
from msgspec import structs
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.conversation.instructions import Instructions
from app.preferences import NEW_CHATS
from app.store import ChatSettings, Preset, SavedOptions, Store
from app.window.window import Window
from engine.protocol import messages
from tests.app.fake_engine import FakeEngines, answer
from tests.app.window.test_window import ask, notice_text, reach

BRIEF = structs.replace(NEW_CHATS, system="Answer in one sentence.")
PIRATE = ChatSettings(system="You are a pirate.", target="another", options=SavedOptions(temperature=1.2))


@pytest.fixture
def line(store: Store, window: Window) -> Instructions:
    """The chip of a window with two presets."""
    for preset in (Preset("Brief", BRIEF), Preset("Pirate", PIRATE)):
        store.presets.save(preset)
    found = window.centralWidget().findChild(Instructions)
    assert isinstance(found, Instructions)
    return found


def offered(line: Instructions) -> list[str]:
    names = line.popup.presets
    return [names.item(row).text() for row in range(names.count())]


def test_where_nothing_is_set_a_button_offers_it(line: Instructions) -> None:
    assert line.button.text() == "System prompt or preset"
    assert not line.remove.isVisible()
    line.button.click()
    assert line.popup.isVisible()
    assert offered(line) == ["Brief", "Pirate"]
    line.popup.hide()


def test_a_system_prompt_is_written_and_applies_to_the_next_answer(
    window: Window, engines: FakeEngines, qtbot: QtBot, line: Instructions
) -> None:
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    line.button.click()
    qtbot.keyClicks(line.popup.prompt, "Be kind.")
    qtbot.keyClick(line.popup, Qt.Key.Key_Escape)
    assert window.composer.editor.hasFocus()
    assert line.button.text() == "System prompt: Be kind."
    engines.last.say(answer(ask(window, engines, qtbot, "hello")))
    (chat,) = engines.last.asked(messages.Chat)
    assert [(each.role, each.content) for each in chat.messages] == [
        ("system", "Be kind."),
        ("user", "hello"),
    ]
    line.button.click()
    assert line.popup.prompt.toPlainText() == "Be kind."
    line.popup.hide()


def test_a_preset_is_chosen_and_removed(window: Window, line: Instructions) -> None:
    line.button.click()
    line.popup.presets.itemClicked.emit(line.popup.presets.item(1))
    assert not line.popup.isVisible()
    assert line.button.text() == "Pirate"
    assert "You are a pirate." in line.button.toolTip()
    assert window.chat.settings.options.temperature == 1.2
    assert window.chat.settings.target is None, "a preset changes no models"
    line.remove.click()
    assert line.button.text() == "System prompt or preset"
    assert window.chat.settings == window.chat.new_settings


def test_a_preset_that_new_chats_have_can_be_removed_too(window: Window, line: Instructions) -> None:
    window.chat.new_settings = BRIEF
    window.chat.open(None)
    assert line.button.text() == "Brief"
    line.remove.click()
    assert window.chat.settings == NEW_CHATS
    assert not line.remove.isVisible()


def test_a_changed_preset_is_one_no_longer(window: Window, line: Instructions) -> None:
    window.chat.set_settings(BRIEF)
    window.chat.set_settings(structs.replace(BRIEF, system="Answer in two sentences."))
    assert line.button.text() == "System prompt: Answer in two sentences."
    line.remove.click()
    assert window.chat.settings == NEW_CHATS


def test_each_chat_has_its_own(
    window: Window, engines: FakeEngines, qtbot: QtBot, line: Instructions
) -> None:
    window.chat.set_settings(BRIEF)
    engines.last.say(answer(ask(window, engines, qtbot)))
    reach(window, qtbot, State.READY)
    chat = window.chat.id
    window.chat.open(None)
    assert line.button.text() == "System prompt or preset"
    window.chat.open(chat)
    assert line.button.text() == "Brief"


def test_a_long_system_prompt_does_not_widen_the_window(window: Window, line: Instructions) -> None:
    before = window.minimumSizeHint().width()
    window.chat.set_settings(structs.replace(NEW_CHATS, system="long " * 400))
    window.grab()
    assert window.minimumSizeHint().width() == before
    assert line.width() <= window.composer.width()


def test_the_settings_are_one_click_further(window: Window, qtbot: QtBot, line: Instructions) -> None:
    line.button.click()
    window.header.settings_asked.disconnect()
    with qtbot.waitSignal(window.header.settings_asked):
        line.popup.settings.click()
    assert not line.popup.isVisible()


def test_what_was_removed_is_brought_back(
    window: Window, engines: FakeEngines, qtbot: QtBot, line: Instructions
) -> None:
    engines.last.say(answer(ask(window, engines, qtbot)))
    reach(window, qtbot, State.READY)
    chat, note = window.chat.id, window._panes.note
    written = structs.replace(NEW_CHATS, system="Long instructions.")
    window.chat.set_settings(written)
    line.remove.click()
    assert note.text == "Removed the system prompt"
    window.chat.open(None)
    note.button.click()
    assert (window.chat.id, window.chat.settings.system) == (chat, "Long instructions.")
    window.chat.set_settings(BRIEF)
    line.remove.click()
    assert note.text == "Removed the preset Brief"
    note.button.click()
    assert line.button.text() == "Brief"


def test_a_prompt_that_a_preset_replaces_is_brought_back(
    window: Window, qtbot: QtBot, line: Instructions
) -> None:
    line.button.click()
    line.popup.prompt.setPlainText("Just written.")
    line.popup.presets.itemClicked.emit(line.popup.presets.item(1))
    assert line.button.text() == "Pirate"
    window._panes.note.button.click()
    assert line.button.text() == "System prompt: Just written."
    window._panes.note.hide()
    window.chat.set_settings(BRIEF)
    line.button.click()
    line.popup.presets.itemClicked.emit(line.popup.presets.item(1))
    assert not window._panes.note.isVisible(), "the preset keeps its prompt"


def test_a_removed_prompt_returns_alone_and_only_to_its_chat(
    window: Window, engines: FakeEngines, store: Store, qtbot: QtBot, line: Instructions
) -> None:
    engines.last.say(answer(ask(window, engines, qtbot)))
    reach(window, qtbot, State.READY)
    chat, note = window.chat.id, window._panes.note
    assert chat is not None
    window.chat.set_settings(structs.replace(NEW_CHATS, system="Long instructions."))
    line.remove.click()
    window.chat.set_settings(structs.replace(window.chat.settings, left_out=1))
    note.button.click()
    assert (window.chat.settings.system, window.chat.settings.left_out) == ("Long instructions.", 1)
    line.remove.click()
    store.chats.delete(chat)
    window.core.chat_deleted.emit(chat)
    note.button.click()
    assert (window.chat.id, window.chat.settings.system) == (None, "")
    assert "no longer exists" in notice_text(window)


def test_what_was_changed_after_a_preset_was_chosen_stays_when_it_is_taken_back(
    window: Window, line: Instructions
) -> None:
    written = structs.replace(NEW_CHATS, system="Just written.", context=4096)
    window.chat.set_settings(written)
    line.button.click()
    line.popup.presets.itemClicked.emit(line.popup.presets.item(1))
    chosen = window.chat.settings
    assert (chosen.system, chosen.options.temperature, chosen.context) == ("You are a pirate.", 1.2, None)
    changed = structs.replace(chosen.options, top_k=40, temperature=0.9)
    window.chat.set_settings(structs.replace(chosen, thinks=False, options=changed))
    window._panes.note.button.click()
    options = structs.replace(written.options, top_k=40, temperature=0.9)
    assert window.chat.settings == structs.replace(written, thinks=False, options=options)
