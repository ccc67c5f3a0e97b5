"""What all pages of the wizard have."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.wizard.parts import label


class Page(QWidget):
    """One question or one thing to know.

    Attributes:
        step: its name in the row of steps.
        title: what it is about, in a sentence.
        column: its layout, below the title.

    Signals:
        changed: `can_go_on` or `main_text` may have changed
    """

    changed = Signal()

    def __init__(self, step: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.step, self.title = step, title
        self.setAccessibleName(title)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(28, 14, 28, 14)
        self.column.setSpacing(12)
        self.column.addWidget(label(title, "title", self))

    @property
    def can_go_on(self) -> bool:
        return True

    @property
    def main_text(self) -> str:
        """Of the button that goes on."""
        return self.tr("Next")

    @property
    def first(self) -> QWidget | None:
        """What has the keyboard when the page comes; None: the button that goes on."""
        return None
