"""What an empty chat shows: an introduction and suggested questions."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.widgets.plain_text import PlainLabel


class EmptyState(QWidget):
    """The widget shown in an empty chat: a short introduction and a few suggested questions.

    Signals:
        suggested: str, the question the user picked
    """

    suggested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addStretch(2)
        title = PlainLabel(self.tr("Ask the model something"), self)
        title.setProperty("role", "title")
        title.setWordWrap(True)
        layout.addWidget(title)
        text = PlainLabel(
            self.tr(
                "Everything runs on this computer, and nothing you write leaves it. A drafter proposes many "
                "ways to continue the answer; the target model checks them all in one pass and keeps the "
                "words it would have chosen itself. "
                "The panel on the right shows the proposals as a token tree."
            ),
            self,
        )
        text.setProperty("role", "muted")
        text.setWordWrap(True)
        layout.addWidget(text)
        layout.addSpacing(10)
        for question in (
            self.tr("Explain speculative decoding in three sentences"),
            self.tr("Write a Python function that finds the longest common prefix of a list of strings"),
            self.tr("Suggest a name and a slogan for a small bakery by the sea"),
        ):
            layout.addWidget(self._suggestion(question), alignment=Qt.AlignmentFlag.AlignLeft)
        layout.addStretch(3)

    def _suggestion(self, question: str) -> QPushButton:
        button = QPushButton(question, self)
        button.setProperty("role", "suggestion")
        button.setAccessibleName(self.tr("Suggestion: {}").format(question))
        button.clicked.connect(lambda: self.suggested.emit(question))
        return button
