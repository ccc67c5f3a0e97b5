"""Drives the real program as a stranger does, from the first start to a useful answer, and counts the steps.

Run as a program, because it needs a display of its own, with $HF_ENDPOINT, $HOME and $XDG_DATA_HOME of a
fresh user:
    python -m tests.app.wizard.drive_stranger demo|recommended FOLDER
demo: up to an answer of the shipped model. recommended: up to an answer of the recommended model, which is
downloaded. The catalogue is reduced to models of which the shipped file can stand in. Prints one JSON object
with every click and key press. Not a test itself; see test_real_wizard.py.
"""

import json
import sys
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QPushButton, QWidget

from app.connection.engine import State
from app.downloads.indicator import DownloadIndicator
from app.preferences import PreferencesFile
from app.startup.application import Program, make_application
from app.store import Store
from app.window.arguments import Arguments
from app.wizard.pages.page import Page
from app.wizard.wizard import Wizard
from engine import catalog
from engine.catalog import Catalog
from engine.protocol.messages import Answer
from tests.app.wizard.drive_wizard import give_up, until

SETTLE_MS = 150  # the X server paints asynchronously


class Hand:
    """The stranger's hand.

    Attributes:
        did: every click and key press, in order.
    """

    def __init__(self) -> None:
        self.did: list[str] = []

    def click(self, button: QAbstractButton) -> None:
        until(lambda: button.isVisible() and button.isEnabled())
        self.did.append(f"click {button.text() or button.accessibleName()}")
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def press_enter(self, widget: QWidget) -> None:
        self.did.append("press Enter")
        QTest.keyClick(widget, Qt.Key.Key_Return)


def main() -> None:
    goal, folder = sys.argv[1], Path(sys.argv[2])
    reduce_catalog()
    app = make_application()
    store, preferences = Store(folder / "conversations.sqlite"), PreferencesFile(folder / "settings.toml")
    program = Program(app, Arguments(), preferences, store)
    program.open_window()
    window, wizard = program.window, program.wizard
    for fault in (window.engine.load_failed, window.engine.lost, window.chat.failed):
        fault.connect(give_up)
    answers: list[Answer] = []
    window.core.queue.finished.connect(lambda _, answer: answers.append(answer))
    hand = Hand()
    until(lambda: window.engine.state is State.READY)
    if goal == "recommended":
        get_recommended(hand, program)
        until(lambda: window.engine.state is State.READY and "360" in window.engine.wanted.target)
    else:
        assert not wizard.isVisible(), "the wizard waits until it is asked for"
    ask(hand, program)
    until(lambda: bool(answers))
    assert window.screen().grabWindow(window.winId()).save(str(folder / f"stranger-{goal}.png"))
    window.header.open_picker()
    rows = [
        window.header.picker.models.item(row).text() for row in range(window.header.picker.models.count())
    ]
    window.header.picker.hide()
    report = {
        "marked": [row.split("\n")[0] for row in rows if "loaded now" in row],
        "steps": hand.did,
        "count": len(hand.did),
        "target": window.engine.wanted.target,
        "tokens": answers[0].tokens,
    }
    print(json.dumps(report), flush=True)
    closed: list[bool] = []
    window.closed.connect(lambda: closed.append(True))
    window.close()
    until(lambda: bool(closed))
    program.close_down()
    program.setup.close()
    program.offers.close()
    program.updates.close()
    store.close()


def get_recommended(hand: Hand, program: Program) -> None:
    """Open the wizard, and go on in it until the recommended model is loaded."""
    window, wizard = program.window, program.wizard
    hand.click(next(each for each in window.header.findChildren(DownloadIndicator) if each.isVisible()))
    loads: list[object] = []
    wizard.load_asked.connect(lambda *pair: loads.append(pair))
    for page in (wizard.choose, wizard.where, wizard.ready):
        reach(wizard, page)
        hand.click(wizard.main)
    until(lambda: bool(loads))


def reach(wizard: Wizard, page: Page) -> None:
    """Wait for a page that can be left."""
    until(lambda: wizard.page is page and wizard.main.isEnabled())


def ask(hand: Hand, program: Program) -> None:
    """Ask the first question that an empty chat suggests."""
    window = program.window
    [first, *_] = [
        button
        for button in window.transcript.findChildren(QPushButton)
        if button.property("role") == "suggestion" and button.isVisible()
    ]
    hand.click(first)
    QTest.qWait(SETTLE_MS)
    if window.engine.state is State.READY:  # the suggestion is only written
        hand.press_enter(window.composer.editor)


def reduce_catalog() -> None:
    """Leave the shipped model and one that is to be downloaded."""
    whole = catalog.catalog()
    models = {id: whole.models[id] for id in ("smollm2-360m", "smollm2-135m")}
    variants = {id: each for id, each in whole.variants.items() if each.model in models}
    pairs = tuple(pair for pair in whole.pairs if {pair.target, pair.draft} <= models.keys())
    small = Catalog(models, variants, pairs)
    catalog.catalog = lambda: small


if __name__ == "__main__":
    main()
