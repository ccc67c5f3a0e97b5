"""The most frequent things a user does in the window. Each flow returns a report of its results."""

import json
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from app.race.race_dialog import RaceDialog
from app.settings.dialog import SettingsDialog
from app.settings.editors import ChoiceEditor
from app.sidebar.search import Searching
from app.sidebar.transfer import ChatTransfer
from app.store import Preset
from app.widgets import theme
from tests.app.seen import texts

if TYPE_CHECKING:
    from tests.app.drive_window import Person

Report = dict[str, object]
Key = Qt.Key
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
CAPITAL = "What is the capital of Japan?"


def ask_and_read(person: "Person") -> Report:
    person.photograph("ready")
    verdicts: list[int] = []

    def look(event: object) -> None:
        accepted = len(getattr(event, "accepted", ()))
        if accepted >= 2 and not verdicts:
            verdicts.append(accepted)
            QTimer.singleShot(0, lambda: person.photograph("verdict"))

    person.chat.reported.connect(look)
    answer = person.ask("Repeat this sentence three times: The sea is blue and the sky is wide.")
    person.chat.reported.disconnect(look)
    person.photograph("answered")
    return {
        "text": answer.text,
        "stop_reason": answer.stop_reason,
        "tokens_per_pass": answer.tokens_per_pass,
        "verdicts": verdicts,
        "seen": texts(person.window),
        "below": person.last.view.figures.accessibleDescription(),
    }


def stop(person: "Person") -> Report:
    before, button = len(person.answers), person.window.composer.button
    stop = partial(QTest.mouseClick, button, Qt.MouseButton.LeftButton)
    begun = person.waiter(person.chat.text_added, stop)
    person.begin("Write a very long story.")  # over 500 tokens, drafted badly: seconds
    begun()
    answer = person.read(before)
    person.photograph("stopped")
    return {
        "text": answer.text,
        "stop_reason": answer.stop_reason,
        "reused_tokens": answer.reused_tokens,
        "kept": person.said[-1],
    }


def go_on(person: "Person") -> Report:
    before = person.said[-1]
    answers = len(person.answers)
    escape = partial(person.press, Key.Key_Escape, on=person.window)
    more = person.waiter(person.chat.text_added, escape)
    person.click("Continue this answer", person.last)
    more()
    answer = person.read(answers)
    return {
        "before": before,
        "more": answer.text,
        "after": person.said[-1],
        "versions": len(person.chat.shown[-1].versions),
        "stop_reason": answer.stop_reason,
    }


def regenerate(person: "Person") -> Report:
    person.press(Key.Key_N, CTRL)
    first = person.ask(CAPITAL)
    person.press(Key.Key_Return, CTRL, on=person.window)
    second = person.read()
    person.click("Answer again with the same seed", person.last)
    again = person.read()
    person.photograph("versions")
    person.click("‹", person.last)
    return {
        "texts": [first.text, second.text, again.text],
        "seeds": [first.seed, second.seed, again.seed],
        "budgets": [second.budgets, again.budgets],
        "version": person.last.view.action_row.versions.label.text(),
        "shown": person.said,
    }


def edit(person: "Person") -> Report:
    person.press(Key.Key_Up, CTRL, on=person.window)
    editor = person.window.transcript.findChildren(type(person.window.composer.editor).__base__)
    writing = next(each for each in editor if each.hasFocus())
    writing.selectAll()
    QTest.keyClicks(writing, "What is the capital of Germany?")
    person.photograph("editing")
    person.press(Key.Key_Return, CTRL, on=writing)
    answer = person.read()
    after, versions = person.said, person.chat.shown[0].versions
    person.photograph("edited")
    person.click("‹", person.window.transcript.rows[0])
    return {"text": answer.text, "after": after, "versions": len(versions), "before": person.said}


def search(person: "Person") -> Report:
    window = person.window
    found = person.waiter(window.search.findChild(Searching).found)
    person.press(Key.Key_K, CTRL)
    found()
    found = person.waiter(window.search.findChild(Searching).found)
    window.search.field.setText("sea sentence")
    found()
    person.photograph("search")
    hits = [hit.excerpt for hit in window.search.results.model().results.hits]
    person.press(Key.Key_Return, on=window.search.field)
    body = window.transcript.rows[0].view.body
    QTest.qWait(200)
    person.photograph("hit")
    marked = [each.cursor.selectedText() for each in body.extraSelections()]
    return {"hits": hits, "marked": marked, "first": person.said[0], "focus": str(window.search.isVisible())}


def settings(person: "Person") -> Report:
    person.press(Key.Key_N, CTRL)
    person.ask("Say hello.")
    dialog = open_settings(person)
    row = dialog.chat_page.rows["options.max_new_tokens"]
    row.editor.box.setValue(8)
    row.editor.focus.setFocus()
    dialog.chat_page.flush()
    person.photograph("settings")
    dialog.tabs.setCurrentIndex(1)
    dialog.presets_page.save_as("Brief")
    person.photograph("presets")
    dialog.tabs.setCurrentIndex(5)
    person.photograph("models")
    dialog.close()
    short = person.ask("Write two sentences about mountains.")
    person.press(Key.Key_N, CTRL)
    dialog = open_settings(person)
    dialog.tabs.setCurrentIndex(1)
    person.click("Use in this chat", dialog.presets_page)
    dialog.close()
    preset = person.ask("Write two sentences about rivers.")
    return {
        "tokens": [short.tokens, preset.tokens],
        "stop_reasons": [short.stop_reason, preset.stop_reason],
        "presets": [each.name for each in person.store.presets.all() if isinstance(each, Preset)],
    }


