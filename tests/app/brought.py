"""What people bring along, as flows through the real window: saved prompts, a long book, a tool server. Each
flow returns a report of its results. Buttons are found by their widgets, since the language may be any."""

import json
import shlex
import sys
import time
from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton

from app.connection.engine import State
from app.conversation.call_card import CallCard
from app.conversation.file_preview import FilePreview
from app.conversation.prompt_fields import PromptFields
from app.rendering.quiet_button import QuietButton
from app.tools import bounds
from tests.app.documents import specimens
from tests.app.drive_window import Person
from tests.app.flows import CTRL, Report, open_settings
from tests.app.tools.servers import SCRIPT

Key = Qt.Key
PATIENCE_S = 60.0
SHORT_CALL_S = 3.0
PAGES = 300
TOLD = 220  # the page that answers the question
STONES = ("granite", "basalt", "slate", "chalk", "marble", "flint", "gneiss")
QUESTION = "Which colour did the lighthouse keepers of Skerryvore paint their doors?"
CALL_FOR = "Call the tool echo with the text: The tide is high."
PROMPT = "Say a word in {{language}}, in a {{tone}} tone."


def prompts(person: Person) -> Report:
    """Write a prompt in the settings, export and import it, and use it with the keyboard only."""
    path = person.folder / "prompts.json"
    path.unlink(missing_ok=True)
    dialog = open_settings(person)
    dialog.show_page("prompts_page")
    page = dialog.prompts_page
    for name, text in (("Translate", PROMPT), ("Review", "Review this as a careful colleague would.")):
        click(page.new)
        QTest.keyClicks(page.name, name)
        QTest.keyClicks(page.text, text)
        click(page.save)
    person.choose_file(path)
    click(page.export)
    person.photograph("prompts_exported")
    for _ in range(2):
        page.names.setCurrentRow(0)
        click(page.delete)
    left = [each.name for each in person.store.prompts.all()]
    person.choose_file(path)
    click(page.import_)
    person.photograph("prompts_imported")
    dialog.close()
    editor = person.window.composer.editor
    editor.setFocus()
    QTest.keyClicks(editor, "/")
    person.photograph("prompts_offered")
    offered = [person.window.composer.offer.item(row).text() for row in range(2)]
    QTest.keyClicks(editor, "tra")
    QTest.keyClick(editor, Key.Key_Return)
    (fields,) = person.window.composer.findChildren(PromptFields)
    QTest.keyClicks(fields.fields[0], "Korean")
    QTest.keyClick(fields.fields[0], Key.Key_Return)
    QTest.keyClicks(fields.fields[1], "friendly")
    person.photograph("prompts_variables")
    QTest.keyClick(fields.fields[1], Key.Key_Return)
    inserted = editor.toPlainText()
    person.photograph("prompts_inserted")
    editor.clear()
    return {
        "exported": [each["name"] for each in json.loads(path.read_text())["prompts"]],
        "left": left,
        "imported": [each.name for each in person.store.prompts.all()],
        "offered": offered,
        "inserted": inserted,
    }


def book(person: Person) -> Report:
    """Bring a PDF of 300 pages with the button, and ask about a page of its second half."""
    pages = [
        f"Page {number} tells of the {STONES[number % 7]} at mile {number} of the coast. " * 3
        for number in range(1, PAGES + 1)
    ]
    pages[TOLD - 1] = "The lighthouse keepers of Skerryvore painted their doors green."
    window = person.window
    person.press(Key.Key_N, CTRL)
    person.choose_file(specimens.pdf(person.folder / "The coast.pdf", pages))
    click(window.composer.attach)
    wait_until(lambda: bool(window.composer.attached))
    person.photograph("book_attached")
    (file,) = window.composer.attached
    answer = person.ask(QUESTION)
    person.photograph("book_answered")
    passages = person.last.view.passages.findChildren(QuietButton)
    shown = [each.text() for each in passages]
    click(next(each for each in passages if str(TOLD) in each.text()))
    preview = window.findChild(FilePreview)
    person.photograph("book_passage")
    read = preview.text.toPlainText()
    preview.accept()
    return {"pages": file.pages, "answer": answer.text, "shown": shown, "read": read}


def tools(person: Person) -> Report:
    """Add a tool server, and have its tool called: allowed, refused, hanging until it is stopped, and lying
    in two ways."""
    bounds.CALL_S = SHORT_CALL_S
    decisions: dict[str, tuple[str, Callable[[CallCard], QAbstractButton]]] = {
        "allowed": ("honest", lambda card: card.once),
        "refused": ("honest", lambda card: card.refuse),
        "hanging": ("hangs", lambda card: card.once),
        "lying": ("wrong ids", lambda card: card.once),
        "broken": ("broken", lambda card: card.once),
    }
    report: Report = {}
    for name, (way, decided) in decisions.items():
        serve(person, way)
        report[name] = _call(person, name, decided)
    return report


def serve(person: Person, way: str) -> None:
    """Add the reference server in the settings, or change how the one that is there behaves."""
    dialog = open_settings(person)
    dialog.show_page("tools_page")
    page, editor = dialog.tools_page, dialog.tools_page.editor
    if page.servers.count():
        page.servers.setCurrentRow(0)
        click(page.change)
    else:
        click(page.add)
        editor.name.setText("Reference")
    editor.command.setText(shlex.join([sys.executable, str(SCRIPT), way]))
    click(editor.look)
    wait_until(editor.is_on.isEnabled)
    editor.is_on.setChecked(True)
    QTest.qWait(50)
    page.parentWidget().parentWidget().ensureWidgetVisible(editor.save)
    person.photograph("tools_server")
    click(editor.save)
    dialog.close()


def _call(person: Person, name: str, decided: Callable[[CallCard], QAbstractButton]) -> Report:
    """Ask for a call, decide about it, and read the answer behind it."""
    person.press(Key.Key_N, CTRL)
    person.ask(CALL_FOR)
    card = cards(person)[0]
    asked = {"title": card.title.text(), "arguments": json.loads(card.call.arguments)}
    person.photograph(f"tools_{name}_asked")
    before, row = len(person.answers), person.last
    click(decided(card))
    if name == "hanging":
        wait_until(lambda: card.call.state == "open" and not card.once.isVisible())
        person.photograph("tools_hanging_running")
        click(card.refuse)
    person.until(person.chat.answered, lambda: len(person.answers) > before)
    person.until(person.engine.state_changed, lambda: person.engine.state is State.READY)
    card = row.calls[0]
    if card.switch.isVisible():
        click(card.switch)
    person.photograph(f"tools_{name}")
    return {**asked, "state": card.call.state, "result": card.call.result, "answer": person.said[-1]}


def cards(person: Person) -> list[CallCard]:
    return [card for row in person.window.transcript.rows for card in row.calls]


def click(button: QAbstractButton) -> None:
    assert button.isVisible(), button.text()
    assert button.isEnabled(), button.text()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not is_so():
        QTest.qWait(50)
        assert time.monotonic() < end, "waited in vain"


FLOWS = {flow.__name__: flow for flow in (prompts, book, tools)}
