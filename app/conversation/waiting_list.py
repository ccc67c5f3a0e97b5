"""The list of queued questions, above the composer."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from app.connection.pending_answer import Waiting
from app.formatting import excerpt
from app.widgets.elided_label import ElidedLabel
from app.widgets.icons import icon
from app.widgets.plain_text import plain


class WaitingList(QWidget):
    """A widget with one row for each queued question; hidden while the queue is empty.

    Signals:
        removed: int, index of a question that the user takes back
    """

    removed = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Queued questions"))
        self._rows = QVBoxLayout(self)
        self._rows.setContentsMargins(0, 0, 0, 4)
        self._rows.setSpacing(4)
        self.hide()

    def show_waiting(self, waiting: Sequence[Waiting], titles: Sequence[str]) -> None:
        """Show the queued questions, the next one to be asked first.

        titles: for each, the title of its chat; "" for the chat shown.
        """
        while (item := self._rows.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for place, (question, title) in enumerate(zip(waiting, titles, strict=False)):
            self._rows.addWidget(self._row(place, question.text, title))
        self.setVisible(bool(waiting))

    def _row(self, place: int, text: str, title: str) -> QFrame:
        row = QFrame(self)
        row.setObjectName("question")
        layout = QHBoxLayout(row)
        layout.setContentsMargins(12, 4, 4, 4)
        question = ElidedLabel(row)
        question.setText(
            self.tr("Next in “{}”: {}").format(title, excerpt(text))
            if title
            else self.tr("Next: {}").format(excerpt(text))
        )
        remove = QToolButton(row)
        remove.setIcon(icon("edit"))
        remove.setAccessibleName(self.tr("Take back into the input field"))
        remove.setToolTip(plain(remove.accessibleName()))
        remove.clicked.connect(lambda: self.removed.emit(place))
        layout.addWidget(question, 1)
        layout.addWidget(remove)
        return row
