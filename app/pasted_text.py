"""A long text that was pasted: held whole beside the text field, which would take seconds to lay it out."""

from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from app import words

# Measured on two cores: a line of a million characters holds QPlainTextEdit up for 40 s.
MAX_TYPED = 20_000
SHOWN = 40


class PastedText(QFrame):
    """One line that says what was pasted, and a button to take it away. Hidden while there is nothing.

    Attributes:
        text: what was pasted, whole; "" where nothing was.
        remove: the button.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = ""
        self._label = QLabel(self)
        self._label.setProperty("role", "caption")
        self.remove = QPushButton(self.tr("Remove"), self)
        self.remove.setAccessibleName(self.tr("Remove the pasted text"))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(4, 0, 0, 4)
        layout.addWidget(self._label, 1)
        layout.addWidget(self.remove)
        self.hide()

    def hold(self, text: str) -> None:
        """Replace what is held ("": nothing)."""
        self.text = text
        begin = " ".join(text[: 2 * SHOWN].split())[:SHOWN]
        shown = self.tr("Pasted: “{}…”, {} characters").format(begin, words.number(len(text)))
        self._label.setText(shown)
        self.setVisible(bool(text))
