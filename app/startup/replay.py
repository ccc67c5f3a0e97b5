"""A window that contains only the panel and replays a recorded run from a file or from standard input.

    python -m app.startup.replay FILE|- [--speed X] [--frames]

With `-`, the program reads events from standard input, shows them as soon as they arrive and measures
painting. At the end it prints one JSON object with the frame times and exits; --frames is accepted but has
no effect. `specexec bench panel` runs the program this way, beside the engine.
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

from app.connection.engine_link import FRAME_MS
from app.connection.mailbox import Mailbox
from app.panel.panel import Panel
from app.startup.application import make_application
from engine.protocol import trace
from engine.protocol.messages import Answer, Event, IterationDone, PassProgress, TreeGrown
from engine.protocol.trace import TimedEvent


def show(panel: Panel, event: Event) -> None:
    """Show an event of a run on the panel."""
    match event:
        case TreeGrown() | IterationDone():
            panel.show_tree(event)
        case PassProgress():
            panel.show_pass(event)
        case Answer():
            panel.show_answer(event)


class Replay(QObject):
    """Shows the events of a trace on a panel at their recorded times.

    Signals:
        finished: the last event was shown
    """

    finished = Signal()

    def __init__(self, panel: Panel, events: Sequence[TimedEvent], speed: float) -> None:
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


class TraceReader(QThread):
    """A thread that reads the events of a trace from standard input into a mailbox, whose size stays bounded
    even if the window is slow."""

    def __init__(self, mailbox: Mailbox) -> None:
        super().__init__()
        self._mailbox = mailbox

    def run(self) -> None:
        for line in sys.stdin.buffer:
            self._mailbox.put(msgspec.json.decode(line, type=TimedEvent).event)


class FrameTimer(QObject):
    """Shows the events from a mailbox 30 times a second, paints them at once and measures the time it takes.

    Attributes:
        seconds: how long each frame took to show and paint.
    """

    def __init__(self, panel: Panel, reader: TraceReader, mailbox: Mailbox) -> None:
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
        ms = sorted(1000 * seconds for seconds in self.seconds)
        summary = {
            "frames": len(ms),
            "median_ms": median(ms) if ms else None,
            "worst_ms": ms[-1] if ms else None,
            "processor_s": time.process_time(),
        }
        print(json.dumps(summary))
        QApplication.quit()


def main() -> None:
    parser = argparse.ArgumentParser(prog="app.startup.replay")
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
        reader = TraceReader(mailbox)
        frames = FrameTimer(panel, reader, mailbox)
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
