"""The question before a model is deleted, and its deletion."""

from collections.abc import Collection
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QMessageBox, QWidget

from app import formatting
from app.background import Work
from app.header import local_models
from app.header.local_models import LocalModel, LocalPair
from app.widgets.plain_text import NO_BUTTON, PlainMessageBox
from engine import catalog, hub
from engine.hub import StoredModel
from engine.protocol.messages import Loaded


class Removal(QObject):
    """Deletes models after a question.

    Signals:
        removed: a model was deleted
        failed: SpecExecError, the reason why it was not
    """

    removed = Signal()
    failed = Signal(object)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._window = parent
        self._work = Work(self)

    def ask(self, model: StoredModel, loaded: Loaded | None) -> None:
        """Ask whether to delete `model`, and what else to delete with it. A loaded model is not deleted."""
        in_use = paths_of(loaded)
        pairs = local_models.pairs_here()
        name = next((pair.target.text for pair in pairs if _is_of(pair.target, model)), model.name)
        if model.path in in_use:
            self._refuse(name)
            return
        lines = [self.tr("This frees {}.").format(formatting.nbytes(model.nbytes))]
        users = _users(pairs, model)
        if users:
            lines.append(
                self.tr("It is the draft of {}, which will answer more slowly without it.").format(users)
            )
        box = self._box(self.tr("Delete {}?").format(name))
        also = None
        draft = _own_draft(pairs, model)
        if draft is not None and draft.stored is not None:
            others = _users([pair for pair in pairs if not _is_of(pair.target, model)], draft.stored)
            if others:
                lines.append(
                    self.tr("Its draft {} stays, because {} uses it, too.").format(draft.text, others)
                )
            elif draft.stored.path not in in_use:
                size = formatting.nbytes(draft.nbytes)
                also = QCheckBox(self.tr("Also delete its draft {}, {}").format(draft.text, size), box)
                box.setCheckBox(also)
        box.setInformativeText("\n".join(lines))
        keep = box.addButton(self.tr("Keep"), QMessageBox.ButtonRole.RejectRole)
        delete = box.addButton(self.tr("Delete"), QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(keep)
        box.setEscapeButton(keep)

        def go() -> None:
            with_draft = draft.stored if draft and also is not None and also.isChecked() else None
            self._delete([model, with_draft] if with_draft else [model])

        delete.clicked.connect(go)
        box.open()

    def _refuse(self, name: str) -> None:
        box = self._box(self.tr("{} is loaded.").format(name))
        box.setInformativeText(
            self.tr(
                "Unload it first, or load another model: click the model's name at the top of the chat "
                "(Ctrl+M). Then delete it."
            )
        )
        box.addButton(self.tr("Close"), QMessageBox.ButtonRole.RejectRole)
        box.open()

    def _box(self, question: str) -> PlainMessageBox:
        box = PlainMessageBox(QMessageBox.Icon.NoIcon, "", question, self._window, NO_BUTTON)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        return box

    def _delete(self, models: list[StoredModel]) -> None:
        folder = catalog.models_folder()
        self._work.run(
            "delete",
            lambda stop: [hub.delete(folder, model) for model in models],
            lambda freed: self.removed.emit(),
            self.failed.emit,
        )


def paths_of(loaded: Loaded | None) -> Collection[Path]:
    """Return the paths of the loaded models."""
    if loaded is None:
        return ()
    return [Path(model.path) for model in (loaded.target, loaded.draft) if model is not None]


def _is_of(local: LocalModel, model: StoredModel) -> bool:
    return local.stored is not None and local.stored.path == model.path


def _own_draft(pairs: list[LocalPair], model: StoredModel) -> LocalModel | None:
    return next((pair.draft for pair in pairs if _is_of(pair.target, model)), None)


def _users(pairs: list[LocalPair], draft: StoredModel) -> str:
    """Return the names of the targets whose draft this model is."""
    return ", ".join(pair.target.text for pair in pairs if pair.draft and _is_of(pair.draft, draft))
