"""Measures how long the real window is late with a frame while the real engine computes on all cores.

Run as a program, because it needs a display:
    xvfb-run -a -s "-screen 0 1600x1000x24" python -m tests.app.frames [SECONDS]
A timer asks for a turn every 8 ms; the time between two turns is the longest that a frame can wait. Prints
the shares up to 33 and 100 ms, once while the window is idle and once while answers with trees are shown.
"""

import sys
import tempfile
import time
from pathlib import Path

from msgspec import structs
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest

from app.preferences import NEW_CHATS, PreferencesFile
from app.startup.application import make_application
from app.store import SavedOptions, Store
from app.window.arguments import Arguments
from app.window.core import Core
from app.window.window import Window
from tests.app.drive_window import Person

TURN_MS = 8
QUESTION = "Write a long story about a lighthouse, a storm and a cat."


class Turns:
    """The times between two turns of the event loop, in milliseconds."""

    def __init__(self) -> None:
        self.waits: list[float] = []
        self._last = time.perf_counter()
        self._timer = QTimer(timerType=Qt.TimerType.PreciseTimer, interval=TURN_MS)
        self._timer.timeout.connect(self._count)

    def begin(self) -> None:
        self.waits, self._last = [], time.perf_counter()
        self._timer.start()

    def end(self, what: str) -> None:
        self._timer.stop()
        waits = sorted(self.waits)
        shares = " ".join(
            f"up to {most} ms {sum(wait <= most for wait in waits) / len(waits):.2%}," for most in (33, 100)
        )
        print(f"{what}: {len(waits)} turns, {shares} longest {waits[-1]:.0f} ms")

    def _count(self) -> None:
        now = time.perf_counter()
        self.waits.append((now - self._last) * 1000)
        self._last = now


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    app = make_application()
    with tempfile.TemporaryDirectory() as scratch:
        store = Store(Path(scratch) / "conversations.sqlite")
        preferences = PreferencesFile(Path(scratch) / "settings.toml")
        options = SavedOptions(temperature=0.8, max_new_tokens=400)
        preferences.change(new_chats=structs.replace(NEW_CHATS, options=options))
        window = Window(Core(Arguments(), store, preferences))
        window.resize(1430, 860)
        window.start()
        person = Person(window, store, preferences, Path(scratch))
        turns = Turns()
        QTest.qWait(1000)
        turns.begin()
        QTest.qWait(int(seconds * 250))
        turns.end("idle")
        turns.begin()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            person.ask(QUESTION)
        turns.end("answering")
        answers = person.answers
        tokens, passes = sum(a.tokens for a in answers), sum(a.target_passes for a in answers)
        print(f"{len(answers)} answers, {tokens} tokens in {passes} passes")
        person.leave()
        store.close()
    app.processEvents()


if __name__ == "__main__":
    main()
