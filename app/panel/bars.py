"""Charts of one answer: time by phase, per iteration and in total; accepted nodes; progress of a pass."""

import math
from collections import Counter, deque
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app import formatting
from app.panel.run_figures import drafted_of, seconds_of
from app.widgets import theme
from app.widgets.plain_text import plain
from engine.protocol.messages import IterationDone, Seconds

MIN_BARS, MAX_BARS = 20, 60  # the width has room for 20 to 60 bars; the newest 60 are kept
SPLIT_HEIGHT = 8
LABEL_GAP = 4.0
SWATCH = 9
INSET = 2.0  # between the outline of a box and what fills it

# Patterns of draft, target, waiting and other. The last two can be told apart without their colours.
PATTERNS = (
    Qt.BrushStyle.SolidPattern,
    Qt.BrushStyle.SolidPattern,
    Qt.BrushStyle.BDiagPattern,
    Qt.BrushStyle.Dense4Pattern,
)


class IterationBars(QWidget):
    """Bar chart of the newest iterations, oldest on the left.

    The height of a bar is the duration of the iteration, split into four phases. What the draft did while the
    target verified stands beside the target's part: an empty box, filled by the share of the next tree
    that survived the verdict.

    Attributes:
        current: number of the highlighted iteration, or None.

    Signals:
        iteration_asked: int, number of the iteration that was clicked
    """

    iteration_asked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._done: deque[IterationDone] = deque(maxlen=MAX_BARS)
        self.current: int | None = None
        self.setAccessibleName(self.tr("Seconds of each iteration"))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(70)
        self._describe()

    @property
    def shown(self) -> Sequence[IterationDone]:
        return self._done

    def clear(self) -> None:
        self._done.clear()
        self._describe()

    def add(self, done: IterationDone) -> None:
        self._done.append(done)
        self._describe()

    def _describe(self) -> None:
        told = [self._longest(), self._told_survival()] if self._done else [self.tr("No iterations yet.")]
        self.setAccessibleDescription("; ".join(filter(None, told)))
        self.update()

    def _longest(self) -> str:
        most = max(seconds_of(done) for done in self._done)
        return self.tr("longest: {} s").format(formatting.decimal(most))

    def _told_survival(self) -> str:
        """Say how many of the nodes that grew during passes survived; "" if none grew."""
        known = [index for index in range(len(self._done)) if self._survivors(index) is not None]
        grown = sum(self._done[index].grown_ahead for index in known)
        survived = sum(self._survivors(index) or 0 for index in known)
        if not grown:
            return ""
        text = self.tr("{} of {} nodes drafted during passes survived")
        return text.format(formatting.number(survived), formatting.number(grown))

    def _survivors(self, index: int) -> int | None:
        """Return how many nodes grown during a pass the next tree had from the start; None if it is not
        known."""
        done = self._done[index]
        following = self._done[index + 1] if index + 1 < len(self._done) else None
        if following is None or following.iteration != done.iteration + 1:
            return None
        return min(following.survivors, done.grown_ahead)

    @property
    def _has_legend(self) -> bool:
        """Whether there is a legend, below the line with the longest time."""
        return any(done.ahead_s for done in self._done)

    @property
    def _labels_height(self) -> float:
        """The height of the lines above the bars, and of the gap below them."""
        return (2 if self._has_legend else 1) * self._line + LABEL_GAP

    @property
    def _line(self) -> int:
        """The height of a line of text, whose glyphs may come from a higher font than the widget's."""
        return self.fontMetrics().boundingRect(self.rect(), 0, self.tr("longest: {} s")).height()

    def show_current(self, iteration: int | None) -> None:
        """Highlight an iteration."""
        self.current = iteration
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(300, 110)

    def bar(self, index: int) -> QRectF:
        """Return the rectangle of a bar; the highest bar fills the height below the labels."""
        step = self._step()
        most = max(seconds_of(done) for done in self._done)
        available = self.height() - self._labels_height
        height = available * seconds_of(self._done[index]) / most if most > 0 else 0.0
        return QRectF(index * step + 1, self.height() - height, max(2.0, step - 2), height)

    def beside(self, index: int) -> QRectF:
        """Return the right half of a bar, as high as the time that the draft computed while the target
        verified: from the beginning of the pass on."""
        done, bar = self._done[index], self.bar(index)
        whole = seconds_of(done) or 1.0
        height = bar.height() * done.ahead_s / whole
        bottom = bar.bottom() - bar.height() * done.seconds.draft / whole
        return QRectF(bar.center().x(), bottom - height, bar.width() / 2, height)

    def survived(self, index: int) -> QRectF:
        """Return the lower part of `beside`: as much of it as survivors made up of the next tree."""
        whole, survivors = self.beside(index), self._survivors(index)
        share = survivors / drafted_of(self._done[index + 1]) if survivors else 0.0
        height = min(1.0, share) * whole.height()
        return QRectF(whole.left(), whole.bottom() - height, whole.width(), height)

    def _step(self) -> float:
        return self.width() / max(MIN_BARS, len(self._done))

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
        line = self._line
        painter.drawText(QRectF(0, 0, self.width(), line), self._longest())
        if self._has_legend:
            self._paint_legend(painter, line)
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
            beside = self.beside(index)
            if beside.height():
                hollow(painter, beside, colours.time_draft)
                inside = self.survived(index).adjusted(INSET, INSET, -INSET, -INSET)
                if inside.isValid():
                    painter.fillRect(inside, QColor(colours.time_draft))
            if done.iteration == self.current:
                painter.setPen(QColor(colours.text))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(bar.adjusted(-1, -1, 0, -1))

    def _paint_legend(self, painter: QPainter, line: int) -> None:
        """Write what the two fillings beside the target's part mean into the second line."""
        x, colours = 0.0, theme.current()
        names = self.tr("drafted during the pass"), self.tr("its share of the next tree")
        for is_filled, name in enumerate(names):
            box = QRectF(x, line + (line - SWATCH) / 2, SWATCH, SWATCH)
            hollow(painter, box, colours.time_draft)
            if is_filled:
                painter.fillRect(box.adjusted(INSET, INSET, -INSET, -INSET), QColor(colours.time_draft))
            x += SWATCH + 5
            painter.setPen(QColor(colours.muted))
            painter.drawText(QRectF(x, line, self.width(), line), Qt.AlignmentFlag.AlignVCenter, name)
            x += self.fontMetrics().horizontalAdvance(name) + 12


