"""The engine page: the runtime in use, which can be repaired or replaced."""

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import formatting
from app.background import Work
from app.runtime_setup import wording
from app.runtime_setup.setup_job import EngineSetup
from app.runtime_setup.setup_view import SetupView
from app.widgets.form_parts import Facts, Scrolling, button, label
from engine import machine, runtime
from engine.machine import TorchBuild
from engine.runtime import Runtime


@dataclass(frozen=True, slots=True)
class Used:
    """The runtime in use. `torch`: None if it is missing; `nbytes`: the size of all runtimes on the disk."""

    runtime: Runtime
    torch: TorchBuild | None
    nbytes: int


class EnginePage(QWidget):
    """The page that shows the runtime in use, repairs it or sets up another one.

    Attributes:
        view: shows the choice of a backend and the progress of the set-up.
        main: the button that starts the set-up.
    """

    def __init__(self, setup: EngineSetup, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._setup = setup
        self._work = Work(self)
        self._used: Used | None = None
        self._facts = Facts(self)
        self._facts.hide()
        self.view = SetupView(setup, self._work, self)
        self._note = label(
            self.tr(
                "The current engine stays in use until the new one has passed its test. The model is "
                "unloaded during that test."
            ),
            "muted",
            self,
        )
        self.main = button("", parent=self)
        self.main.clicked.connect(lambda: self.view.begin())
        self.view.changed.connect(self._show_state)
        setup.ended.connect(self._look)
        self._build()
        self._show_state()

    def _build(self) -> None:
        inside = QWidget()
        inside.setObjectName("column")
        column = QVBoxLayout(inside)
        column.setContentsMargins(4, 0, 12, 12)
        column.setSpacing(12)
        for part in (self._facts, self.view, self._note):
            column.addWidget(part)
        column.addWidget(self.main, alignment=Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(Scrolling(inside, self))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._setup.is_done:
            self._setup.forget()
        self.view.look()
        self._look()

    def _look(self) -> None:
        self._work.run("runtime", lambda stop: used(), self._show_used, self.view.problem.show_error)

    def _show_used(self, now: Used | None) -> None:
        self._used = now
        built_in = (self.tr("In use"), wording.name("cpu"), self.tr("built in"))
        self._facts.show_rows([built_in] if now is None else self._rows(now))
        self._facts.show()
        self._show_state()

    def _rows(self, now: Used) -> list[wording.Fact]:
        advice = "" if runtime.is_up_to_date(now.runtime) else self.tr("from an earlier version; repair it")
        torch = now.torch.version if now.torch else self.tr("missing; repair it")
        return [
            (self.tr("In use"), wording.name(now.runtime.backend), advice),
            (self.tr("PyTorch"), torch, ""),
            (self.tr("Size"), formatting.nbytes(now.nbytes), str(now.runtime.folder)),
        ]

    def _show_state(self) -> None:
        chosen = self.view.chosen
        current = self._used.runtime.backend if self._used else ""
        repairs = chosen is not None and chosen.name == current
        self.main.setText(self.tr("Repair") if repairs else self.tr("Switch to this engine"))
        self.main.setAccessibleName(self.main.text())
        self.main.setEnabled(chosen is not None and not self._setup.is_running)


def used() -> Used | None:
    """Return the runtime in use, or None if there is none. Slow, because it adds up file sizes."""
    current = runtime.current()
    if current is None:
        return None
    return Used(current, machine.installed_torch(current.packages), runtime.nbytes())
