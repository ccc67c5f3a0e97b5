"""The models folder on a page of the wizard or the settings, and moving the models to another one."""

import os
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.background import Work
from app.widgets.flow import Flow
from app.widgets.form_parts import Card, ask_for_folder, label
from app.widgets.plain_text import plain
from app.widgets.progress_view import ProgressState, ProgressView
from engine import catalog, hub
from engine.errors import SpecExecError


class ModelsFolder(QWidget):
    """A card with the path of the models folder and, below it, the progress of moving the models to another.

    Attributes:
        folder: the models folder.
        card: the frame, into which a page may put more.
        about: the label below the path, where a page says something about the folder.
        change: the button that asks for another folder; disabled while the models move, and if the
            environment variable sets the folder.

    Signals:
        chosen: Path, the folder that the user has chosen instead
        moving_changed: `is_moving` changed
        moved: the models folder has changed
        failed: SpecExecError; the models were not moved
    """

    chosen = Signal(Path)
    moving_changed = Signal()
    moved = Signal()
    failed = Signal(object)
    _progressed = Signal(object, object)  # bytes, too many for Qt's int

    def __init__(
        self,
        work: Work,
        change: QPushButton,
        parent: QWidget | None = None,
        *,
        before: Sequence[QPushButton] = (),
    ) -> None:
        """before: other buttons, in front of `change`."""
        super().__init__(parent)
        self.folder = catalog.models_folder()
        self._work = work
        self.card = Card(self)
        self.change = change
        self.about = label(role="muted", parent=self.card)
        self._path = label(role="name", parent=self.card)
        self._moving = ProgressView(self)
        self._moving.hide()
        self._build([*before, change])
        self.change.clicked.connect(self._ask_for_folder)
        self._moving.cancelled.connect(self.stop)
        self._progressed.connect(self._show_progress)

    def _build(self, buttons: Sequence[QPushButton]) -> None:
        row = Flow()
        row.addWidget(label(self.tr("Models folder"), "caption", self.card))
        row.addStretch()
        for each in buttons:
            row.addWidget(each)
        self.card.column.addLayout(row)
        self.card.column.addWidget(self._path)
        self.card.column.addWidget(self.about)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addWidget(self.card)
        column.addWidget(self._moving)
        if variable_sets_folder():
            self.change.setEnabled(False)
            text = self.tr("The environment variable {} sets this folder.")
            self.change.setToolTip(plain(text.format(catalog.MODELS_VARIABLE)))

    @property
    def is_moving(self) -> bool:
        return self._work.is_running("move")

    def look(self) -> None:
        """Show which folder is the models folder now."""
        self.folder = catalog.models_folder()
        self._path.setText(str(self.folder))

    def move_models(self, folder: Path, target: Path) -> None:
        """Move the models in `folder` to `target`, which becomes the models folder, in the background. A
        loaded model stays loaded."""

        def go(stop: hub.Stop) -> None:
            if folder.is_dir():
                hub.move(folder, target, stop, self._progressed.emit, catalog.keep_models_folder)
            else:  # it does not exist before the first download
                catalog.keep_models_folder(target)

        self._work.run("move", go, lambda _: self._finish(), self._fail)
        self._follow()

    def stop(self) -> None:
        """Stop moving. Another move to the same folder continues it."""
        if self.is_moving:
            self._work.forget("move")
            self._follow()

    def _ask_for_folder(self) -> None:
        ask_for_folder(self, self.tr("Models folder"), self.folder, self.chosen.emit)

    def _show_progress(self, done: int, total: int) -> None:
        if self.is_moving:
            shown = ProgressState(self.tr("Moving your models"), "running", done, total, can_pause=False)
            self._moving.show_progress(shown)
            self._moving.show()

    def _follow(self) -> None:
        """A move has begun or ended."""
        self._moving.hide()
        self.change.setEnabled(not self.is_moving and not variable_sets_folder())
        self.look()
        self.moving_changed.emit()

    def _finish(self) -> None:
        self._follow()
        self.moved.emit()

    def _fail(self, error: SpecExecError) -> None:
        self._follow()
        self.failed.emit(error)


def variable_sets_folder() -> bool:
    return bool(os.environ.get(catalog.MODELS_VARIABLE))