class Histogram(QWidget):
    """Histogram of the number of nodes accepted per iteration."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._counts: Counter[int] = Counter()
        self.setAccessibleName(self.tr("Accepted nodes per iteration"))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(70)

    def show_counts(self, counts: Counter[int]) -> None:
        self._counts = counts
        lines = [self.tr("{} accepted: {}×").format(n, counts[n]) for n in sorted(counts)]
        self.setAccessibleDescription(", ".join(lines) or self.accessibleName())
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, 110)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        colours = theme.current()
        if not self._counts:
            return
        painter.setFont(theme.smaller(self.font()))
        line = painter.fontMetrics().height()
        longest, most = max(self._counts), max(self._counts.values())
        step = min(34.0, self.width() / (longest + 1))
        widest = painter.fontMetrics().horizontalAdvance
        every = math.ceil((widest(str(longest)) + LABEL_GAP) / step)  # every nth length has a label
        end = 0.0  # of the last count that was written
        available = self.height() - 2 * line
        for length in range(longest + 1):
            count = self._counts[length]
            height = available * count / most
            bar = QRectF(length * step + 1, self.height() - line - height, step - 2, height)
            painter.fillRect(bar, QColor(colours.accent))
            painter.setPen(QColor(colours.muted))
            if length % every == 0:
                below = QRectF(0, self.height() - line, 2 * bar.center().x(), line)
                painter.drawText(below, Qt.AlignmentFlag.AlignCenter, str(length))
            text = formatting.number(count)
            left = bar.center().x() - widest(text) / 2
            if count and left >= end:
                end = left + widest(text) + LABEL_GAP
                painter.drawText(QPointF(left, bar.top() - LABEL_GAP), text)

    def event(self, event: object) -> bool:
        if isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), plain(self.accessibleDescription()), self)
            return True
        return super().event(event)  # type: ignore[arg-type]


class LayerStrip(QWidget):
    """The target's layers as a row of cells, lit up to the layer that the current pass has reached."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._done, self._layers = 0, 0
        self.setAccessibleName(self.tr("Layers of the current pass"))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_pass(self, done: int, layers: int) -> None:
        self._done, self._layers = done, layers
        self.setAccessibleDescription(self.tr("layer {} of {}").format(done, layers))
        self.update()

    def show_whole(self) -> None:
        """Light all layers: the pass has ended."""
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


