"""What would come of loading each pair, worked out beside the window."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, QThread, Signal

from app import local_models, words
from app.local_models import LocalPair
from engine.planner import Plan
from engine.protocol.messages import Memory


class Plans(QThread):
    """Reads the headers of models, which takes tenths of a second each.

    Signals:
        planned: place of the pair, its Plan; emitted on the worker thread
    """

    planned = Signal(int, object)

    def __init__(
        self, pairs: Sequence[LocalPair], held: Memory | None, parent: QObject | None = None
    ) -> None:
        """held: what is loaded now, which would make room."""
        super().__init__(parent)
        self._pairs = pairs
        self._held = held

    def run(self) -> None:
        for place, pair in enumerate(self._pairs):
            if self.isInterruptionRequested():
                return
            plan = local_models.plan(pair.target.name, "auto", None, self._held)
            if plan:
                self.planned.emit(place, plan)

    def stop(self) -> None:
        """Returns when it has ended, after the pair it is at."""
        self.requestInterruption()
        self.wait()

    def said(self, plan: Plan) -> str:
        fits = {
            "in VRAM": self.tr("fits VRAM"),
            "in RAM": self.tr("fits RAM"),
            "VRAM + RAM": self.tr("in VRAM and RAM"),
            "with SSD": self.tr("streamed from the disk"),
            "will not run": self.tr("too large for this machine"),
        }
        if plan.predicted_tokens_per_second is None:
            return fits[plan.fit]
        speed = self.tr("about {} tokens/s").format(words.decimal(plan.predicted_tokens_per_second))
        return f"{fits[plan.fit]} · {speed}"
