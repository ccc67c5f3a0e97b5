"""The progress of a long task, with buttons to pause, resume and cancel it. Knows nothing of downloads."""

from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QMessageBox,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app import formatting
from app.widgets.flow import Flow
from app.widgets.form_parts import BAR_STEPS, button, label, set_role
from app.widgets.plain_text import NO_BUTTON, PlainLabel, PlainMessageBox

FEW_STAGES = 6  # up to this many stages are shown without a click on "Details"
State = Literal["waiting", "running", "paused", "done", "failed", "cancelled"]
StageState = Literal["waiting", "running", "error", "done"]


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of a task, such as one file.

    Attributes:
        done, total: the size of the finished part and of the whole, in bytes; a total of 0 means unknown.
        note: the current activity or the error, as text.
    """

    name: str
    state: StageState
    done: int = 0
    total: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class ProgressState:
    """The progress of a whole task.

    Attributes:
        done, total: the size of the finished part and of the whole, in bytes; a total of 0 means unknown.
        bytes_per_s: the speed; 0 while the task makes no progress.
        seconds_left: the remaining time; None while it is unknown.
        error, hint: what went wrong, and what to do next; "" without an error.
        can_pause: False if the task can only be cancelled.
        deletes: whether cancelling deletes the finished part.
    """

    title: str
    state: State
    done: int
    total: int
    bytes_per_s: float = 0.0
    seconds_left: float | None = None
    error: str = ""
    hint: str = ""
    stages: tuple[Stage, ...] = ()
    can_pause: bool = True
    deletes: bool = False


class ProgressView(QFrame):
    """A frame that shows a `ProgressState`, with its stages below.

    Attributes:
        pause, resume, cancel: the buttons of these names, each visible while it applies.
        details: the button that shows or hides the stages.

    Signals:
        paused, resumed: the user pressed the button
        cancelled: the user pressed the button and, if finished work will be deleted, confirmed that
    """

    paused = Signal()
    resumed = Signal()
    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self.progress: ProgressState | None = None
        self._title = label(role="name", parent=self)
        self._bar = _bar(self)
        self._figures = label(role="muted", parent=self)
        self._error = label(role="danger", parent=self)
        self._hint = label(parent=self)
        self.pause = button(self.tr("Pause"), parent=self)
        self.resume = button(self.tr("Resume"), parent=self)
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
        self._grid.setColumnStretch(2, 2)
        self._stages.hide()
        buttons = Flow()
        for action in (self.pause, self.resume, self.cancel):
            buttons.addWidget(action)
        buttons.addStretch()
        buttons.addWidget(self.details)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 12, 16, 14)
        layout.setSpacing(8)
        for widget in (self._title, self._bar, self._figures, self._error, self._hint):
            layout.addWidget(widget)
        layout.addLayout(buttons)
        layout.addWidget(self._stages)

    def show_progress(self, progress: ProgressState) -> None:
        first = self.progress is None
        self.progress = progress
        self._title.setText(progress.title)
        self._bar.setAccessibleName(self.tr("Progress of {}").format(progress.title))
        _advance(self._bar, progress.done, progress.total)
        self._figures.setText(figures(progress))
        self._error.setText(progress.error)
        self._error.setVisible(bool(progress.error))
        set_role(self._error, "muted" if progress.state == "running" else "danger")
        self._hint.setText(progress.hint)
        self._hint.setVisible(bool(progress.hint))
        self._show_buttons(progress)
        self._show_stages(progress.stages)
        if first:
            self.details.setChecked(1 < len(progress.stages) <= FEW_STAGES)

    def _show_buttons(self, progress: ProgressState) -> None:
        had_focus = any(action.hasFocus() for action in (self.pause, self.resume))
        over = progress.state in ("done", "cancelled")
        running = progress.state == "running"
        self.pause.setVisible(running and progress.can_pause)
        self.resume.setVisible(not running and not over)
        texts = {"failed": self.tr("Try again"), "paused": self.tr("Resume")}
        _set_text(self.resume, texts.get(progress.state, self.tr("Resume")), progress.title)
        _set_text(self.pause, self.tr("Pause"), progress.title)
        _set_text(self.cancel, self.tr("Cancel"), progress.title)
        self.cancel.setVisible(not over)
        if had_focus:  # focus one of these two, so that a second Enter does not press "Cancel"
            visible = (action for action in (self.pause, self.resume) if action.isVisible())
            next(visible, self.details).setFocus()

    def _show_stages(self, stages: tuple[Stage, ...]) -> None:
        self.details.setVisible(len(stages) > 1)
        self.details.setText(self.tr("Details ({})").format(len(stages)))
        while len(self._rows) < len(stages):
            self._rows.append(_Row(self._grid, len(self._rows), self._stages))
        for row, stage in zip(self._rows, stages, strict=False):
            row.show_stage(stage)

    def _ask_to_cancel(self) -> None:
        """Cancel, but ask first if that deletes finished work, so that one wrong key cannot delete it."""
        assert self.progress is not None
        if not (self.progress.deletes and self.progress.done):
            self.cancelled.emit()
            return
        question = self.tr("Cancel {}?").format(self.progress.title)
        box = PlainMessageBox(QMessageBox.Icon.NoIcon, "", question, self, NO_BUTTON)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        done = formatting.nbytes(self.progress.done)
        box.setInformativeText(self.tr("The {} received so far will be deleted.").format(done))
        keep = box.addButton(self.tr("Keep"), QMessageBox.ButtonRole.RejectRole)
        delete = box.addButton(self.tr("Cancel and delete"), QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(keep)
        box.setEscapeButton(keep)
        delete.clicked.connect(self.cancelled)
        box.open()


class _Row:
    """A row of the grid for one stage: name, bar, note and amount."""

    def __init__(self, grid: QGridLayout, row: int, parent: QWidget) -> None:
        self._name = label(role="caption", parent=parent)
        self._bar = _bar(parent)
        self._note = PlainLabel(parent=parent)
        self._note.setProperty("role", "caption")
        self._note.setWordWrap(True)
        self._note.setAlignment(Qt.AlignmentFlag.AlignRight)
        grid.addWidget(self._name, row, 0)
        grid.addWidget(self._bar, row, 1)
        grid.addWidget(self._note, row, 2)

    def show_stage(self, stage: Stage) -> None:
        self._name.setText(stage.name)
        self._bar.setAccessibleName(stage.name)
        if stage.total or stage.state == "running":
            _advance(self._bar, stage.done, stage.total)
        else:  # without a byte count the bar is full or empty
            _advance(self._bar, int(stage.state == "done"), 1)
        amount = amount_of(stage.done, stage.total)
        self._note.setText(" · ".join(filter(None, (stage.note, amount))))
        set_role(self._note, "danger" if stage.state == "error" else "caption")


def _tr(text: str) -> str:
    return QCoreApplication.translate("ProgressView", text)


def figures(progress: ProgressState) -> str:
    """Return one line of numbers: share, amount, speed or state, time left."""
    match progress.state:
        case "done":
            return _tr("Complete: {}").format(formatting.nbytes(progress.total))
        case "waiting":
            state = _tr("Not running")
        case "paused":
            state = _tr("Paused")
        case "failed":
            state = _tr("Stopped")
        case _ if progress.bytes_per_s:
            state = _tr("{}/s").format(formatting.nbytes(int(progress.bytes_per_s)))
        case _:
            state = _tr("Working…")
    parts = [amount_of(progress.done, progress.total), state]
    if progress.total:
        parts.insert(0, _tr("{} %").format(100 * progress.done // progress.total))
    if progress.state == "running" and progress.seconds_left:
        parts.append(_tr("{} left").format(formatting.duration(progress.seconds_left)))
    return " · ".join(part for part in parts if part)


def amount_of(done: int, total: int) -> str:
    """Return a text such as "1 MB of 5 MB", or "" if the total is unknown."""
    if not total:
        return ""
    return _tr("{} of {}").format(formatting.nbytes(done), formatting.nbytes(total))


def _set_text(which: QPushButton, text: str, title: str) -> None:
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
