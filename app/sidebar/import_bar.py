"""How far an import is, a button that stops it, and what came of it."""

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QMessageBox,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app import words
from app.sidebar.importing import Outcome


class ImportBar(QFrame):
    """Hidden while nothing is imported.

    Attributes:
        stop: the button.
        progress: the bar; busy while the file is being read.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("note_bar")
        self._label = QLabel(self)
        self._label.setTextFormat(Qt.TextFormat.PlainText)
        self._label.setWordWrap(True)
        self.progress = QProgressBar(self)
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName(self.tr("Progress of the import"))
        self.stop = QPushButton(self.tr("Stop"), self)
        self.stop.setAccessibleName(self.tr("Stop the import"))
        row = QHBoxLayout()
        row.addWidget(self._label, 1)
        row.addWidget(self.stop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 8, 10)
        layout.addLayout(row)
        layout.addWidget(self.progress)
        self.hide()

    def begin(self, name: str) -> None:
        self._label.setText(self.tr("Reading {}…").format(name))
        self.progress.setRange(0, 0)
        self.stop.setEnabled(True)
        self.show()

    def advance(self, done: int, total: int) -> None:
        text = self.tr("Importing: {} of {} chats")
        self._label.setText(text.format(words.number(done), words.number(total)))
        self.progress.setRange(0, max(1, total))
        self.progress.setValue(done)


def _tr(text: str) -> str:
    return QCoreApplication.translate("import_bar", text)


def summary(outcome: Outcome) -> str:
    count = len(outcome.chats)
    said = _tr("Imported 1 chat") if count == 1 else _tr("Imported {} chats").format(words.number(count))
    if outcome.is_stopped:
        said = _tr("Stopped. {}").format(said)
    if outcome.skipped:
        said += "; " + _tr("{} could not be read").format(words.number(len(outcome.skipped)))
    return said


def list_skipped(parent: QWidget, outcome: Outcome) -> QMessageBox:
    """Say which chats were not imported, and why; without blocking."""
    box = QMessageBox(QMessageBox.Icon.Information, _tr("Import"), summary(outcome), parent=parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setInformativeText(_tr("The rest of the file was imported. What could not be read:"))
    box.setDetailedText("\n".join(outcome.skipped))
    box.open()
    return box
