"""Charts of one answer, painted: seconds of each iteration by phase, a histogram, layers that come in."""

from collections import Counter, deque
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app import theme, words
from app.thinking.rates import seconds_of
from app.thinking.split_bar import PATTERNS
from engine.protocol.messages import IterationDone

FEWEST_BARS, MOST_BARS = 20, 60  # that the width is divided for
LABEL_HEIGHT = 16


class IterationBars(QWidget):
    """The newest iterations from left to right, as high as they took long, in four parts.

    Signals:
        iteration_asked: int, one that was clicked
    """

    iteration_asked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._done: deque[IterationDone] = deque(maxlen=MOST_BARS)
        self.current: int | None = None
        self.setAccessibleName(self.tr("Seconds of each iteration"))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(70)

    def clear(self) -> None:
        self._done.clear()
        self.update()

    def add(self, done: IterationDone) -> None:
        self._done.append(done)
        self.update()

    def show_current(self, iteration: int | None) -> None:
        """Which one is looked at."""
        self.current = iteration
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(300, 110)

    def bar(self, index: int) -> QRectF:
        """The place of one bar, the highest as high as there is room."""
        step = self._step()
        most = max(seconds_of(done) for done in self._done)
        room = self.height() - LABEL_HEIGHT
        height = room * seconds_of(self._done[index]) / most if most > 0 else 0.0
        return QRectF(index * step + 1, self.height() - height, max(2.0, step - 2), height)

    def _step(self) -> float:
        return self.width() / max(FEWEST_BARS, len(self._done))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = int(event.position().x() / self._step())
        if index < len(self._done):
            self.iteration_asked.emit(self._done[index].iteration)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        colours = theme.current()
        painter.setPen(QColor(colours.muted))
        if not self._done:
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.tr("No iterations yet."))
            return
        most = max(seconds_of(done) for done in self._done)
        painter.drawText(
            QRectF(0, 0, self.width(), LABEL_HEIGHT), self.tr("highest {} s").format(words.decimal(most))
        )
        fills = (colours.time_draft, colours.time_target, colours.time_wait, colours.time_other)
        for index, done in enumerate(self._done):
            bar = self.bar(index)
            whole = seconds_of(done) or 1.0
            parts = (done.seconds.draft, done.seconds.target, done.seconds.stream_wait, done.seconds.other)
            bottom = bar.bottom()
            for part, colour, pattern in zip(parts, fills, PATTERNS, strict=True):
                height = bar.height() * part / whole
                piece = QRectF(bar.left(), bottom - height, bar.width(), height)
                painter.fillRect(piece, QBrush(QColor(colour), pattern))
                bottom -= height
            if done.iteration == self.current:
                painter.setPen(QColor(colours.text))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(bar.adjusted(-1, -1, 0, -1))


class Histogram(QWidget):
    """How often so many nodes were accepted in one iteration."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._counts: Counter[int] = Counter()
        self.setAccessibleName(self.tr("Accepted lengths"))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(70)

    def show_counts(self, counts: Counter[int]) -> None:
        self._counts = counts
        said = [self.tr("{} accepted: {} times").format(n, counts[n]) for n in sorted(counts)]
        self.setAccessibleDescription(", ".join(said))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, 110)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        colours = theme.current()
        if not self._counts:
            return
        painter.setFont(theme.smaller(self.font()))
        longest, most = max(self._counts), max(self._counts.values())
        step = min(34.0, self.width() / (longest + 1))
        room = self.height() - 2 * LABEL_HEIGHT
        for length in range(longest + 1):
            count = self._counts[length]
            height = room * count / most
            bar = QRectF(length * step + 1, self.height() - LABEL_HEIGHT - height, step - 2, height)
            painter.fillRect(bar, QColor(colours.accent))
            painter.setPen(QColor(colours.muted))
            below = QRectF(bar.left() - 4, self.height() - LABEL_HEIGHT, step + 6, LABEL_HEIGHT)
            if step >= 14 or length % 5 == 0:
                painter.drawText(below, Qt.AlignmentFlag.AlignCenter, str(length))
            if count and step >= 10:
                above = QRectF(bar.left() - 4, bar.top() - LABEL_HEIGHT, step + 6, LABEL_HEIGHT)
                painter.drawText(above, Qt.AlignmentFlag.AlignCenter, words.number(count))

    def event(self, event: object) -> bool:
        if isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.accessibleDescription(), self)
            return True
        return super().event(event)  # type: ignore[arg-type]


class LayerStrip(QWidget):
    """The target's layers as cells, lit as far as the pass under way has come."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._done, self._layers = 0, 0
        self.setAccessibleName(self.tr("Layers of the pass under way"))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_pass(self, done: int, layers: int) -> None:
        self._done, self._layers = done, layers
        self.setAccessibleDescription(self.tr("layer {} of {}").format(done, layers))
        self.update()

    def show_whole(self) -> None:
        """The pass is over."""
        self.show_pass(self._layers, self._layers)

    def sizeHint(self) -> QSize:
        return QSize(300, 12)

    def cells(self) -> Sequence[QRectF]:
        width = self.width() / max(1, self._layers)
        gap = 1.0 if width > 3 else 0.0
        return [QRectF(i * width, 2, width - gap, self.height() - 4) for i in range(self._layers)]

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        colours = theme.current()
        for i, cell in enumerate(self.cells()):
            painter.fillRect(cell, QColor(colours.time_target if i < self._done else colours.raised))


def swatch(painter: QPainter, at: QPointF, colour: str, pattern: Qt.BrushStyle, size: float = 9.0) -> None:
    painter.fillRect(QRectF(at.x(), at.y(), size, size), QBrush(QColor(colour), pattern))
