"""The models page: the models folder and the models in it, which can be moved or deleted."""

import os
from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app import formatting
from app.background import Work
from app.header.model_removal import Removal
from app.settings.left_behind import LeftBehind
from app.widgets.flow import Flow
from app.widgets.form_parts import Card, ask_for_folder, button, label
from app.widgets.notice import Problem
from app.widgets.plain_text import plain
from app.widgets.progress_view import ProgressState, ProgressView
from engine import catalog, hub
from engine.errors import SpecExecError
from engine.hub import Stop, StoredModel
from engine.protocol.messages import Loaded

STORED = Qt.ItemDataRole.UserRole


class ModelsPage(QWidget):
    """The page that moves the models folder and deletes models.

    Attributes:
        open, change: the buttons that open the models folder and move it.
        left: the card about models that earlier versions left in the cache; hidden if there are none.
        delete: the button that deletes the chosen model.
        models: the list of models, the largest first.
        problem: shows the last error.
        removal: deletes models.
        loaded: the loaded pair, which is not deleted.

    Signals:
        moved: the models folder has changed
    """

    moved = Signal()
    _progressed = Signal(int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._work = Work(self)
        self._folder = catalog.models_folder()
        self._place = Card(self)
        self._path = label(role="name", parent=self._place)
        self._sizes = label(role="muted", parent=self._place)
        self.open = button(self.tr("Open"), self.tr("Open the models folder"), self._place)
        self.change = button(self.tr("Move…"), self.tr("Move the models to another folder"), self._place)
        self.left = LeftBehind(self)
        self.left.move_asked.connect(self._carry)
        self.left.stay_asked.connect(self._stay)
        self._moving = ProgressView(self)
        self._moving.hide()
        self.problem = Problem(self)
        self.removal = Removal(self)
        self.loaded: Loaded | None = None
        self.models = QListWidget(self)
        self.models.setObjectName("choices")
        self.models.setAccessibleName(self.tr("Models on this machine"))
        self.delete = button(self.tr("Delete…"), self.tr("Delete the model"), self)
        self.delete.setEnabled(False)
        empty = self.tr("No models yet. Click the model's name at the top of the chat (Ctrl+M) to get one.")
        self._empty = label(empty, "muted", self)
        for hidden in (self._empty, self.delete):
            hidden.hide()
        self._build()
        self.open.clicked.connect(lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(self._folder)))
        self.change.clicked.connect(self._ask_for_folder)
        self.removal.removed.connect(self.refresh)
        self.removal.failed.connect(self.problem.show_error)
        self.delete.clicked.connect(self._ask_delete)
        self.models.currentRowChanged.connect(lambda row: self.delete.setEnabled(row >= 0))
        self._moving.cancelled.connect(self._stop)
        self._progressed.connect(self._show_moving)

    def _build(self) -> None:
        head = Flow()
        head.addWidget(label(self.tr("Models folder"), "caption", self._place))
        head.addStretch()
        head.addWidget(self.open)
        head.addWidget(self.change)
        self._place.column.addLayout(head)
        self._place.column.addWidget(self._path)
        self._place.column.addWidget(self._sizes)
        lower = QHBoxLayout()
        lower.addWidget(self.delete)
        lower.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(10)
        for widget in (self._place, self.left, self._moving, self.problem):
            layout.addWidget(widget)
        layout.addWidget(self._empty, 1, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self.models, 1)
        layout.addLayout(lower)
        if os.environ.get(catalog.MODELS_VARIABLE):
            self.change.setEnabled(False)
            self.change.setToolTip(
                plain(
                    self.tr("The environment variable {} sets this folder.").format(catalog.MODELS_VARIABLE)
                )
            )

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop a move of the models. Another move to the same folder continues it."""
        self._stop()
        super().hideEvent(event)

    def refresh(self) -> None:
        """List the models in the folder."""
        self._folder = catalog.models_folder()
        self._path.setText(str(self._folder))
        self.left.look()
        self._work.run("stored", lambda stop: hub.stored(self._folder), self._show, self.problem.show_error)

    def _show(self, stored: list[StoredModel]) -> None:
        total = formatting.nbytes(sum(model.nbytes for model in stored))
        self._sizes.setText(self.tr("{} models, {}").format(formatting.number(len(stored)), total))
        self.models.clear()
        for model in sorted(stored, key=lambda model: -model.nbytes):
            details = " · ".join(filter(None, [formatting.nbytes(model.nbytes), model.license]))
            item = QListWidgetItem(f"{model.name}\n{details}", self.models)
            item.setData(STORED, model)
        self.delete.setEnabled(False)
        for widget in (self.models, self.delete):
            widget.setVisible(bool(stored))
        self._empty.setVisible(not stored)

    def _ask_delete(self) -> None:
        self.problem.clear()
        self.removal.ask(self.models.currentItem().data(STORED), self.loaded)

    # -- moving ----------------------------------------------------------------------------------------------

    def _ask_for_folder(self) -> None:
        ask_for_folder(self, self.tr("Models folder"), self._folder, self.move_to)

    def move_to(self, target: Path) -> None:
        """Move all models to another folder, in the background. The loaded model stays loaded."""
        self._carry(self._folder, target)

    def _carry(self, folder: Path, target: Path) -> None:
        self.problem.clear()
        self.change.setEnabled(False)
        self.left.hide()

        def go(stop: Stop) -> None:
            folder.mkdir(parents=True, exist_ok=True)  # the folder does not exist before the first download
            hub.move(folder, target, stop, self._progressed.emit, catalog.keep_models_folder)

        self._work.run("move", go, lambda _: self._finish_moving(), self._fail)

    def _stay(self, folder: Path) -> None:
        self._work.run(
            "stay",
            lambda stop: catalog.keep_models_folder(folder),
            lambda _: self.left.look(),
            self.problem.show_error,
        )

    def _show_moving(self, done: int, total: int) -> None:
        if self._work.is_running("move"):
            shown = ProgressState(self.tr("Moving your models"), "running", done, total, can_pause=False)
            self._moving.show_progress(shown)
            self._moving.show()

    def _finish_moving(self) -> None:
        self._stop()
        self.refresh()
        self.moved.emit()

    def _fail(self, error: SpecExecError) -> None:
        self._stop()
        self.problem.show_error(error)

    def _stop(self) -> None:
        self._work.forget("move")
        self._moving.hide()
        self.left.look()
        self.change.setEnabled(not os.environ.get(catalog.MODELS_VARIABLE))
