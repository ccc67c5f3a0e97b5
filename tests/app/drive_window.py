"""Drives the real window with the real engine, as a person would: every flow of `tests.app.flows`.

Run as a program, because it needs a display of its own:
    python -m tests.app.drive_window FOLDER [--target MODEL]
Leaves screenshots in FOLDER and prints one JSON object: what came of each flow. Not a test itself; see
test_real_window.py.
"""

import argparse
import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from msgspec import structs
from PySide6.QtCore import QEventLoop, QObject, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QLineEdit, QWidget

from app.arguments import Arguments
from app.engine import State
from app.preferences import NEW_CHATS, PreferencesFile
from app.startup import make_application
from app.store import SavedOptions, Store
from app.window import Window
from engine.protocol.messages import Answer
from tests.app import flows

PATIENCE_MS = 60_000
SETTLE_MS = 120
NONE = Qt.KeyboardModifier.NoModifier


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    app = make_application()
    for name in ("conversations.sqlite", "settings.toml"):
        (given.folder / name).unlink(missing_ok=True)
    store = Store(given.folder / "conversations.sqlite")
    preferences = PreferencesFile(given.folder / "settings.toml")
    preferences.change(new_chats=structs.replace(NEW_CHATS, options=SavedOptions()), theme="light")  # greedy
    window = Window(Arguments(target=given.target), store, preferences)
    window.start()
    person = Person(window, store, given.folder)
    report: dict[str, object] = {"platform": app.platformName(), "loads": person.loads}
    for flow in flows.FLOWS:
        report[flow.__name__] = flow(person)
    person.leave()
    report["still_running"] = window.engine.is_running
    store.close()
    print(json.dumps(report))


class Person:
    """Attributes: `window`; its `engine`, `chat` and `store`; `folder`, for screenshots; `loads`: targets."""

    def __init__(self, window: Window, store: Store, folder: Path) -> None:
        self.window, self.store, self.folder = window, store, folder
        self.engine, self.chat = window.engine, window.chat
        self.answers: list[Answer] = []
        self.loads: list[str] = []
        for fault in (self.engine.load_failed, self.engine.lost, self.chat.failed, self.chat.trouble):
            fault.connect(give_up)
        self.chat.answered.connect(self.answers.append)
        self.engine.loaded.connect(lambda loaded: self.loads.append(loaded.target.name))
        self.until(self.engine.state_changed, lambda: self.engine.state is State.READY)

    # -- what a person does ----------------------------------------------------------------------------------

    def begin(self, text: str) -> None:
        """Type a question and press Enter."""
        editor = self.window.composer.editor
        editor.setFocus()
        QTest.keyClicks(editor, text)
        QTest.keyClick(editor, Qt.Key.Key_Return)
        assert self.engine.state is State.ANSWERING, self.engine.state

    def ask(self, text: str) -> Answer:
        """And wait for the whole answer."""
        self.begin(text)
        return self.read()

    def read(self) -> Answer:
        """The answer under way, once it is whole."""
        assert self.engine.state in (State.ANSWERING, State.STOPPING), self.engine.state
        self.until(self.engine.state_changed, lambda: self.engine.state is State.READY)
        return self.answers[-1]

    def press(self, key: Qt.Key, held: Qt.KeyboardModifier = NONE, on: QWidget | None = None) -> None:
        if QApplication.activeWindow() is None:  # there is no window manager that would see to it
            self.window.activateWindow()
            assert QTest.qWaitForWindowActive(self.window)
        QTest.keyClick(on or QApplication.focusWidget() or self.window, key, held)

    def click(self, text: str, within: QWidget) -> None:
        """A button by what stands on it."""
        found = [
            each
            for each in within.findChildren(QAbstractButton)
            if each.isVisible() and text in (each.text(), each.accessibleName())
        ]
        assert found, f"no button {text}"
        QTest.mouseClick(found[-1], Qt.MouseButton.LeftButton)

    def choose_file(self, path: Path) -> None:
        """In the file dialog that is about to be opened."""

        def choose() -> None:
            dialog = QApplication.activeModalWidget()
            if isinstance(dialog, QFileDialog):
                dialog.findChild(QLineEdit, "fileNameEdit").setText(str(path))
                dialog.accept()
            else:
                QTimer.singleShot(50, choose)

        QTimer.singleShot(50, choose)

    def photograph(self, name: str) -> None:
        QTest.qWait(SETTLE_MS)  # the X server paints in its own time
        screen = self.window.screen()
        frame = self.window.frameGeometry()
        shot = screen.grabWindow(0, frame.x(), frame.y(), frame.width(), frame.height())
        assert shot.save(str(self.folder / f"{name}.png"))

    def leave(self) -> None:
        closed = self.waiter(self.window.closed)
        self.window.close()
        closed()

    # -- what a person sees ----------------------------------------------------------------------------------

    @property
    def said(self) -> list[str]:
        """The messages shown, questions and answers in turn."""
        return [each.message.text for each in self.chat.shown]

    @property
    def last(self) -> QWidget:
        """The last message shown."""
        return self.window.transcript._rows[-1]

    # -- waiting ---------------------------------------------------------------------------------------------

    def until(self, signal: object, is_so: Callable[[], bool]) -> None:
        while not is_so():
            self.waiter(signal)()

    def waiter(self, signal: object) -> Callable[[], None]:
        """Begins to listen now; the function returned waits for the signal; the program ends without it."""
        loop, heard = QEventLoop(), []
        listener = QObject()
        signal.connect(lambda *_: (heard.append(True), loop.quit()))

        def wait() -> None:
            QTimer.singleShot(PATIENCE_MS, listener, loop.quit)
            if not heard:
                loop.exec()
            if not heard:
                give_up(f"waited in vain, {self.engine.state}")

        return wait


def give_up(why: object) -> None:
    traceback.print_stack()
    print(why, file=sys.stderr, flush=True)
    os._exit(3)  # the engine follows by its lifeline


if __name__ == "__main__":
    main()
