"""The page for the models folder; it checks whether the folder's disk has enough free space."""

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app import formatting
from app.background import Work
from app.downloads.models_folder import ModelsFolder
from app.widgets.form_parts import Card, button, label, set_role
from app.widgets.notice import Problem
from app.wizard.pages.page import Page
from app.wizard.selection import wording
from app.wizard.selection.choice import Choice
from engine import hub, machine
from engine.catalog import Variant
from engine.errors import SpecExecError
from engine.machine import Disk

RESERVE_NBYTES = 1 << 30  # kept free, because a completely full disk harms the system


class WherePage(Page):
    """The page that shows the parts to download and the folder for them, which the user can change.

    Attributes:
        place: the models folder.
        move_here: the button that confirms that the existing models move to that folder.
        problem: shows the last error, from the disk or from the Hub.

    Signals:
        moved: the models folder has changed
    """

    moved = Signal()

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Folder"), self.tr("Where to store the model"), parent)
        self._work = work
        self._choice: Choice | None = None
        self._left_out: SpecExecError | None = None
        self._disk: Disk | None = None
        self._wanted: Path | None = None
        self.preparing = False
        self._parts = Card(self)
        self._parts_text = label(parent=self._parts)
        self._parts.column.addWidget(label(self.tr("To be downloaded"), "caption", self._parts))
        self._parts.column.addWidget(self._parts_text)
        self.place = ModelsFolder(work, button(self.tr("Change folder…")), self)
        self.move_here = button("", parent=self.place.card)
        self._question = label(parent=self.place.card)
        self.problem = Problem(self)
        self.place.chosen.connect(self.use_folder)
        self.place.moving_changed.connect(self.changed)
        self.place.moving_changed.connect(self._offer_nothing)
        self.place.moved.connect(self._look)
        self.place.moved.connect(self.moved)
        self.place.failed.connect(self.problem.show_error)
        self.move_here.clicked.connect(self._move)
        self._build()

    def _build(self) -> None:
        column = self.place.card.column
        column.addWidget(self._question)
        column.addWidget(self.move_here, alignment=Qt.AlignmentFlag.AlignLeft)
        for part in (self._parts, self.place, self.problem):
            self.column.addWidget(part)
        self.column.addStretch(1)
        self._offer_nothing()

    @property
    def can_continue(self) -> bool:
        is_ready = self.has_room or self.has_nothing
        return is_ready and not self.preparing and not self.place.is_moving

    @property
    def main_text(self) -> str:
        if self.preparing:
            return self.tr("Contacting Hugging Face…")
        return self.tr("Load now") if self.has_nothing else self.tr("Download")

    @property
    def has_nothing(self) -> bool:
        """Whether nothing is left to download: only a companion was wanted, and the Hub does not give it."""
        return self._choice is not None and not self._choice.parts and self._left_out is not None

    @property
    def has_room(self) -> bool:
        """Whether the disk has enough free space for the chosen parts and the reserve."""
        if self._choice is None or self._disk is None:
            return False
        return self._choice.nbytes + RESERVE_NBYTES <= self._disk.free_nbytes

    def show_choice(self, choice: Choice, left_out: SpecExecError | None = None) -> None:
        """Show the parts of a choice. left_out: why the choice's companion is not among them; None while the
        Hub is asked for it, or if there is none."""
        self._choice, self._left_out = choice, left_out
        lines = _lines(choice)
        if left_out:
            lines.append(wording.left_out(choice.companion, left_out))
        elif choice.companion:
            lines.append(self.tr("{} · asking Hugging Face for its size…").format(choice.companion))
        self._parts_text.setText("\n".join(lines))
        self.problem.clear()
        self._look()
        self.changed.emit()

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
        self._wanted, now = folder, self.place.folder
        self.problem.clear()
        self._work.run(
            "stored",
            lambda stop: sum(model.nbytes for model in hub.stored(now)),
            self._offer,
            self._fail,
        )

    def _look(self) -> None:
        """Show the models folder, and examine its disk in the background."""
        self.place.look()
        folder = self.place.folder
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
        self.place.about.setText(text)
        set_role(self.place.about, "muted" if self.has_room else "danger")
        self.changed.emit()

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

    def _offer_nothing(self) -> None:
        self._question.hide()
        self.move_here.hide()

    def _move(self) -> None:
        assert self._wanted is not None
        self.place.move_models(self.place.folder, self._wanted)

    def _fail(self, error: SpecExecError) -> None:
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
