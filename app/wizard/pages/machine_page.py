"""The page that shows the hardware of this machine and its measured speed."""

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QProgressBar, QVBoxLayout, QWidget

from app import formatting
from app.widgets.fault_words import in_words
from app.widgets.form_parts import Card, Facts, button, label
from app.widgets.notice import Problem
from app.wizard.pages.page import Page
from app.wizard.selection.survey import Examined, Survey
from engine.errors import SpecExecError
from engine.machine import Disk, Gpu

SHOWN_AS_FACTS = frozenset({"no_card"})  # kinds of findings that the table of facts already shows


class MachinePage(Page):
    """The page with facts about this machine and any problems found on it.

    Attributes:
        again: the button that measures again.

    Signals:
        measure_asked: the user wants the machine to be measured again
    """

    measure_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("This machine"), self.tr("What this machine can do"), parent)
        self.column.addWidget(
            label(
                self.tr(
                    "Large models are spread over graphics card, memory and disk. The speed of an answer "
                    "depends on how much of each this machine has, and on how fast its disk is."
                ),
                "muted",
                self,
            )
        )
        self._facts = Facts(self)
        self._facts.hide()  # shown once the machine is examined
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
            self.tr("Measuring the speed of the disk. This takes a few seconds; you can continue meanwhile.")
        )
        self.again.hide()
        self.problem.clear()

    def show_seen(self, examined: Examined) -> None:
        """Show the facts about the machine, whether or not its speed is measured yet."""
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
            if finding.kind in SHOWN_AS_FACTS:
                continue
            card = Card(self)
            message, hint = in_words(finding)
            card.column.addWidget(label(message, "name", card))
            card.column.addWidget(label(hint, "muted", card))
            self._findings.addWidget(card)


def _tr(text: str) -> str:
    return QCoreApplication.translate("MachinePage", text)


def _facts(examined: Examined) -> list[tuple[str, str, str]]:
    machine = examined.machine
    rows = [(_tr("Graphics card"), gpu.name, _card(gpu)) for gpu in machine.gpus]
    if not rows:
        rows = [
            (
                _tr("Graphics card"),
                _tr("None suitable"),
                _tr("The processor does all the work, which is slower."),
            )
        ]
    cpu, ram = machine.cpu, machine.memory
    free = _tr("{} free now").format(formatting.nbytes(ram.available_nbytes))
    cores = _tr("1 core") if cpu.cores == 1 else _tr("{} cores").format(cpu.cores)
    return [
        *rows,
        (_tr("Memory"), formatting.nbytes(ram.total_nbytes), free),
        (_tr("Processor"), cpu.name, cores),
        (
            _tr("Disk for models"),
            _tr("{} free").format(formatting.nbytes(machine.disk.free_nbytes)),
            _disk(machine.disk),
        ),
    ]


def _card(gpu: Gpu) -> str:
    facts = []
    if gpu.total_nbytes is not None and gpu.free_nbytes is not None:
        total, free = formatting.nbytes(gpu.total_nbytes), formatting.nbytes(gpu.free_nbytes)
        facts.append(_tr("{} of graphics memory, {} free now").format(total, free))
    if gpu.link is not None:
        facts.append(
            _tr("receives {} GB/s from memory, measured").format(formatting.decimal(gpu.link.gb_per_s))
        )
    elif gpu.pcie_gb_per_s is not None:
        facts.append(_tr("receives up to {} GB/s from memory").format(formatting.decimal(gpu.pcie_gb_per_s)))
    return " · ".join(facts)


def _disk(disk: Disk) -> str:
    if disk.speed is None:
        return _tr("speed not measured yet")
    return _tr("reads {} GB/s, measured").format(formatting.decimal(disk.speed.best_gb_per_s))
