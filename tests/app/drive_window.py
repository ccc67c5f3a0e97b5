"""Drives the real window with the real engine, as a person would: types, waits, reads, stops, closes.

Run as a program, because it needs a display of its own:
    python -m tests.app.drive_window FOLDER [--question TEXT] [window's arguments]
Leaves screenshots in FOLDER and prints one JSON object. Not a test itself; see test_real_window.py.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEventLoop, Qt, QTimer
from PySide6.QtTest import QTest

from app.arguments import Arguments
from app.engine import State
from app.preferences import PreferencesFile
from app.startup import make_application
from app.store import Store
from app.window import Window
from engine.protocol.messages import Answer

PATIENCE_MS = 180_000
SETTLE_MS = 120


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--question", default="Write two sentences about the sea.")
    parser.add_argument("--target")
    parser.add_argument("--accepts", type=int, default=3, help="photograph a verdict with this many accepted")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    app = make_application()
    store = Store(given.folder / "conversations.sqlite")
    preferences = PreferencesFile(given.folder / "settings.toml")
    window = Window(Arguments(target=given.target), store, preferences)
    window.start()
    person = Person(window, given.folder)
    report = {"platform": app.platformName(), **person.use(given.question, given.accepts)}
    print(json.dumps(report))


class Person:
    """Attributes: `window`; `folder`, for screenshots."""

    def __init__(self, window: Window, folder: Path) -> None:
        self.window = window
        self.folder = folder

    def use(self, question: str, accepts: int) -> dict[str, object]:
        engine, chat = self.window.engine, self.window.chat
        for fault in (engine.load_failed, engine.lost, chat.failed, chat.trouble):
            fault.connect(give_up)
        answers: list[Answer] = []
        chat.reported.connect(lambda event: answers.append(event) if isinstance(event, Answer) else None)
        self.wait(engine.state_changed, lambda: engine.state is State.READY)
        self.photograph("ready")
        photographed = self.photograph_a_verdict(accepts)
        self.ask(question)
        self.wait(engine.state_changed, lambda: engine.state is State.READY)
        self.photograph("answered")

        begun = self.waiter(chat.text_added)
        self.ask("Count from one to a thousand, one number per line.")
        begun()
        QTest.mouseClick(self.window.composer.button, Qt.MouseButton.LeftButton)
        self.wait(engine.state_changed, lambda: engine.state is State.READY)
        self.photograph("stopped")
        first, second = answers

        closed = self.waiter(self.window.closed)
        self.window.close()
        closed()
        return {
            "first": first.text,
            "first_stop_reason": first.stop_reason,
            "tokens_per_pass": first.tokens_per_pass,
            "second": second.text,
            "second_stop_reason": second.stop_reason,
            "second_reused_tokens": second.reused_tokens,
            "kept": [each.message.text for each in chat.shown],
            "verdict_photographed": photographed(),
            "still_running": engine.is_running,
        }

    def ask(self, text: str) -> None:
        editor = self.window.composer.editor
        QTest.keyClicks(editor, text)
        QTest.keyClick(editor, Qt.Key.Key_Return)
        assert self.window.engine.state is State.ANSWERING, self.window.engine.state

    def photograph(self, name: str, settle_ms: int = SETTLE_MS) -> None:
        QTest.qWait(settle_ms)  # the X server paints in its own time
        assert self.window.screen().grabWindow(self.window.winId()).save(str(self.folder / f"{name}.png"))

    def photograph_a_verdict(self, accepts: int) -> Callable[[], bool]:
        """Once a tree with so many accepted nodes is on the screen. Says later whether that came to pass."""
        found = []

        def look(event: object) -> None:
            if not found and len(getattr(event, "accepted", ())) >= accepts:
                found.append(event)
                QTimer.singleShot(SETTLE_MS, lambda: self.photograph("verdict", settle_ms=0))

        self.window.chat.reported.connect(look)
        return lambda: bool(found)

    def wait(self, signal: object, until: Callable[[], bool]) -> None:
        while not until():
            self.waiter(signal)()

    def waiter(self, signal: object) -> Callable[[], None]:
        """Begins to listen now; the function returned waits for the signal; the program ends without it."""
        loop, heard = QEventLoop(), []
        signal.connect(lambda *_: (heard.append(True), loop.quit()))

        def wait() -> None:
            QTimer.singleShot(PATIENCE_MS, loop, loop.quit)
            if not heard:
                loop.exec()
            if not heard:
                give_up(f"waited in vain, {self.window.engine.state}")

        return wait


def give_up(why: object) -> None:
    print(why, file=sys.stderr, flush=True)
    os._exit(3)  # the engine follows by its lifeline


if __name__ == "__main__":
    main()
