"""What the person said, as plain text."""

from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from app import words
from app.text_body import TextBody

# Longer questions are sent whole, but laying out a megabyte would hold up the window.
MAX_SHOWN = 6_000


class QuestionView(QFrame):
    """One question, on a raised ground."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("question")
        self.setAccessibleName(self.tr("Your message"))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 10, 14, 10)
        body = TextBody(self)
        body.setAccessibleName(self.tr("Your message"))
        body.show_plain(text[:MAX_SHOWN])
        layout.addWidget(body)
        if len(text) > MAX_SHOWN:
            shown = self.tr("The first {} of {} characters are shown; all were sent.")
            notice = QLabel(shown.format(words.number(MAX_SHOWN), words.number(len(text))), self)
            notice.setProperty("role", "caption")
            notice.setWordWrap(True)
            layout.addWidget(notice)
