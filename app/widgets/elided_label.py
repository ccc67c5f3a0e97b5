"""A label that shortens its text to fit."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.widgets.plain_text import plain

LEEWAY = 4  # pixels that glyphs of other fonts may be taller


class ElidedLabel(QLabel):
    """One line of text, shortened with "…" where it does not fit; the tool tip holds all of it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def setText(self, text: str) -> None:
        super().setText(text)
        self.setToolTip(plain(text))

    def sizeHint(self) -> QSize:
        """As high as a line of the font, whatever taller glyphs of other fonts the text has: so a label whose
        text changes moves nothing."""
        margins = self.contentsMargins()
        height = self.fontMetrics().height() + LEEWAY + margins.top() + margins.bottom()
        return QSize(super().sizeHint().width() + 1, height)  # widths are rounded

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        room = self.contentsRect()
        fitting = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, self.alignment() | Qt.AlignmentFlag.AlignVCenter, fitting)
