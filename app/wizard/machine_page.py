"""First: what this machine has, and how fast it is."""

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QProgressBar, QVBoxLayout, QWidget

from app import words
from app.wizard.examination import Examined
from app.wizard.page import Page
from app.wizard.parts import Card, Facts, Problem, button, label
from app.wizard.survey import Survey
from engine.errors import SpecExecError
from engine.machine import Disk, Gpu

TOLD = frozenset({"no_card"})  # findings that stand among the facts already


class MachinePage(Page):
    """
    Attributes:
        again: the button that measures again.

    Signals:
        measure_asked: a person wants it measured again
    """

    measure_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("This machine"), self.tr("What this machine can do"), parent)
        self.column.addWidget(
            label(
                self.tr(
                    "Large models are shared between graphics card, memory and disk. How fast an answer "
                    "comes depends on how much of each there is and how quickly the disk can be read."
                ),
                "muted",
                self,
            )
        )
        self._facts = Facts(self)
        self._facts.hide()  # while nothing is known
        self.column.addWidget(self._facts)
        self._busy = QProgressBar(self)
        self._busy.setTextVisible(False)
        self._busy.setRange(0, 0)
        self._state = label(role="muted", parent=self)
        self.again = button(self.tr("Measure again"), parent=self)
        self.again.clicked.connect(self.measure_asked)
        self.problem = Problem(self)
        self._findings = QVBoxLayout()
        self._findings.setSpacing(8)
        for widget in (self._busy, self._state, self.problem):
            self.column.addWidget(widget)
        self.column.addLayout(self._findings)
        self.column.addWidget(self.again, alignment=Qt.AlignmentFlag.AlignLeft)
        self.column.addStretch(1)
        self.show_measuring()

    def follow(self, survey: Survey) -> None:
        survey.began.connect(self.show_measuring)
        survey.seen.connect(self.show_seen)
        survey.measured.connect(self.show_measured)
        survey.unmeasured.connect(self.show_failure)
        self.measure_asked.connect(lambda: survey.begin(again=True))

    def show_measuring(self) -> None:
        self._busy.show()
        self._state.show()
        self._busy.setAccessibleName(self.tr("Measuring"))
        self._state.setText(
            self.tr("Measuring how fast the disk is; a few seconds. You can go on meanwhile.")
        )
        self.again.hide()
        self.problem.clear()

    def show_seen(self, examined: Examined) -> None:
        """While it is being measured."""
        self._facts.show_rows(_facts(examined))
        self._facts.show()

    def show_measured(self, examined: Examined) -> None:
        self.show_seen(examined)
        self._end_measuring()
        self._show_findings(examined)

    def show_failure(self, error: SpecExecError) -> None:
        self._end_measuring()
        self.problem.show_error(error)

    def _end_measuring(self) -> None:
        self._busy.hide()
        self._state.hide()
        self.again.show()

    def _show_findings(self, examined: Examined) -> None:
        while (item := self._findings.takeAt(0)) is not None:
            if old := item.widget():
                old.deleteLater()
        for finding in examined.findings:
            if finding.kind in TOLD:
                continue
            card = Card(self)
            card.column.addWidget(
                label(finding.message, "danger" if finding.severity == "error" else "name", card)
            )
            card.column.addWidget(label(finding.hint, "muted", card))
            self._findings.addWidget(card)


def _tr(text: str) -> str:
    return QCoreApplication.translate("MachinePage", text)


def _facts(seen: Examined) -> list[tuple[str, str, str]]:
    found = seen.machine
    rows = [(_tr("Graphics card"), gpu.name, _card(gpu)) for gpu in found.gpus]
    if not rows:
        rows = [
            (
                _tr("Graphics card"),
                _tr("None that can compute"),
                _tr("The processor does all the work, more slowly."),
            )
        ]
    cpu, ram = found.cpu, found.memory
    free = _tr("{} of it free now").format(words.nbytes(ram.available_nbytes))
    cores = _tr("1 core") if cpu.cores == 1 else _tr("{} cores").format(cpu.cores)
    return [
        *rows,
        (_tr("Memory"), words.nbytes(ram.total_nbytes), free),
        (_tr("Processor"), cpu.name, cores),
        (
            _tr("Disk for models"),
            _tr("{} free").format(words.nbytes(found.disk.free_nbytes)),
            _disk(found.disk),
        ),
    ]


def _card(gpu: Gpu) -> str:
    facts = []
    if gpu.total_nbytes is not None and gpu.free_nbytes is not None:
        total, free = words.nbytes(gpu.total_nbytes), words.nbytes(gpu.free_nbytes)
        facts.append(_tr("{} of its own memory, {} free now").format(total, free))
    if gpu.link is not None:
        facts.append(_tr("takes in {} GB/s, measured").format(words.decimal(gpu.link.gb_per_s)))
    elif gpu.pcie_gb_per_s is not None:
        facts.append(_tr("takes in {} GB/s at most").format(words.decimal(gpu.pcie_gb_per_s)))
    return " · ".join(facts)


def _disk(disk: Disk) -> str:
    if disk.speed is None:
        return _tr("its speed is not measured yet")
    return _tr("reads {} GB/s, measured").format(words.decimal(disk.speed.best_gb_per_s))
