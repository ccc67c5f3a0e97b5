"""The line in the transcript at which the model's memory of the chat begins."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.rendering.message_actions import INSET
from app.rendering.quiet_button import QuietButton
from app.widgets.plain_text import PlainLabel


class MemoryMark(QWidget):
    """A line across the column with a sentence, and a button that sends all turns again.

    Signals:
        undo_asked: the user wants the model to read the whole chat again
    """

    undo_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        rule = QFrame(self)
        rule.setObjectName("rule")
        rule.setFixedHeight(1)
        self.label = PlainLabel(self.tr("The model no longer reads what stands above."), self)
        self.label.setProperty("role", "caption")
        self.label.setWordWrap(True)
        self.undo = QuietButton(
            self.tr("Read all of it again"), self.tr("Send the whole chat to the model again"), self
        )
        self.undo.clicked.connect(self.undo_asked)
        row = QHBoxLayout()
        row.setContentsMargins(INSET, 0, 0, 0)
        row.addWidget(self.label, 1)
        row.addWidget(self.undo, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 10)
        column.addWidget(rule)
        column.addLayout(row)
