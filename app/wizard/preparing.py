"""From what was chosen to what can be downloaded: the Hub is asked for its files, and for leave."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.wizard.choice import Choice, item_of
from app.work import Work
from engine.errors import SpecExecError
from engine.hub import Hub, Item, Stop

KIND = "prepare"  # of work


class Preparing(QObject):
    """
    Signals:
        changed: whether the Hub is being asked
        prepared: Choice, Item, and what to tell about the token's keeping, "" for nothing
        refused: SpecExecError
    """

    changed = Signal(bool)
    prepared = Signal(object, object, str)
    refused = Signal(object)

    def __init__(self, get_hub: Callable[[], Hub], work: Work, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._get_hub, self._work = get_hub, work

    def begin(self, choice: Choice, token: str = "") -> None:
        """token: to be kept and used from now on; "" for none that is new."""
        self.changed.emit(True)

        def ask(stop: Stop) -> tuple[Item, str]:
            source = self._get_hub()
            notice = source.tokens.keep(token) if token else ""
            return item_of(source, choice), notice

        self._work.run(KIND, ask, lambda found: self._finish(choice, *found), self._refuse)

    def stop(self) -> None:
        self._work.forget(KIND)
        self.changed.emit(False)

    def _finish(self, choice: Choice, item: Item, notice: str) -> None:
        self.changed.emit(False)
        self.prepared.emit(choice, item, notice)

    def _refuse(self, error: SpecExecError) -> None:
        self.changed.emit(False)
        self.refused.emit(error)
