"""A formula in a line of text."""

from functools import lru_cache

from PySide6.QtCore import QByteArray, QPointF, QRect, QRectF, QSizeF
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPyTextObject, QTextDocument, QTextFormat
from PySide6.QtSvg import QSvgRenderer

from app.rendering.formula_drawing import INK
from app.rendering.formulas import Formula, Formulas
from app.rendering.look import IS_DISPLAY, LATEX

# Of the text's size: STIX Two looks small beside the interface fonts.
SCALE = 1.12


def formula_of(format: QTextFormat) -> Formula:
    return Formula(format.stringProperty(LATEX), format.boolProperty(IS_DISPLAY))


class FormulaObject(QPyTextObject):
    """Sizes and draws formulas, in the colour of the text around; their source until the picture is there."""

    def __init__(self, formulas: Formulas, document: QTextDocument) -> None:
        super().__init__(document)
        self._formulas = formulas

    def intrinsicSize(self, document: QTextDocument, position: int, format: QTextFormat) -> QSizeF:
        """A height that makes the line high and deep enough: Qt counts it from half an x above the baseline,
        one half up, one half down.
        """
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
        # Qt puts the object in the middle of the line, whose baseline is elsewhere.
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
        """Width, ascent and descent in pixels."""
        formula = formula_of(format)
        picture = self._formulas.picture(formula)
        font = format.toCharFormat().font()
        if picture is None:
            metrics = QFontMetricsF(font)
            return metrics.horizontalAdvance(formula.latex), metrics.ascent(), metrics.descent()
        em = font.pixelSize() * SCALE
        return picture.width * em, picture.ascent * em, picture.descent * em

    def _fit(self, document: QTextDocument, width: float) -> float:
        """A formula wider than the text is made smaller."""
        available = document.textWidth()
        return min(1.0, available / width) if available > 0 else 1.0

    def _half_x(self, format: QTextFormat) -> float:
        return QFontMetricsF(format.toCharFormat().font()).xHeight() / 2


@lru_cache(maxsize=256)
def _renderer(svg: bytes, colour: str) -> QSvgRenderer:
    return QSvgRenderer(QByteArray(svg.replace(INK, QColor(colour).name().encode())))
