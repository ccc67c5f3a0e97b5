"""The base class of the wizard's pages."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.widgets.form_parts import label


class Page(QWidget):
    """A page with one question or one piece of information.

    Attributes:
        step: the page's name in the row of steps.
        title: the page's heading.
        column: the page's layout; the title is its first widget.

    Signals:
        changed: `can_continue`, `main_text` or `remark` may have changed
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
    def can_continue(self) -> bool:
        """Whether the main button is enabled."""
        return True

    @property
    def main_text(self) -> str:
        """The text of the main button."""
        return self.tr("Next")

    @property
    def remark(self) -> str:
        """The text beside the main button: what to know before pressing it; "" if there is nothing."""
        return ""

    @property
    def first(self) -> QWidget | None:
        """The widget that gets the focus when the page opens; None for the main button."""
        return None
