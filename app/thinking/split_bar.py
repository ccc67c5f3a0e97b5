"""Where the time went, as one bar in four parts."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import theme
from engine.protocol.messages import Seconds

BAR_HEIGHT = 8
SWATCH = 9

# Each part has a pattern of its own, so that the bar is read without colours too.
PATTERNS = (
    Qt.BrushStyle.SolidPattern,
    Qt.BrushStyle.SolidPattern,
    Qt.BrushStyle.BDiagPattern,
    Qt.BrushStyle.Dense4Pattern,
)


def shares(seconds: Seconds) -> tuple[float, float, float, float]:
    """Draft, target, waiting, other as parts of one; all zero where no time was spent."""
    parts = (seconds.draft, seconds.target, seconds.stream_wait, seconds.other)
    total = sum(parts)
    draft, target, waiting, other = (part / total if total > 0 else 0.0 for part in parts)
    return draft, target, waiting, other


class SplitBar(QWidget):
    """A bar and its labels."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shares: Sequence[float] = (0.0, 0.0, 0.0, 0.0)
        self._names = (self.tr("draft"), self.tr("target"), self.tr("waiting"), self.tr("other"))
        self.setAccessibleName(self.tr("Where the time went"))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_seconds(self, seconds: Seconds) -> None:
        self._shares = shares(seconds)
        self.setAccessibleDescription(", ".join(self._labels()))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(300, BAR_HEIGHT + 8 + self.fontMetrics().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        c = theme.current()
        colours = (c.time_draft, c.time_target, c.time_wait, c.time_other)
        painter.setBrush(QColor(c.raised))
        painter.drawRoundedRect(QRectF(0, 0, self.width(), BAR_HEIGHT), 2, 2)
        x = 0.0
        for share, colour, pattern in zip(self._shares, colours, PATTERNS, strict=True):
            width = share * self.width()
            painter.fillRect(QRectF(x, 0, max(0.0, width - 1), BAR_HEIGHT), QBrush(QColor(colour), pattern))
            x += width
        self._paint_labels(painter, colours, c.muted)

    def _labels(self) -> list[str]:
        if not any(self._shares):
            return list(self._names)
        return [f"{name} {share:.0%}" for name, share in zip(self._names, self._shares, strict=True)]

    def _paint_labels(self, painter: QPainter, colours: Sequence[str], text_colour: str) -> None:
        x, top = 0.0, BAR_HEIGHT + 6
        height = self.fontMetrics().height()
        for label, colour, pattern in zip(self._labels(), colours, PATTERNS, strict=True):
            swatch = QRectF(x, top + (height - SWATCH) / 2, SWATCH, SWATCH)
            painter.fillRect(swatch, QBrush(QColor(colour), pattern))
            painter.setPen(QColor(text_colour))
            width = self.fontMetrics().horizontalAdvance(label) + 2
            painter.drawText(QRectF(x + SWATCH + 5, top, width, height), Qt.AlignmentFlag.AlignVCenter, label)
            painter.setPen(Qt.PenStyle.NoPen)
            x += SWATCH + 5 + width + 12
