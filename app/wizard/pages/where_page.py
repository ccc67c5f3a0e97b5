"""The page for the models folder; it checks whether the folder's disk has enough free space."""

import os
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app import formatting
from app.background import Work
from app.widgets.flow import Flow
from app.widgets.form_parts import Card, ask_for_folder, button, label, set_role
from app.widgets.notice import Problem
from app.widgets.plain_text import plain
from app.widgets.progress_view import ProgressState, ProgressView
from app.wizard.pages.page import Page
from app.wizard.selection import wording
from app.wizard.selection.choice import Choice
from engine import catalog, hub, machine
from engine.catalog import Variant
from engine.errors import SpecExecError
from engine.machine import Disk

RESERVE_NBYTES = 1 << 30  # kept free, because a completely full disk harms the system


class WherePage(Page):
    """The page that shows the parts to download and the folder for them, which the user can change.

    Attributes:
        folder: the models folder.
        change: the button that asks for another folder.
        move_here: the button that confirms that the existing models move to that folder.
        problem: shows the last error, from the disk or from the Hub.

    Signals:
        moved: the models folder has changed
    """

    moved = Signal()
    _progressed = Signal(int, int)

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Folder"), self.tr("Where to store the model"), parent)
        self.folder = catalog.models_folder()
        self._work = work
        self._choice: Choice | None = None
        self._disk: Disk | None = None
        self._wanted: Path | None = None
        self.preparing = False
        self._parts = Card(self)
        self._parts_text = label(parent=self._parts)
        self._parts.column.addWidget(label(self.tr("To be downloaded"), "caption", self._parts))
        self._parts.column.addWidget(self._parts_text)
        self._place = Card(self)
        self._path = label(role="name", parent=self._place)
        self._room = label(role="muted", parent=self._place)
        self.change = button(self.tr("Change folder…"), parent=self._place)
        self.move_here = button("", parent=self._place)
        self._question = label(parent=self._place)
        self._moving = ProgressView(self)
        self.problem = Problem(self)
        self.change.clicked.connect(self._ask_for_folder)
        self.move_here.clicked.connect(self._move)
        self._moving.cancelled.connect(self._end_moving)
        self._progressed.connect(self._show_moving)
        self._build()

    def _build(self) -> None:
        row = Flow()
        row.addWidget(label(self.tr("Models folder"), "caption", self._place))
        row.addStretch()
        row.addWidget(self.change)
        self._place.column.addLayout(row)
        for widget in (self._path, self._room, self._question):
            self._place.column.addWidget(widget)
        self._place.column.addWidget(self.move_here, alignment=Qt.AlignmentFlag.AlignLeft)
        for part in (self._parts, self._place, self._moving, self.problem):
            self.column.addWidget(part)
        self.column.addStretch(1)
        for hidden in (self._question, self.move_here, self._moving):
            hidden.hide()
        if os.environ.get(catalog.MODELS_VARIABLE):
            self.change.setEnabled(False)
            self.change.setToolTip(
                plain(
                    self.tr("The environment variable {} sets this folder.").format(catalog.MODELS_VARIABLE)
                )
            )

    @property
    def can_continue(self) -> bool:
        return self.has_room and not self.preparing and not self._work.is_running("move")

    @property
    def main_text(self) -> str:
        return self.tr("Contacting Hugging Face…") if self.preparing else self.tr("Download")

    @property
    def has_room(self) -> bool:
        """Whether the disk has enough free space for the chosen parts and the reserve."""
        if self._choice is None or self._disk is None:
            return False
        return self._choice.nbytes + RESERVE_NBYTES <= self._disk.free_nbytes

    def show_choice(self, choice: Choice) -> None:
        self._choice = choice
        self._parts_text.setText("\n".join(_lines(choice)))
        self.problem.clear()
        self._look()

    def set_preparing(self, preparing: bool) -> None:
        """Show whether the Hub is being asked for the chosen parts."""
        self.preparing = preparing
        if preparing:
            self.problem.clear()
        self.changed.emit()

    def stop(self) -> None:
        """Stop examining the disk and the existing models. A move of the models continues."""
        for kind in ("disk", "stored"):
            self._work.forget(kind)

    def use_folder(self, folder: Path) -> None:
        """Use another folder for models; if models exist, first ask the user for consent to move them."""
        self._wanted = folder
        self.problem.clear()
        self._work.run(
            "stored",
            lambda stop: sum(model.nbytes for model in hub.stored(self.folder)),
            self._offer,
            self._fail,
        )

    def _look(self) -> None:
        """Show the models folder, and examine its disk in the background."""
        self.folder = catalog.models_folder()
        self._path.setText(str(self.folder))
        folder = self.folder
        self._work.run("disk", lambda stop: machine.probe(folder).disk, self._show_disk, self._fail)

    def _show_disk(self, disk: Disk) -> None:
        self._disk = disk
        free, choice = formatting.nbytes(disk.free_nbytes), self._choice
        if choice is None:
            return
        needed = formatting.nbytes(choice.nbytes)
        if self.has_room:
            text = self.tr("{} needed, {} free.").format(needed, free)
        else:
            text = self.tr(
                "Not enough disk space: {} needed, {} free. Free up some space and return to this page, "
                "choose a folder on another disk, or choose a smaller model."
            ).format(needed, free)
        if disk.kind in ("network", "hdd") and disk.speed is None:
            text += " " + self.tr("This disk may be slow. Models run best from an SSD inside this machine.")
        self._room.setText(text)
        set_role(self._room, "muted" if self.has_room else "danger")
        self.changed.emit()

    def _ask_for_folder(self) -> None:
        ask_for_folder(self, self.tr("Models folder"), self.folder, self.use_folder)

    def _offer(self, nbytes: int) -> None:
        """Ask for consent to move the existing models, because all models must be in one folder.

        nbytes: the size of the existing models; if it is 0, change the folder without asking.
        """
        if nbytes == 0:
            self._move()
            return
        self._question.setText(
            self.tr("Your existing models ({}) will be moved to {}.").format(
                formatting.nbytes(nbytes), self._wanted
            )
        )
        self.move_here.setText(self.tr("Move models"))
        for widget in (self._question, self.move_here):
            widget.show()
        self.move_here.setFocus()

    def _move(self) -> None:
        target, folder = self._wanted, self.folder
        assert target is not None
        self._question.hide()
        self.move_here.hide()

        def go(stop: hub.Stop) -> None:
            if folder.is_dir():
                hub.move(folder, target, stop, self._progressed.emit, catalog.keep_models_folder)
            else:
                catalog.keep_models_folder(target)

        self._work.run("move", go, lambda done: self._finish_moving(), self._fail)
        self.changed.emit()

    def _show_moving(self, done: int, total: int) -> None:
        if self._work.is_running("move"):
            shown = ProgressState(self.tr("Moving your models"), "running", done, total, can_pause=False)
            self._moving.show_progress(shown)
            self._moving.show()

    def _finish_moving(self) -> None:
        self._end_moving()
        self.moved.emit()

    def _end_moving(self) -> None:
        self._work.forget("move")
        self._moving.hide()
        self._look()

    def _fail(self, error: SpecExecError) -> None:
        self._moving.hide()
        self.problem.show_error(error)
        self.changed.emit()


def _lines(choice: Choice) -> list[str]:
    """Return a line for each part: name, repository, size, licence."""
    lines = []
    for part in choice.parts:
        if isinstance(part, Variant):
            name, nbytes, source = part.name, part.nbytes, part.repository
        else:
            name, nbytes, source = part.id, part.nbytes, part.id
        origin = f" ({source})" if source != name else ""
        lines.append(f"{name}{origin} · {formatting.nbytes(nbytes)} · {wording.license(part.license)}")
    return lines
