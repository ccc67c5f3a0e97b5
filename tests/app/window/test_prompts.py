"""Saved prompts in the composer, with the keyboard only, and their page in the settings."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.conversation.prompt_fields import PromptFields
from app.settings.prompts_page import PromptsPage
from app.store import Store, StoreError
from app.store.prompts import SavedPrompt
from app.window.window import Window
from engine.protocol import messages
from tests.app.fake_engine import FakeEngines

BRIEF = SavedPrompt("Brief", "Be brief.")
TRANSLATE = SavedPrompt("Translate", "Translate into {{language}}, {{tone}}:")


@pytest.fixture
def writer(window: Window, store: Store, qtbot: QtBot) -> Window:
    """A window with saved prompts, in which nothing was typed yet."""
    store.prompts.save([BRIEF, TRANSLATE, SavedPrompt("Tests", "Write tests.")])
    window.activateWindow()
    qtbot.waitUntil(window.composer.editor.hasFocus)
    return window


def offered(window: Window) -> list[str]:
    offer = window.composer.offer
    return [] if offer.isHidden() else [offer.item(row).text() for row in range(offer.count())]


def test_a_prompt_is_chosen_by_typing_and_arrows(writer: Window, engines: FakeEngines, qtbot: QtBot) -> None:
    editor = writer.composer.editor
    qtbot.keyClicks(editor, "/")
    assert [text.split()[0] for text in offered(writer)] == ["/Brief", "/Tests", "/Translate"]
    qtbot.keyClicks(editor, "T")
    assert [text.split()[0] for text in offered(writer)] == ["/Tests", "/Translate"]
    qtbot.keyClick(editor, Qt.Key.Key_Down)
    qtbot.keyClick(editor, Qt.Key.Key_Up)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert editor.toPlainText() == "Write tests."
    assert not offered(writer)
    assert not engines.last.asked(messages.Chat), "it was inserted, not sent"
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert engines.last.asked(messages.Chat)[-1].messages[-1].content == "Write tests."


def test_variables_are_asked_for_with_the_keyboard_only(writer: Window, qtbot: QtBot) -> None:
    editor = writer.composer.editor
    qtbot.keyClicks(editor, "/tra")
    qtbot.keyClick(editor, Qt.Key.Key_Tab)
    dialog = writer.composer.findChild(PromptFields)
    assert isinstance(dialog, PromptFields)
    qtbot.waitUntil(dialog.fields[0].hasFocus)
    qtbot.keyClicks(dialog.fields[0], "Korean")
    qtbot.keyClick(dialog.fields[0], Qt.Key.Key_Return)
    assert dialog.fields[1].hasFocus()
    qtbot.keyClicks(dialog.fields[1], "formal")
    qtbot.keyClick(dialog.fields[1], Qt.Key.Key_Return)
    assert editor.toPlainText() == "Translate into Korean, formal:"
    writer.activateWindow()
    qtbot.waitUntil(editor.hasFocus)


def test_escape_leaves_the_slash_as_text(writer: Window, engines: FakeEngines, qtbot: QtBot) -> None:
    editor = writer.composer.editor
    qtbot.keyClicks(editor, "/b")
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    assert not offered(writer)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert engines.last.asked(messages.Chat)[-1].messages[-1].content == "/b"


def test_a_message_with_a_slash_elsewhere_offers_nothing(writer: Window, qtbot: QtBot) -> None:
    for text in ("1/2", "/usr/share is a folder", "a\n/b"):
        writer.composer.write(text)
        assert not offered(writer), text


def test_an_empty_library_says_where_prompts_are_saved(window: Window) -> None:
    window.composer.write("/")
    assert offered(window) == ["No prompts yet. You can save some in the settings."]


def test_prompts_are_written_changed_exported_and_imported_in_the_settings(
    store: Store, qtbot: QtBot, tmp_path: Path
) -> None:
    page = PromptsPage(store.prompts)
    qtbot.addWidget(page)
    assert not page.save.isEnabled()
    page.name.setText("Translate")
    page.text.setPlainText(TRANSLATE.text)
    page.save.click()
    page.export_to(tmp_path / "prompts.json")
    page.name.setText("Into another language")
    page.save.click()
    assert store.prompts.all() == [SavedPrompt("Into another language", TRANSLATE.text)]
    page.delete.click()
    assert store.prompts.all() == []
    page.import_from(tmp_path / "prompts.json")
    assert store.prompts.all() == [TRANSLATE]
    assert page.names.currentItem().text() == "Translate"
    page.import_from(tmp_path / "none.json")
    assert "cannot be read" in page.note.text()


def test_prompts_that_an_action_deleted_or_replaced_are_brought_back(store: Store, qtbot: QtBot) -> None:
    library = [BRIEF, TRANSLATE]
    store.prompts.save(library)
    page = PromptsPage(store.prompts)
    qtbot.addWidget(page)
    page.names.setCurrentRow(0)
    page.delete.click()
    assert store.prompts.all() == [TRANSLATE]
    page.undo.click()
    assert store.prompts.all() == library
    assert page.undo.isHidden()
    page.names.setCurrentRow(0)
    page.name.setText("Translate")  # the name of the other one
    page.save.click()
    assert store.prompts.all() == [SavedPrompt("Translate", "Be brief.")]
    page.undo.click()
    assert store.prompts.all() == library
    page.new.click()
    page.name.setText("New")
    page.text.setPlainText("A new one.")
    page.save.click()
    assert page.undo.isHidden(), "nothing was lost"


def test_what_was_written_is_saved_when_it_is_left(store: Store, qtbot: QtBot) -> None:
    store.prompts.save([BRIEF, TRANSLATE])
    page = PromptsPage(store.prompts)
    qtbot.addWidget(page)
    page.show()
    page.names.setCurrentRow(0)
    qtbot.keyClicks(page.text, "Very: ")
    page.names.setCurrentRow(1)
    qtbot.waitUntil(lambda: page.text.toPlainText() == TRANSLATE.text)
    assert SavedPrompt("Brief", "Very: Be brief.") in store.prompts.all()
    page.new.click()
    qtbot.keyClicks(page.text, "Without a name.")
    page.hide()
    assert SavedPrompt("Without a name.", "Without a name.") in store.prompts.all()
    page.show()
    page.name.selectAll()
    qtbot.keyClicks(page.name, "Named")
    page.hide()
    page.show()
    page.hide()
    assert SavedPrompt("Named", "Without a name.") in store.prompts.all()
    assert len(store.prompts.all()) == 3


def test_what_is_left_replaces_no_other_prompt(store: Store, qtbot: QtBot) -> None:
    store.prompts.save([BRIEF, TRANSLATE])
    page = PromptsPage(store.prompts)
    qtbot.addWidget(page)
    page.show()
    page.new.click()
    qtbot.keyClicks(page.name, "Brief")
    qtbot.keyClicks(page.text, "In one sentence.")
    page.hide()
    assert store.prompts.all() == [BRIEF, SavedPrompt("Brief 2", "In one sentence."), TRANSLATE]


def test_a_click_on_a_prompt_shows_it_where_saving_another_moves_it(store: Store, qtbot: QtBot) -> None:
    store.prompts.save([BRIEF, TRANSLATE])
    page = PromptsPage(store.prompts)
    qtbot.addWidget(page)
    page.show()
    page.names.setCurrentRow(1)
    page.name.selectAll()
    qtbot.keyClicks(page.name, "Aaa")
    clicked = page.names.visualItemRect(page.names.item(0)).center()
    qtbot.mouseClick(page.names.viewport(), Qt.MouseButton.LeftButton, pos=clicked)
    qtbot.waitUntil(lambda: page.name.text() == "Brief")
    assert page.names.item(0).text() == "Aaa"
    assert [item.text() for item in page.names.selectedItems()] == ["Brief"]
    page.delete.click()
    assert store.prompts.all() == [SavedPrompt("Aaa", TRANSLATE.text)]


def test_undo_leaves_what_is_being_written(store: Store, qtbot: QtBot) -> None:
    store.prompts.save([BRIEF, TRANSLATE])
    page = PromptsPage(store.prompts)
    qtbot.addWidget(page)
    page.show()
    page.names.setCurrentRow(0)
    page.delete.click()
    qtbot.keyClicks(page.text, "Half a prom")
    page.undo.click()
    assert store.prompts.all() == [BRIEF, TRANSLATE]
    assert page.text.toPlainText() == "Half a prom"
    assert page.names.currentRow() == -1


def test_what_cannot_be_saved_stays_in_the_fields(
    store: Store, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.prompts.save([BRIEF, TRANSLATE])
    page = PromptsPage(store.prompts)
    qtbot.addWidget(page)
    page.show()
    page.names.setCurrentRow(0)
    qtbot.keyClicks(page.text, "Very: ")

    def fail(_: object) -> None:
        raise StoreError("The disk is full.")

    monkeypatch.setattr(store.prompts, "save", fail)
    page.names.setCurrentRow(1)
    qtbot.waitUntil(lambda: "The disk is full." in page.note.text())
    assert (page.names.currentRow(), page.text.toPlainText()) == (0, "Very: Be brief.")
