"""The dialog that asks for a model's file on this machine."""

from pathlib import Path

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from app.preferences import RecentPair


def ask_for_model(parent: QWidget | None) -> RecentPair | None:
    """Return the chosen model, with the best draft on this machine; None if the user cancelled. It is loaded
    from where it is."""
    path, _ = QFileDialog.getOpenFileName(parent, _tr("Open model"), "", _tr("Models (*.gguf config.json)"))
    if not path:
        return None
    model = Path(path)
    return RecentPair(str(model.parent if model.name == "config.json" else model))


def _tr(text: str) -> str:
    return QCoreApplication.translate("model_file", text)
