"""What runs on this machine: measured and predicted in the background."""

from PySide6.QtCore import QObject, Signal

from app.wizard.examination import Examined, looked_at, measured
from app.wizard.offers import offers_for
from app.work import Work
from engine import catalog, planner
from engine.errors import SpecExecError

KINDS = ("look", "measure", "predict")  # of work


class Survey(QObject):
    """
    Attributes:
        examined: this machine; None while nothing is known.

    Signals:
        began: the machine is being measured
        seen: Examined, as far as it is known at once
        measured: Examined, with its speed
        unmeasured: SpecExecError, why its speed is not known
        predicted: Offers
        unpredicted: SpecExecError
    """

    began = Signal()
    seen = Signal(object)
    measured = Signal(object)
    unmeasured = Signal(object)
    predicted = Signal(object)
    unpredicted = Signal(object)

    def __init__(self, work: Work, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.examined: Examined | None = None
        self._work = work

    def begin(self, *, again: bool = False) -> None:
        """again: measure also what was measured this week."""
        models = catalog.models_folder()
        self.began.emit()
        self._work.run("look", lambda stop: looked_at(models), self._see, self.unmeasured.emit)
        self._work.run(
            "measure", lambda stop: measured(models, again, stop), self._take_measured, self._go_without
        )

    @property
    def is_running(self) -> bool:
        return any(self._work.is_running(kind) for kind in KINDS)

    def stop(self) -> None:
        for kind in KINDS:
            self._work.forget(kind)

    def _see(self, examined: Examined) -> None:
        self.examined = examined
        self.seen.emit(examined)

    def _take_measured(self, examined: Examined) -> None:
        self._work.forget("look")
        self.examined = examined
        self.measured.emit(examined)
        self._predict(examined)

    def _go_without(self, error: SpecExecError) -> None:
        self.unmeasured.emit(error)
        if self.examined is None:
            self.unpredicted.emit(error)
        else:
            self._predict(self.examined)

    def _predict(self, examined: Examined) -> None:
        self._work.run(
            "predict",
            lambda stop: offers_for(examined.usable(), catalog.catalog(), planner.history()),
            self.predicted.emit,
            self.unpredicted.emit,
        )
