"""Questions that wait for their turn, above the place where the next is written."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from app.asking import Waiting
from app.icons import icon
from app.notification import excerpt


class WaitingList(QWidget):
    """Signals:
    removed: place, from 0: it is not to be asked after all
    """

    removed = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Questions that wait"))
        self._rows = QVBoxLayout(self)
        self._rows.setContentsMargins(0, 0, 0, 4)
        self._rows.setSpacing(4)
        self.hide()

    def show_waiting(self, waiting: Sequence[Waiting]) -> None:
        """The next one first."""
        while (item := self._rows.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for place, each in enumerate(waiting):
            self._rows.addWidget(self._row(place, each.text))
        self.setVisible(bool(waiting))

    def _row(self, place: int, text: str) -> QFrame:
        row = QFrame(self)
        row.setObjectName("question")
        layout = QHBoxLayout(row)
        layout.setContentsMargins(12, 4, 4, 4)
        said = QLabel(self.tr("Next: {}").format(excerpt(text)), row)
        said.setTextFormat(Qt.TextFormat.PlainText)
        said.setMinimumWidth(40)
        remove = QToolButton(row)
        remove.setIcon(icon("close"))
        remove.setAccessibleName(self.tr("Do not ask this"))
        remove.setToolTip(remove.accessibleName())
        remove.clicked.connect(lambda: self.removed.emit(place))
        layout.addWidget(said, 1)
        layout.addWidget(remove)
        return row