def swatch(painter: QPainter, at: QPointF, colour: str, pattern: Qt.BrushStyle, size: float = SWATCH) -> None:
    painter.fillRect(QRectF(at.x(), at.y(), size, size), QBrush(QColor(colour), pattern))


def hollow(painter: QPainter, box: QRectF, colour: str) -> None:
    """Draw a box that is empty but for its outline."""
    painter.fillRect(box, QColor(theme.current().surface))
    painter.setPen(QColor(colour))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(box.adjusted(0, 0, -1, -1))


def shares(seconds: Seconds) -> tuple[float, float, float, float]:
    """Return the shares of draft, target, waiting and other, whose sum is 1; all 0 if no time was spent."""
    parts = (seconds.draft, seconds.target, seconds.stream_wait, seconds.other)
    total = sum(parts)
    draft, target, waiting, other = (part / total if total > 0 else 0.0 for part in parts)
    return draft, target, waiting, other


class SplitBar(QWidget):
    """Bar that shows the time of an answer, split into four phases, with the labels of the phases below."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shares: Sequence[float] = (0.0, 0.0, 0.0, 0.0)
        self._names = (self.tr("draft"), self.tr("target"), self.tr("waiting"), self.tr("other"))
        self.setAccessibleName(self.tr("Time by phase"))
        self.setToolTip(
            self.tr(
                "draft: proposing the token tree\n"
                "target: computing the target's pass, which verifies the tree\n"
                "waiting: the target waits for streamed weights\n"
                "other: everything else"
            )
        )
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.show_seconds(Seconds())

    def show_seconds(self, seconds: Seconds) -> None:
        self._shares = shares(seconds)
        self.setAccessibleDescription(", ".join(self._labels()))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(300, self.heightForWidth(300))

    def heightForWidth(self, width: int) -> int:
        *_, (_, y) = self._places(width)
        return y + self.fontMetrics().height() + 2

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        c = theme.current()
        colours = (c.time_draft, c.time_target, c.time_wait, c.time_other)
        painter.setBrush(QColor(c.raised))
        painter.drawRoundedRect(QRectF(0, 0, self.width(), SPLIT_HEIGHT), 2, 2)
        x = 0.0
        for share, colour, pattern in zip(self._shares, colours, PATTERNS, strict=True):
            width = share * self.width()
            painter.fillRect(QRectF(x, 0, max(0.0, width - 1), SPLIT_HEIGHT), QBrush(QColor(colour), pattern))
            x += width
        self._paint_labels(painter, colours, c.muted)

    def _labels(self) -> list[str]:
        if not any(self._shares):
            return list(self._names)
        return [f"{name} {share:.0%}" for name, share in zip(self._names, self._shares, strict=True)]

    def _places(self, width: int) -> list[tuple[int, int]]:
        """Return where the labels begin, in as many lines as the width needs."""
        metrics, places = self.fontMetrics(), []
        x, y = 0, SPLIT_HEIGHT + 6
        for label in self._labels():
            needed = SWATCH + 5 + metrics.horizontalAdvance(label) + 2
            if x and x + needed > width:
                x, y = 0, y + metrics.height() + 2
            places.append((x, y))
            x += needed + 12
        return places

    def _paint_labels(self, painter: QPainter, colours: Sequence[str], text_colour: str) -> None:
        height = self.fontMetrics().height()
        drawn = zip(self._labels(), self._places(self.width()), colours, PATTERNS, strict=True)
        for label, (x, y), colour, pattern in drawn:
            swatch(painter, QPointF(x, y + (height - SWATCH) / 2), colour, pattern)
            painter.setPen(QColor(text_colour))
            room = QRectF(x + SWATCH + 5, y, self.width(), height)
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, label)
            painter.setPen(Qt.PenStyle.NoPen)
