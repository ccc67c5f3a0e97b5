"""Plot of the speed against the time: tokens/s over the last 30 seconds, and over the whole answer so far."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import formatting
from app.panel.run_figures import Moment
from app.widgets import theme

SPACE = 6  # between texts and lines
DASH = 18  # length of the line in the legend
APART = 1.6  # least distance of two speeds at the axis, in heights of a label
SHORTEST_S = 1e-3
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True, slots=True)
class Scales:
    """The rectangle of the lines, and what its width and height stand for.

    longest: seconds at the right edge. highest: tokens/s at the upper edge. speeds: those with a label.
    """

    area: QRectF
    longest: float
    highest: float
    speeds: list[float]

    def x(self, time: float) -> float:
        return self.area.left() + self.area.width() * time / self.longest

    def y(self, speed: float) -> float:
        return self.area.bottom() - self.area.height() * speed / self.highest


class SpeedPlot(QWidget):
    """Plot with two lines, a legend above them, and as many labels at the axes as fit beside each other."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._moments: Sequence[Moment] = ()
        self.setMinimumHeight(110)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(self.tr("Tokens per second over time"))

    def show_moments(self, moments: Sequence[Moment]) -> None:
        self._moments = moments
        if moments:
            text = self.tr("now {} tokens/s, average {} tokens/s")
            newest = moments[-1]
            description = text.format(formatting.decimal(newest.recent), formatting.decimal(newest.whole))
            self.setAccessibleDescription(description)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(300, 160)

    @property
    def _metrics(self) -> QFontMetrics:
        """The metrics of the text, which is smaller than the window's and follows its size."""
        return QFontMetrics(theme.smaller(self.font()))

    def labels(self) -> list[tuple[QRectF, str]]:
        """Return the texts at the axes with their places: those of the speeds, then those of the times."""
        scales = self._scales()
        if scales is None:
            return []
        metrics, area = self._metrics, scales.area
        height = metrics.height()
        placed = [
            (QRectF(0, scales.y(speed) - height / 2, area.left() - SPACE, height), label_of(speed))
            for speed in scales.speeds
        ]
        text = self.tr("{} s")
        widest = metrics.horizontalAdvance(text.format(label_of(scales.longest))) + 2 * SPACE
        end = 0.0
        for time in ticks(scales.longest, max(1, int(area.width() / widest))):
            name = text.format(label_of(time))
            width = metrics.horizontalAdvance(name) + 1
            left = min(max(0.0, scales.x(time) - width / 2), self.width() - width)
            if left >= end:
                placed.append((QRectF(left, area.bottom() + height / 2 + 1, width, height), name))
                end = left + width + SPACE
        return placed

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.smaller(self.font()))
        colours = theme.current()
        self._paint_legend(painter)
        scales = self._scales()
        if scales is None:
            return
        painter.setPen(QPen(QColor(colours.border), 1))
        for speed in scales.speeds:
            y = scales.y(speed)
            painter.drawLine(QPointF(scales.area.left(), y), QPointF(scales.area.right(), y))
        painter.setPen(QColor(colours.muted))
        for place, name in self.labels():
            painter.drawText(place, RIGHT, name)
        for pen, line in ((self._recent, "recent"), (self._whole, "whole")):
            painter.setPen(pen)
            points = [QPointF(scales.x(each.t), scales.y(getattr(each, line))) for each in self._moments]
            painter.drawPolyline(QPolygonF(points))

    def _paint_legend(self, painter: QPainter) -> None:
        for place, name, pen in self._legend():
            middle = place.center().y()
            painter.setPen(pen)
            painter.drawLine(QPointF(place.left(), middle), QPointF(place.left() + DASH, middle))
            painter.setPen(QColor(theme.current().muted))
            painter.drawText(place, RIGHT, name)

    def _legend(self) -> list[tuple[QRectF, str, QPen]]:
        """Return the entries of the legend; the second is below the first where they do not fit beside
        each other."""
        metrics, x, y = self._metrics, 0.0, 0.0
        entries = []
        for name, pen in ((self.tr("last 30 s"), self._recent), (self.tr("whole answer"), self._whole)):
            width = DASH + SPACE + metrics.horizontalAdvance(name) + 1
            if x and x + width > self.width():
                x, y = 0.0, y + metrics.height()
            entries.append((QRectF(x, y, width, metrics.height()), name, pen))
            x += width + 2 * SPACE
        return entries

    def _scales(self) -> Scales | None:
        """Return the scales of the lines; None without lines, or if the widget is too small."""
        if not self._moments:
            return None
        height = self._metrics.height()
        top = max(place.bottom() for place, _, _ in self._legend()) + height / 2 + SPACE
        room = self.height() - 1.5 * height - 1 - top
        highest = max(max(moment.recent, moment.whole, 1e-3) for moment in self._moments)
        speeds = ticks(highest, max(1, int(room / (APART * height))))
        left = max(self._metrics.horizontalAdvance(label_of(speed)) for speed in speeds) + SPACE
        area = QRectF(left, top, self.width() - left - SPACE, room)
        longest = max(self._moments[-1].t, SHORTEST_S)
        return None if area.isEmpty() else Scales(area, longest, highest, speeds)

    @property
    def _recent(self) -> QPen:
        return QPen(QColor(theme.current().accent), 2)

    @property
    def _whole(self) -> QPen:
        return QPen(QColor(theme.current().time_draft), 2, Qt.PenStyle.DashLine)


def ticks(highest: float, most: int) -> list[float]:
    """Return multiples of 1, 2 or 5 times a power of ten, from 0 up to at most `highest`; at most `most`
    besides 0."""
    step = 10.0 ** math.floor(math.log10(max(highest, 1e-6)))
    steps = (factor * step * 10**more for more in (-1, 0, 1) for factor in (1, 2, 5))
    chosen = next(each for each in steps if int(highest / each + 1e-9) <= most)
    return [chosen * i for i in range(int(highest / chosen + 1e-9) + 1)]


def label_of(value: float) -> str:
    """Return the label of a tick: as few decimals as tell it from its neighbours."""
    return formatting.number(round(value)) if value >= 10 or value == round(value) else f"{value:g}"
