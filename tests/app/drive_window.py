"""Drives the real window with the real engine through every flow of `tests.app.flows`, as a user would.

Run as a program, because it needs a display of its own:
    python -m tests.app.drive_window FOLDER [--target MODEL] [--draft MODEL]
Saves screenshots in FOLDER and prints one JSON object with the result of each flow. Not a test itself; see
test_real_window.py.
"""

import argparse
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import structs
from PySide6.QtCore import QEventLoop, QObject, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QLineEdit, QWidget

from app.connection.engine import State
from app.preferences import NEW_CHATS, PreferencesFile
from app.startup.application import make_application
from app.store import SavedOptions, Store
from app.window.arguments import Arguments
from app.window.core import Core
from app.window.window import Window
from engine.protocol.messages import Answer
from tests.app import flows

PATIENCE_MS = 60_000
SETTLE_MS = 120
NONE = Qt.KeyboardModifier.NoModifier


def main() -> None:
    given = arguments().parse_args()
    app = make_application()
    greedy = structs.replace(NEW_CHATS, options=SavedOptions())
    with sitting(given, new_chats=greedy, theme="light") as person:
        report: dict[str, object] = {"platform": app.platformName(), "loads": person.loads}
        for flow in flows.FLOWS:
            report[flow.__name__] = flow(person)
    report["still_running"] = person.engine.is_running
    print(json.dumps(report))


def arguments() -> argparse.ArgumentParser:
    """Return a parser of the arguments that each program of this kind has."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target")
    parser.add_argument("--draft", default="auto")
    return parser


@contextmanager
def sitting(given: argparse.Namespace, **preferences: object) -> Iterator["Person"]:
    """Open a window that has no chats yet, and close it in the end. given: `arguments`; preferences: those
    that are not the usual ones."""
    given.folder.mkdir(parents=True, exist_ok=True)
    for name in ("conversations.sqlite", "settings.toml"):
        (given.folder / name).unlink(missing_ok=True)
    store = Store(given.folder / "conversations.sqlite")
    file = PreferencesFile(given.folder / "settings.toml")
    file.change(**preferences)
    window = Window(Core(Arguments(given.target, given.draft), store, file))
    window.start()
    person = Person(window, store, file, given.folder)
    yield person
    person.leave()
    store.close()


class Person:
    """
    Attributes:
        window, engine, chat: the window under test, its engine and its conversation.
        store, preferences: the files of the window.
        folder: for screenshots.
        answers: complete answers, in order.
        loads: names of the targets loaded, in order.
        patience_ms: longest wait for a signal.
    """

    def __init__(self, window: Window, store: Store, preferences: PreferencesFile, folder: Path) -> None:
        self.window, self.store, self.preferences, self.folder = window, store, preferences, folder
        self.engine, self.chat = window.engine, window.chat
        self.answers: list[Answer] = []
        self.loads: list[str] = []
        self.patience_ms = PATIENCE_MS
        for fault in (self.engine.load_failed, self.engine.lost, self.chat.failed, self.chat.store_failed):
            fault.connect(give_up)
        self.chat.answered.connect(self.answers.append)
        self.engine.loaded.connect(lambda loaded: self.loads.append(loaded.target.name))
        self.until(self.engine.state_changed, lambda: self.engine.state is State.READY)

    # -- the user's actions ----------------------------------------------------------------------------------

    def begin(self, text: str) -> None:
        """Type a question and press Enter."""
        editor = self.window.composer.editor
        editor.setFocus()
        QTest.keyClicks(editor, text)
        QTest.keyClick(editor, Qt.Key.Key_Return)
        assert self.engine.state is State.ANSWERING, self.engine.state

    def ask(self, text: str) -> Answer:
        """Ask a question and return the complete answer."""
        self.begin(text)
        return self.read()

    def read(self, before: int | None = None) -> Answer:
        """Wait for the answer in progress and return it. before: the number of earlier answers, if this one
        may have ended already."""
        if before is None:
            assert self.engine.state in (State.ANSWERING, State.STOPPING), self.engine.state
            before = len(self.answers)
        if len(self.answers) == before or self.engine.state is not State.READY:
            self.until(self.engine.state_changed, lambda: self.engine.state is State.READY)
        return self.answers[-1]

    def press(self, key: Qt.Key, held: Qt.KeyboardModifier = NONE, on: QWidget | None = None) -> None:
        if QApplication.activeWindow() is None:  # without a window manager nothing activates it
            self.window.activateWindow()
            assert QTest.qWaitForWindowActive(self.window)
        QTest.keyClick(on or QApplication.focusWidget() or self.window, key, held)

    def click(self, text: str, within: QWidget) -> None:
        """Click the last visible button with this text or accessible name."""
        found = [
            each
            for each in within.findChildren(QAbstractButton)
            if each.isVisible() and text in (each.text(), each.accessibleName())
        ]
        assert found, f"no button {text}"
        QTest.mouseClick(found[-1], Qt.MouseButton.LeftButton)

    def choose_file(self, path: Path) -> None:
        """Choose a file in the file dialog that opens next."""

        def choose() -> None:
            dialog = QApplication.activeModalWidget()
            if isinstance(dialog, QFileDialog):
                dialog.findChild(QLineEdit, "fileNameEdit").setText(str(path))
                dialog.accept()
            else:
                QTimer.singleShot(50, choose)

        QTimer.singleShot(50, choose)

    def photograph(self, name: str) -> None:
        QTest.qWait(SETTLE_MS)  # the X server paints asynchronously
        screen = self.window.screen()
        frame = self.window.frameGeometry()
        shot = screen.grabWindow(0, frame.x(), frame.y(), frame.width(), frame.height())
        assert shot.save(str(self.folder / f"{name}.png"))

    def leave(self) -> None:
        closed = self.waiter(self.window.closed)
        self.window.close()
        closed()

    # -- what the user sees ----------------------------------------------------------------------------------

    @property
    def said(self) -> list[str]:
        """The texts shown, alternating questions and answers."""
        return [each.message.text for each in self.chat.shown]

    @property
    def last(self) -> QWidget:
        """The row of the last message shown."""
        return self.window.transcript.rows[-1]

    # -- waiting ---------------------------------------------------------------------------------------------

    def until(self, signal: object, is_so: Callable[[], bool]) -> None:
        while not is_so():
            self.waiter(signal)()

    def waiter(self, signal: object, act: Callable[[], object] = lambda: None) -> Callable[[], None]:
        """Connect to a signal now. Return a function that waits for it and ends the program on a timeout.
        act: done when it first comes, before what else has arrived is handled."""
        loop, heard = QEventLoop(), []
        listener = QObject()

        def hear(*_: object) -> None:
            heard.append(True)
            if len(heard) == 1:
                act()
            loop.quit()

        signal.connect(hear)

        def wait() -> None:
            QTimer.singleShot(self.patience_ms, listener, loop.quit)
            if not heard:
                loop.exec()
            signal.disconnect(hear)
            if not heard:
                give_up(f"waited in vain, {self.engine.state}")

        return wait


def give_up(*why: object) -> None:
    traceback.print_stack()
    print(*why, file=sys.stderr, flush=True)
    os._exit(3)  # the engine ends by itself


if __name__ == "__main__":
    main()