def tidy(person: "Person") -> Report:
    window = person.window
    chat = person.chat.id
    assert chat is not None
    person.press(Key.Key_L, CTRL | SHIFT)
    view = window.sidebar.view
    person.press(Key.Key_F2, on=view)
    (title,) = [each for each in view.findChildren(QLineEdit) if each.isVisible()]
    title.selectAll()
    QTest.keyClicks(title, "Rivers")
    QTest.keyClick(title, Key.Key_Return)
    QTest.qWait(50)  # Qt commits the text a moment later
    person.press(Key.Key_P, CTRL | SHIFT, on=view)
    pinned = [(line.title, line.pinned) for line in person.store.chats.pinned()]
    person.photograph("pinned")
    person.press(Key.Key_Delete, on=view)
    left = [line.id for line in person.store.chats.pinned()]
    shown = person.chat.id
    person.photograph("deleted")
    person.press(Key.Key_Z, CTRL, on=view)
    back = [line.id for line in person.store.chats.pinned()]
    return {
        "pinned": pinned,
        "left": left,
        "shown_then": shown,
        "back": back == [chat],
        "shown_again": person.chat.id == chat,
    }


def export_and_import(person: "Person") -> Report:
    sidebar = person.window.sidebar
    written = [person.folder / "chat.md", person.folder / "chat.json"]
    for path in written:
        path.unlink(missing_ok=True)
        done = person.waiter(sidebar.findChild(ChatTransfer).written)
        person.choose_file(path)
        person.press(Key.Key_E, CTRL, on=sidebar.view)
        done()
    person.photograph("exported")
    ended = person.waiter(sidebar.findChild(ChatTransfer).import_ended)
    person.choose_file(written[1])
    sidebar.header.import_chats.trigger()
    ended()
    person.photograph("imported")
    (kept,) = json.loads(written[1].read_text())["chats"]
    copies = [line for line in person.store.chats.pinned() if line.title == "Rivers"]
    return {
        "markdown": written[0].read_text(),
        "messages": [each["text"] for each in kept["messages"]],
        "copies": len(copies),
        "same": [
            [each.text for each in person.store.messages.all(line.id)] == person.said for line in copies
        ],
    }


def race(person: "Person") -> Report:
    before = len(person.said)
    person.window.open_race()
    dialog = person.window.findChild(RaceDialog)
    dialog.form.question.setPlainText(
        "Repeat this sentence three times: The sea is blue and the sky is wide."
    )
    dialog.form.tokens.setValue(48)
    finished = person.waiter(person.window.core.race.finished)
    QTest.mouseClick(dialog.form.start, Qt.MouseButton.LeftButton)
    finished()
    race = dialog.page.race
    person.photograph("race")
    dialog.close()
    return {
        "drafters": [lane.drafter for lane in race.lanes],
        "texts": [lane.text for lane in race.lanes],
        "same": race.is_same,
        "tokens": [lane.tokens for lane in race.lanes],
        "passes": [lane.target_passes for lane in race.lanes],
        "recorded": [len(lane.passes) for lane in race.lanes],
        "seconds": [lane.seconds for lane in race.lanes],
        "added": len(person.said) - before,
    }


def by_keyboard(person: "Person") -> Report:
    """Open a new chat, change the theme and the language, all by keyboard."""
    person.press(Key.Key_N, CTRL)
    focused = QApplication.focusWidget() is person.window.composer.editor
    answer = person.ask("Name three colours, as a list.")
    person.photograph("list")
    told: list[None] = []
    person.window.language_changed.connect(lambda: told.append(None))
    dialog = open_settings(person)
    dialog.tabs.setCurrentIndex(3)
    choose(dialog.appearance_page.rows["theme"].editor, 2)
    is_dark = theme.current() is theme.DARK
    person.photograph("dark_settings")
    choose(dialog.appearance_page.rows["language"].editor, 2)
    person.press(Key.Key_Escape, on=dialog)
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    person.photograph("dark")
    person.press(Key.Key_F1, on=person.window)
    person.photograph("dark_keyboard")
    person.press(Key.Key_Escape, on=QApplication.activeModalWidget())
    person.window.resize(1024, 640)
    person.photograph("dark_small")
    return {
        "focused": focused,
        "text": answer.text,
        "dark": is_dark,
        "language": person.preferences.now.language,
        "told": len(told),
    }


def open_settings(person: "Person") -> SettingsDialog:
    person.press(Key.Key_Comma, CTRL, on=person.window)
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, SettingsDialog)
    return dialog


def choose(editor: object, place: int) -> None:
    """Choose an item of a combo box by keyboard."""
    assert isinstance(editor, ChoiceEditor)
    editor.box.setFocus()
    QTest.keyClick(editor.box, Key.Key_Home)
    for _ in range(place):
        QTest.keyClick(editor.box, Key.Key_Down)


FLOWS = (
    ask_and_read,
    stop,
    go_on,
    regenerate,
    edit,
    search,
    settings,
    tidy,
    export_and_import,
    race,
    by_keyboard,
)
