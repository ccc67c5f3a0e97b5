"""What the engine runs with: the runtime in use, to be repaired or changed."""

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import words
from app.wizard import EngineSetup, engine_words
from app.wizard.parts import Facts, Scrolling, button, label
from app.wizard.setup_view import SetupView
from app.work import Work
from engine import machine, runtime
from engine.machine import TorchBuild
from engine.runtime import Runtime


@dataclass(frozen=True, slots=True)
class Used:
    """`nbytes`: of all runtimes that are kept."""

    runtime: Runtime
    torch: TorchBuild | None
    nbytes: int


class EnginePage(QWidget):
    """
    Attributes:
        view: what else could be set up, and how far that is.
        main: the button that begins it.
    """

    def __init__(self, setup: EngineSetup, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._setup = setup
        self._work = Work(self)
        self._used: Used | None = None
        self._facts = Facts(self)
        self._facts.hide()
        self.view = SetupView(setup, self._work, self)
        self._told = label(
            self.tr(
                "The model in use is unloaded meanwhile. The engine that you have stays in use until the new "
                "one has answered."
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
        for part in (self._facts, self.view, self._told):
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

    def _show_used(self, found: Used | None) -> None:
        self._used = found
        self._facts.setVisible(found is not None)
        if found is not None:
            self._facts.show_rows(self._rows(found))
        self._show_state()

    def _rows(self, found: Used) -> list[engine_words.Fact]:
        renew = "" if runtime.is_up_to_date(found.runtime) else self.tr("of an earlier version: repair it")
        torch = found.torch.version if found.torch else self.tr("missing: repair it")
        return [
            (self.tr("In use"), engine_words.name(found.runtime.backend), renew),
            (self.tr("PyTorch"), torch, ""),
            (self.tr("Size"), words.nbytes(found.nbytes), str(found.runtime.folder)),
        ]

    def _show_state(self) -> None:
        chosen = self.view.chosen
        current = self._used.runtime.backend if self._used else ""
        repairs = chosen is not None and chosen.name == current
        self.main.setText(self.tr("Repair") if repairs else self.tr("Change the backend"))
        self.main.setAccessibleName(self.main.text())
        self.main.setEnabled(chosen is not None and not self._setup.is_running)


def used() -> Used | None:
    """Takes its time: it counts what is on the disk."""
    found = runtime.current()
    if found is None:
        return None
    return Used(found, machine.installed_torch(found.packages), runtime.nbytes())
