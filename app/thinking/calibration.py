"""Measures plain decoding on request: a short answer without a drafter, kept for the models as loaded."""

from PySide6.QtCore import QObject, Signal

from app.engine import Engine
from app.thinking import plain_speeds
from engine.protocol.messages import Answer, Event, Failed, Message, Options

QUESTION = "Count from one to fifty in words."


class Calibration(QObject):
    """Asks the engine when it is ready; the answer is nobody's turn.

    Attributes:
        is_running: its answer is under way.

    Signals:
        finished: plain decoding was measured, or could not be
    """

    finished = Signal()

    def __init__(self, engine: Engine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.is_running = False
        self._engine = engine
        engine.answering.connect(self._receive)
        engine.lost.connect(self._end)

    def start(self) -> bool:
        """False where the engine is not ready."""
        options = Options(drafter="none", max_new_tokens=plain_speeds.TOKENS, seed=0)
        self.is_running = self._engine.ask([Message("user", QUESTION)], options)
        return self.is_running

    def _receive(self, event: Event) -> None:
        if not self.is_running:
            return
        match event:
            case Answer():
                whole = event.stop_reason != "cancelled" and event.tokens_per_second
                if self._engine.pair is not None and whole:
                    plain_speeds.remember(self._engine.pair, whole)
                self._end()
            case Failed():
                self._end()

    def _end(self) -> None:
        if self.is_running:
            self.is_running = False
            self.finished.emit()
