"""A panel alone that plays a recorded run, from a file or as it is written to standard input.

    python -m app.thinking.replay FILE|- [--speed X] [--frames]

`-` shows events at once when they come. --frames: paint, say at the end in one JSON object how long frames
took, and leave; what `specexec bench panel` runs beside the engine.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import msgspec
from PySide6.QtCore import QEvent, QObject, QThread, QTimer, Signal
from PySide6.QtWidgets import QApplication

from app.engine_link import FRAME_MS
from app.mailbox import Mailbox
from app.startup import make_application
from app.thinking.panel import Panel
from engine import trace
from engine.protocol.messages import Answer, Event, IterationDone, PassProgress, TreeGrown
from engine.trace import Timed


def show(panel: Panel, event: Event) -> None:
    """Give the panel an event of a run."""
    match event:
        case TreeGrown() | IterationDone():
            panel.show_tree(event)
        case PassProgress():
            panel.show_pass(event)
        case Answer():
            panel.show_answer(event)


class Replay(QObject):
    """Gives a panel the events of a trace at their times.

    Signals:
        finished: the last was given
    """

    finished = Signal()

    def __init__(self, panel: Panel, events: Sequence[Timed], speed: float) -> None:
        super().__init__(panel)
        self._panel = panel
        self._left = list(reversed(events))
        self._speed = speed
        self._started = time.perf_counter()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._advance)
        self._timer.start(FRAME_MS)

    def _advance(self) -> None:
        now = (time.perf_counter() - self._started) * self._speed
        while self._left and self._left[-1].t <= now:
            show(self._panel, self._left.pop().event)
        if not self._left:
            self._timer.stop()
            self.finished.emit()


class Reader(QThread):
    """Reads a trace from standard input, into a mailbox that a slow window does not fill."""

    def __init__(self, mailbox: Mailbox) -> None:
        super().__init__()
        self._mailbox = mailbox

    def run(self) -> None:
        for line in sys.stdin.buffer:
            self._mailbox.put(msgspec.json.decode(line, type=Timed).event)


class Frames(QObject):
    """Takes what waits 30 times a second, paints what it changed at once, and times that."""

    def __init__(self, panel: Panel, reader: Reader, mailbox: Mailbox) -> None:
        super().__init__(panel)
        self.seconds: list[float] = []
        self._panel = panel
        self._mailbox = mailbox
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._advance)
        self._timer.start(FRAME_MS)
        reader.finished.connect(self._finish)

    def _advance(self) -> None:
        events = self._mailbox.take()
        if not events:
            return
        started = time.perf_counter()
        for event in events:
            show(self._panel, event)
        QApplication.sendPostedEvents(self._panel.window(), QEvent.Type.UpdateRequest)
        self.seconds.append(time.perf_counter() - started)

    def _finish(self) -> None:
        self._advance()
        ms = sorted(1000 * each for each in self.seconds)
        said = {
            "frames": len(ms),
            "median_ms": median(ms) if ms else None,
            "worst_ms": ms[-1] if ms else None,
            "processor_s": time.process_time(),
        }
        print(json.dumps(said))
        QApplication.quit()


def main() -> None:
    parser = argparse.ArgumentParser(prog="app.thinking.replay")
    parser.add_argument("file")
    parser.add_argument("--speed", type=float, default=1.0)
    parser.add_argument("--frames", action="store_true")
    given = parser.parse_args()
    app = make_application()
    app.setQuitOnLastWindowClosed(True)
    panel = Panel()
    panel.resize(620, 800)
    panel.setWindowTitle("SpecExec Desktop")
    if given.file == "-":
        panel.show_loaded(trace.read_header(sys.stdin.buffer.readline(), "standard input").loaded)
        mailbox = Mailbox()
        reader = Reader(mailbox)
        frames = Frames(panel, reader, mailbox)
        reader.start()
        frames.setObjectName("frames")
    else:
        recorded = trace.read(Path(given.file))
        panel.show_loaded(recorded.header.loaded)
        Replay(panel, recorded.events, given.speed)
    panel.show()
    sys.exit(app.exec())


if __name__ == "__main__":
    main()
