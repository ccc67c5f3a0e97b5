"""Third: where it will lie, and whether there is room."""

import os
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app import words
from app.wizard import phrases
from app.wizard.choice import Choice
from app.wizard.page import Page
from app.wizard.parts import Card, Problem, ask_for_folder, button, label, set_role
from app.wizard.progress_view import ProgressView
from app.wizard.stages import Shown
from app.work import Work
from engine import catalog, hub, machine
from engine.catalog import Variant
from engine.errors import DiskProblem, SpecExecError
from engine.machine import Disk

RESERVE_NBYTES = 1 << 30  # a disk that is full to the last byte does harm


class WherePage(Page):
    """
    Attributes:
        folder: where models lie.
        change, move_here: buttons.
        problem: what went wrong with the folder, or on the way to the Hub.

    Signals:
        moved: models lie in another folder now
    """

    moved = Signal()
    _progressed = Signal(int, int)

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Where"), self.tr("Where it will be kept"), parent)
        self.folder = catalog.models_folder()
        self._work = work
        self._choice: Choice | None = None
        self._disk: Disk | None = None
        self._wanted: Path | None = None
        self.preparing = False
        self._parts = Card(self)
        self._parts_text = label(parent=self._parts)
        self._parts.column.addWidget(label(self.tr("What will be downloaded"), "caption", self._parts))
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
        row = QHBoxLayout()
        row.addWidget(label(self.tr("Folder of your models"), "caption", self._place), 1)
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
            self.change.setToolTip(self.tr("{} says where models lie.").format(catalog.MODELS_VARIABLE))

    @property
    def can_go_on(self) -> bool:
        return self.has_room and not self.preparing and not self._work.is_running("move")

    @property
    def main_text(self) -> str:
        return self.tr("Asking the Hub…") if self.preparing else self.tr("Download")

    @property
    def has_room(self) -> bool:
        if self._choice is None or self._disk is None:
            return False
        return self._choice.nbytes + RESERVE_NBYTES <= self._disk.free_nbytes

    def show_choice(self, choice: Choice) -> None:
        self._choice = choice
        self._parts_text.setText("\n".join(_lines(choice)))
        self.problem.clear()
        self._look()

    def prepare(self, preparing: bool) -> None:
        """Whether the Hub is being asked for what was chosen."""
        self.preparing = preparing
        if preparing:
            self.problem.clear()
        self.changed.emit()

    def stop(self) -> None:
        """Nobody looks any more. A move goes on."""
        for what in ("disk", "stored"):
            self._work.forget(what)

    def go_to(self, folder: Path) -> None:
        """A person wants models to be kept there."""
        self._wanted = folder
        self.problem.clear()
        self._work.run(
            "stored",
            lambda stop: sum(model.nbytes for model in hub.stored(self.folder)),
            self._offer,
            self._fail,
        )

    def _look(self) -> None:
        """At the disk of the folder."""
        self.folder = catalog.models_folder()
        self._path.setText(str(self.folder))
        folder = self.folder
        self._work.run("disk", lambda stop: machine.probe(folder).disk, self._show_disk, self._fail)

    def _show_disk(self, disk: Disk) -> None:
        self._disk = disk
        free, choice = words.nbytes(disk.free_nbytes), self._choice
        if choice is None:
            return
        needed = words.nbytes(choice.nbytes)
        if self.has_room:
            text = self.tr("{} are free, {} are needed.").format(free, needed)
        else:
            text = self.tr(
                "Too little room: {} are needed, and {} are free. Make room and come back to this page, "
                "choose a folder on another disk, or a smaller model."
            ).format(needed, free)
        if disk.kind in ("network", "hdd") and disk.speed is None:
            text += " " + self.tr("The disk may be slow: models run best from an SSD inside this machine.")
        self._room.setText(text)
        set_role(self._room, "muted" if self.has_room else "danger")
        self.changed.emit()

    def _ask_for_folder(self) -> None:
        ask_for_folder(self, self.tr("Folder for models"), self.folder, self.go_to)

    def _offer(self, nbytes: int) -> None:
        """Models that are here come along, because they are looked for in one folder."""
        if nbytes == 0:
            self._move()
            return
        self._question.setText(
            self.tr("The models you have ({}) move to {}.").format(words.nbytes(nbytes), self._wanted)
        )
        self.move_here.setText(self.tr("Move them"))
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
                _keep(target)

        self._work.run("move", go, lambda done: self._arrive(), self._fail)
        self.changed.emit()

    def _show_moving(self, done: int, total: int) -> None:
        if self._work.is_running("move"):
            shown = Shown(self.tr("Moving your models"), "running", done, total, can_pause=False)
            self._moving.show_progress(shown)
            self._moving.show()

    def _arrive(self) -> None:
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


def _keep(folder: Path) -> None:
    """Raises DiskProblem."""
    try:
        catalog.keep_models_folder(folder)
    except OSError as error:
        raise DiskProblem(
            f"The folder cannot be remembered: {error.strerror}.", "Check the disk and its permissions."
        ) from error


def _lines(choice: Choice) -> list[str]:
    """Each part: what, from where, how large, under which licence."""
    lines = []
    for part in choice.parts:
        if isinstance(part, Variant):
            what, nbytes, source = part.name, part.nbytes, part.repository
        else:
            what, nbytes, source = part.id, part.nbytes, part.id
        where = f" ({source})" if source != what else ""
        lines.append(f"{what}{where} · {words.nbytes(nbytes)} · {phrases.license(part.license)}")
    return lines
