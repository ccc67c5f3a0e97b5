"""The models page: the models folder and the models in it, which can be moved or deleted."""

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
from app.downloads.models_folder import ModelsFolder
from app.header.model_file import ask_for_model
from app.header.model_removal import Removal
from app.settings.left_behind import LeftBehind
from app.widgets.form_parts import button, label
from app.widgets.notice import Problem
from engine import catalog, hub
from engine.hub import StoredModel
from engine.protocol.messages import Loaded

STORED = Qt.ItemDataRole.UserRole


class ModelsPage(QWidget):
    """The page that moves the models folder, loads models from files elsewhere, and deletes models.

    Attributes:
        place: the models folder, which can be moved.
        open: the button that opens it.
        left: the card about models that earlier versions left in the cache; hidden if there are none.
        add: the button that loads a model from a file elsewhere on this machine.
        delete: the button that deletes the chosen model.
        models: the list of models, the largest first.
        problem: shows the last error.
        removal: deletes models.
        loaded: the loaded pair, which is not deleted.

    Signals:
        moved: the models folder has changed
        load_asked: RecentPair, which the user wants to load from a file
    """

    moved = Signal()
    load_asked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._work = Work(self)
        self.open = button(self.tr("Open"), self.tr("Open the models folder"))
        change = button(self.tr("Move…"), self.tr("Move the models to another folder"))
        self.place = ModelsFolder(self._work, change, self, before=[self.open])
        self.left = LeftBehind(self)
        self.left.move_asked.connect(self._carry)
        self.left.stay_asked.connect(self._stay)
        self.problem = Problem(self)
        self.removal = Removal(self)
        self.loaded: Loaded | None = None
        self.models = QListWidget(self)
        self.models.setObjectName("choices")
        self.models.setAccessibleName(self.tr("Models on this machine"))
        self.delete = button(self.tr("Delete…"), self.tr("Delete the model"), self)
        self.delete.setEnabled(False)
        self.add = button(
            self.tr("Add a model file…"), self.tr("Load a model from a file anywhere on this machine"), self
        )
        empty = self.tr("No models yet. Click the model's name at the top of the chat (Ctrl+M) to get one.")
        self._empty = label(empty, "muted", self)
        for hidden in (self._empty, self.delete):
            hidden.hide()
        self._build()
        self.open.clicked.connect(lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(self.place.folder)))
        self.place.chosen.connect(self.move_to)
        self.place.moving_changed.connect(self._look_behind)
        self.place.moved.connect(self.refresh)
        self.place.moved.connect(self.moved)
        self.place.failed.connect(self.problem.show_error)
        self.removal.removed.connect(self.refresh)
        self.removal.failed.connect(self.problem.show_error)
        self.delete.clicked.connect(self._ask_delete)
        self.add.clicked.connect(self._ask_file)
        self.models.currentRowChanged.connect(lambda row: self.delete.setEnabled(row >= 0))

    def _build(self) -> None:
        lower = QHBoxLayout()
        lower.addWidget(self.add)
        lower.addStretch(1)
        lower.addWidget(self.delete)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(10)
        for widget in (self.place, self.left, self.problem):
            layout.addWidget(widget)
        layout.addWidget(self._empty, 1, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self.models, 1)
        layout.addLayout(lower)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop a move of the models. Another move to the same folder continues it."""
        self.place.stop()
        super().hideEvent(event)

    def refresh(self) -> None:
        """List the models in the folder."""
        self.place.look()
        self._look_behind()
        folder = self.place.folder
        self._work.run("stored", lambda stop: hub.stored(folder), self._show, self.problem.show_error)

    def _show(self, stored: list[StoredModel]) -> None:
        total = formatting.nbytes(sum(model.nbytes for model in stored))
        words = self.tr("{} models, {}").format(formatting.number(len(stored)), total)
        self.place.about.setText(self.tr("1 model, {}").format(total) if len(stored) == 1 else words)
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

    def _ask_file(self) -> None:
        if pair := ask_for_model(self):
            self.load_asked.emit(pair)

    # -- moving ----------------------------------------------------------------------------------------------

    def move_to(self, target: Path) -> None:
        """Move all models to another folder, in the background."""
        self._carry(self.place.folder, target)

    def _carry(self, folder: Path, target: Path) -> None:
        self.problem.clear()
        self.place.move_models(folder, target)

    def _look_behind(self) -> None:
        """Offer to move models out of the cache, unless models move already."""
        self.left.look()
        if self.place.is_moving:
            self.left.hide()

    def _stay(self, folder: Path) -> None:
        self._work.run(
            "stay",
            lambda stop: catalog.keep_models_folder(folder),
            lambda _: self.left.look(),
            self.problem.show_error,
        )
