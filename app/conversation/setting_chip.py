"""The base of the chips below the composer, each of which shows one setting of the chat."""

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QWidget

from app.rendering.quiet_button import QuietButton


class SettingChip(QFrame):
    """A chip with a button that says what is set.

    Attributes:
        button: the button.
        row: the layout, to which more may be added.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chip")
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.button = QuietButton("", "", self)
        self.button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.row = QHBoxLayout(self)
        self.row.setContentsMargins(0, 0, 0, 0)
        self.row.setSpacing(0)
        self.row.addWidget(self.button)

    def open_above(self, popup: QWidget) -> None:
        """Open a popup above the chip, as far as the screen has room."""
        popup.adjustSize()
        place = self.mapToGlobal(QPoint(0, -popup.height() - 4))
        room = self.screen().availableGeometry()
        left = max(room.left(), min(place.x(), room.right() - popup.width()))
        popup.move(left, max(room.top(), place.y()))
        popup.show()
