"""Formulas in a text: each is drawn once, on a worker thread, and painted inline."""

import logging
from collections import deque
from functools import lru_cache
from typing import NamedTuple

from PySide6.QtCore import QByteArray, QCoreApplication, QObject, QPointF, QRect, QRectF, QSizeF, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPyTextObject, QTextDocument, QTextFormat
from PySide6.QtSvg import QSvgRenderer

from app.background import Work
from app.rendering.formula_picture import INK, Picture, draw
from app.rendering.look import IS_DISPLAY, LATEX

logger = logging.getLogger(__name__)

# Size of a formula relative to the text: STIX Two looks small beside the interface fonts.
SCALE = 1.12

MAX_KEPT = 2_000  # maximum number of pictures kept, of about 10 KB each


class Formula(NamedTuple):
    latex: str
    is_display: bool


class FormulaRenderer(QObject):
    """Cache of formula pictures. Lives on the GUI thread; draws on a worker thread, one formula at a time.

    Signals:
        drawn: Formula, whose picture is ready or which turned out not to be drawable
    """

    drawn = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pictures: dict[Formula, Picture | None] = {}
        self._asked: set[Formula] = set()
        self._waiting: deque[Formula] = deque()  # asked for, not yet started
        self._work = Work(self)

    def picture(self, formula: Formula) -> Picture | None:
        """Return the picture, or None if it is not drawn yet or cannot be drawn."""
        return self._pictures.get(formula)

    def is_drawable(self, latex: str, is_display: bool) -> bool:
        """Return False if the formula is known not to be drawable. Start drawing it at the first call."""
        formula = Formula(latex, is_display)
        if formula in self._pictures:
            return self._pictures[formula] is not None
        if formula not in self._asked:
            self._asked.add(formula)
            self._waiting.append(formula)
            self._draw_next()
        return True

    def drop_queued(self) -> None:
        """Drop the formulas that wait to be drawn."""
        self._waiting.clear()

    def _draw_next(self) -> None:
        if not self._waiting or self._work.is_running("formula"):
            return
        formula = self._waiting.popleft()
        self._work.run(
            "formula",
            lambda stop: _picture(formula),
            lambda picture: self._keep(formula, picture),
            lambda error: None,  # `draw` raises no SpecExecError
        )

    def _keep(self, formula: Formula, picture: Picture | None) -> None:
        self._asked.discard(formula)
        self._draw_next()
        while len(self._pictures) >= MAX_KEPT:
            del self._pictures[next(iter(self._pictures))]
        self._pictures[formula] = picture
        self.drawn.emit(formula)


def _picture(formula: Formula) -> Picture | None:
    """Draw a formula; return None if it cannot be drawn.

    An unexpected error is logged and also gives None, so that the next formula is drawn nevertheless.
    """
    try:
        return draw(*formula)
    except Exception:
        logger.exception("A formula could not be drawn")
        return None


@lru_cache(maxsize=1)
def shared() -> FormulaRenderer:
    """Return the application's renderer."""
    app = QCoreApplication.instance()
    made = FormulaRenderer(app)
    if app is not None:
        app.aboutToQuit.connect(made.drop_queued)
    return made


def formula_of(format: QTextFormat) -> Formula:
    return Formula(format.stringProperty(LATEX), format.boolProperty(IS_DISPLAY))


class FormulaObject(QPyTextObject):
    """Text object that measures and draws formulas in the colour of the surrounding text.

    Until the picture is drawn, it shows the source.
    """

    def __init__(self, formulas: FormulaRenderer, document: QTextDocument) -> None:
        super().__init__(document)
        self._formulas = formulas

    def intrinsicSize(self, document: QTextDocument, position: int, format: QTextFormat) -> QSizeF:
        """Return a size that makes the line tall enough. Qt puts the centre of an object a quarter of the
        x-height above the baseline."""
        width, ascent, descent = self._extent(format)
        scale = self._fit(document, width)
        half_x = self._half_x(format)
        return QSizeF(width * scale, max(2 * ascent * scale - half_x, 2 * descent * scale + half_x))

    def drawObject(
        self,
        painter: QPainter,
        rect: QRectF | QRect,
        document: QTextDocument,
        position: int,
        format: QTextFormat,
    ) -> None:
        characters = format.toCharFormat()
        width, ascent, descent = self._extent(format)
        scale = self._fit(document, width)
        block = document.findBlock(position)
        line = block.layout().lineForTextPosition(position - block.position())
        # Qt centres the object in the line; the picture is aligned with the baseline.
        baseline = QRectF(rect).center().y() - line.height() / 2 + line.ascent()
        formula = formula_of(format)
        picture = self._formulas.picture(formula)
        if picture is None:
            painter.setFont(characters.font())
            painter.setPen(characters.foreground().color())
            painter.drawText(QPointF(rect.left(), baseline), formula.latex)
            return
        colour = characters.foreground().color()
        height = (ascent + descent) * scale
        target = QRectF(rect.left(), baseline - ascent * scale, width * scale, height)
        _renderer(picture.svg, colour.name()).render(painter, target)

    def _extent(self, format: QTextFormat) -> tuple[float, float, float]:
        """Return width, ascent and descent of what is shown (picture or source), in pixels."""
        formula = formula_of(format)
        picture = self._formulas.picture(formula)
        font = format.toCharFormat().font()
        if picture is None:
            metrics = QFontMetricsF(font)
            return metrics.horizontalAdvance(formula.latex), metrics.ascent(), metrics.descent()
        em = font.pixelSize() * SCALE
        return picture.width * em, picture.ascent * em, picture.descent * em

    def _fit(self, document: QTextDocument, width: float) -> float:
        """Return the scale that makes a formula fit the text width, at most 1. width: 0 if the source has no
        visible character."""
        available = document.textWidth()
        return min(1.0, available / width) if available > 0 and width > 0 else 1.0

    def _half_x(self, format: QTextFormat) -> float:
        return QFontMetricsF(format.toCharFormat().font()).xHeight() / 2


@lru_cache(maxsize=256)
def _renderer(svg: bytes, colour: str) -> QSvgRenderer:
    return QSvgRenderer(QByteArray(svg.replace(INK, QColor(colour).name().encode())))
