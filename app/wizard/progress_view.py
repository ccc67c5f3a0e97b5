"""How far something long is, with buttons to pause, go on and cancel. Knows nothing of downloads."""

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QMessageBox,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app import words
from app.wizard import phrases
from app.wizard.parts import BAR_STEPS, button, label, set_role
from app.wizard.stages import Shown, Stage

FEW_STAGES = 6  # so many are shown without being asked for


class ProgressView(QFrame):
    """One `Shown`, and its stages below it.

    Attributes:
        pause, resume, cancel: buttons, each visible where it does something.
        details: shows or hides the stages.

    Signals:
        paused, resumed, cancelled: a person asked for it; cancelling was confirmed
    """

    paused = Signal()
    resumed = Signal()
    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self.shown: Shown | None = None
        self._title = label(role="name", parent=self)
        self._bar = _bar(self)
        self._figures = label(role="muted", parent=self)
        self._trouble = label(role="danger", parent=self)
        self._hint = label(parent=self)
        self.pause = button(self.tr("Pause"), parent=self)
        self.resume = button(self.tr("Go on"), parent=self)
        self.cancel = button(self.tr("Cancel"), parent=self)
        self.details = button(self.tr("Details"), parent=self)
        self.details.setCheckable(True)
        self._stages = QWidget(self)
        self._grid = QGridLayout(self._stages)
        self._rows: list[_Row] = []
        self.pause.clicked.connect(self.paused)
        self.resume.clicked.connect(self.resumed)
        self.cancel.clicked.connect(self._ask_to_cancel)
        self.details.toggled.connect(self._stages.setVisible)
        self._build()

    def _build(self) -> None:
        self._grid.setContentsMargins(0, 6, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setColumnStretch(0, 3)
        self._grid.setColumnStretch(1, 2)
        self._stages.hide()
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        for each in (self.pause, self.resume, self.cancel):
            buttons.addWidget(each)
        buttons.addStretch(1)
        buttons.addWidget(self.details)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 12, 16, 14)
        layout.setSpacing(8)
        for widget in (self._title, self._bar, self._figures, self._trouble, self._hint):
            layout.addWidget(widget)
        layout.addLayout(buttons)
        layout.addWidget(self._stages)

    def show_progress(self, shown: Shown) -> None:
        first = self.shown is None
        self.shown = shown
        self._title.setText(shown.title)
        self._bar.setAccessibleName(self.tr("Progress of {}").format(shown.title))
        _advance(self._bar, shown.done, shown.total)
        self._figures.setText(figures(shown))
        self._trouble.setText(shown.trouble)
        self._trouble.setVisible(bool(shown.trouble))
        set_role(self._trouble, "muted" if shown.state == "running" else "danger")
        self._hint.setText(shown.hint)
        self._hint.setVisible(bool(shown.hint))
        self._show_buttons(shown)
        self._show_stages(shown.stages)
        if first:
            self.details.setChecked(1 < len(shown.stages) <= FEW_STAGES)

    def _show_buttons(self, shown: Shown) -> None:
        had_focus = any(each.hasFocus() for each in (self.pause, self.resume))
        over = shown.state in ("done", "cancelled")
        running = shown.state == "running"
        self.pause.setVisible(running and shown.can_pause)
        self.resume.setVisible(not running and not over)
        again = {"failed": self.tr("Try again"), "paused": self.tr("Go on")}
        _say(self.resume, again.get(shown.state, self.tr("Go on")), shown.title)
        _say(self.pause, self.tr("Pause"), shown.title)
        _say(self.cancel, self.tr("Cancel"), shown.title)
        self.cancel.setVisible(not over)
        if had_focus:  # the one takes the other's place; a second Enter cancels nothing
            shown_ones = (each for each in (self.pause, self.resume) if each.isVisible())
            next(shown_ones, self.details).setFocus()

    def _show_stages(self, stages: tuple[Stage, ...]) -> None:
        self.details.setVisible(len(stages) > 1)
        self.details.setText(self.tr("Details ({})").format(len(stages)))
        while len(self._rows) < len(stages):
            self._rows.append(_Row(self._grid, len(self._rows), self._stages))
        for row, stage in zip(self._rows, stages, strict=False):
            row.show_stage(stage)

    def _ask_to_cancel(self) -> None:
        """What came is deleted: not by one wrong key."""
        assert self.shown is not None
        if not (self.shown.deletes and self.shown.done):
            self.cancelled.emit()
            return
        box = QMessageBox(self)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setText(self.tr("Cancel {}?").format(self.shown.title))
        came = words.nbytes(self.shown.done)
        box.setInformativeText(self.tr("The {} that are already here are deleted.").format(came))
        keep = box.addButton(self.tr("Keep"), QMessageBox.ButtonRole.RejectRole)
        delete = box.addButton(self.tr("Cancel and delete"), QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(keep)
        box.setEscapeButton(keep)
        delete.clicked.connect(self.cancelled)
        box.open()


class _Row:
    """A stage in the grid: its name, a bar, how much of it."""

    def __init__(self, grid: QGridLayout, row: int, parent: QWidget) -> None:
        self._name = label(role="caption", parent=parent)
        self._bar = _bar(parent)
        self._note = QLabel(parent)
        self._note.setProperty("role", "caption")
        grid.addWidget(self._name, row, 0)
        grid.addWidget(self._bar, row, 1)
        grid.addWidget(self._note, row, 2, Qt.AlignmentFlag.AlignRight)

    def show_stage(self, stage: Stage) -> None:
        self._name.setText(stage.name)
        self._bar.setAccessibleName(stage.name)
        if stage.total or stage.state == "running":
            _advance(self._bar, stage.done, stage.total)
        else:  # nobody counted it: it is done, or not
            _advance(self._bar, int(stage.state == "done"), 1)
        amount = amount_of(stage.done, stage.total)
        self._note.setText(" · ".join(filter(None, (stage.note, amount))))
        set_role(self._note, "danger" if stage.state == "trouble" else "caption")


def _tr(text: str) -> str:
    return QCoreApplication.translate("ProgressView", text)


def figures(shown: Shown) -> str:
    """One line of numbers: how much, how fast, how long."""
    match shown.state:
        case "done":
            return _tr("Complete: {}").format(words.nbytes(shown.total))
        case "waiting":
            state = _tr("Not begun")
        case "paused":
            state = _tr("Paused")
        case "failed":
            state = _tr("Stopped")
        case _ if shown.bytes_per_s:
            state = _tr("{}/s").format(words.nbytes(int(shown.bytes_per_s)))
        case _:
            state = _tr("Working…")
    parts = [amount_of(shown.done, shown.total), state]
    if shown.total:
        parts.insert(0, _tr("{} %").format(100 * shown.done // shown.total))
    if shown.state == "running" and shown.seconds_left:
        parts.append(_tr("{} left").format(phrases.duration(shown.seconds_left)))
    return " · ".join(part for part in parts if part)


def amount_of(done: int, total: int) -> str:
    if not total:
        return ""
    return _tr("{} of {}").format(words.nbytes(done), words.nbytes(total))


def _say(which: QPushButton, text: str, title: str) -> None:
    which.setText(text)
    which.setAccessibleName(f"{text}: {title}")


def _bar(parent: QWidget) -> QProgressBar:
    bar = QProgressBar(parent)
    bar.setTextVisible(False)
    bar.setRange(0, BAR_STEPS)
    return bar


def _advance(bar: QProgressBar, done: int, total: int) -> None:
    bar.setRange(0, BAR_STEPS if total else 0)
    bar.setValue(BAR_STEPS * done // total if total else 0)
