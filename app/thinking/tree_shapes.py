"""How a node looks: each verdict and each source differs in shape as well as in colour."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from app.theme import Tokens
from app.thinking.sources import Shape, Source

GLYPH_SIZE = 7.0
GAUGE = 2.5  # height of the line that says how probable a node is
FADED = 0.6  # opacity of what was rejected


class Kind(Enum):
    ROOT = auto()  # the last committed token: a pill with a dark outline
    GROWING = auto()  # not yet judged: a soft box
    ACCEPTED = auto()  # a filled pill
    BONUS = auto()  # a filled hexagon
    REJECTED = auto()  # a hollow box with sharp corners and a dashed line


@dataclass(frozen=True, slots=True)
class Look:
    """probability: the drafter's; the gauge is as long. source: None for what no drafter proposed."""

    kind: Kind
    probability: float = 1.0
    source: Source | None = None


def draw_node(painter: QPainter, rect: QRectF, label: str, look: Look, colours: Tokens) -> None:
    """Draw one node with its label inside `rect`; what only was proposed is a bar where it has none."""
    if look.source is not None and not label:
        _draw_unnamed(painter, rect, look.kind, look.source, colours)
        return
    _body(painter, rect, look.kind, colours)
    at = rect
    if look.source is not None:
        colour = text_colour(look.kind, colours)
        if look.kind in (Kind.GROWING, Kind.REJECTED):
            colour = look.source.colour(colours)
            width = max(2.0, look.probability * (rect.width() - 6))
            gauge = QRectF(rect.left() + 3, rect.bottom() - GAUGE - 1, width, GAUGE)
            painter.fillRect(gauge, QColor(colour))
        draw_glyph(painter, QPointF(rect.left() + 9, rect.center().y()), look.source.shape, colour)
        at = rect.adjusted(13, 0, -2, 0)
    painter.setPen(QColor(text_colour(look.kind, colours)))
    painter.drawText(at, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextSingleLine, label)


def _draw_unnamed(painter: QPainter, rect: QRectF, kind: Kind, source: Source, colours: Tokens) -> None:
    on_it = text_colour(kind, colours)
    if kind is Kind.GROWING:
        _bar(painter, rect, kind, source.colour(colours))
        on_it = colours.surface
    elif kind is Kind.REJECTED:
        _bar(painter, rect, kind, source.colour(colours))
        on_it = source.colour(colours)
    else:
        _body(painter, rect, kind, colours)
    if min(rect.width(), rect.height()) >= GLYPH_SIZE + 3:
        draw_glyph(painter, rect.center(), source.shape, on_it)


def _bar(painter: QPainter, rect: QRectF, kind: Kind, colour: str) -> None:
    if kind is Kind.REJECTED:
        _pen(painter, colour, 1)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(rect)
    else:
        painter.fillRect(rect, QColor(colour))


def _body(painter: QPainter, rect: QRectF, kind: Kind, colours: Tokens) -> None:
    radius = rect.height() / 2
    match kind:
        case Kind.ROOT:
            _pen(painter, colours.text, 1.5)
            painter.setBrush(QColor(colours.surface))
            painter.drawRoundedRect(rect, radius, radius)
        case Kind.GROWING:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.raised))
            painter.drawRoundedRect(rect, 4, 4)
        case Kind.ACCEPTED:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.accent))
            painter.drawRoundedRect(rect, radius, radius)
        case Kind.BONUS:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.bonus))
            painter.drawPolygon(_hexagon(rect))
        case Kind.REJECTED:
            _pen(painter, colours.outline, 1, Qt.PenStyle.DashLine)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(rect)


def draw_glyph(painter: QPainter, centre: QPointF, shape: Shape, colour: str) -> None:
    """The shape of a source, filled."""
    r = GLYPH_SIZE / 2
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colour))
    x, y = centre.x(), centre.y()
    draw: dict[Shape, Callable[[], None]] = {
        "circle": lambda: painter.drawEllipse(centre, r, r),
        "diamond": lambda: painter.drawPolygon(
            [QPointF(x, y - r - 1), QPointF(x + r + 1, y), QPointF(x, y + r + 1), QPointF(x - r - 1, y)]
        ),
        "triangle": lambda: painter.drawPolygon(
            [QPointF(x, y - r), QPointF(x + r, y + r), QPointF(x - r, y + r)]
        ),
        "square": lambda: painter.drawRect(QRectF(x - r, y - r, 2 * r, 2 * r)),
        "cross": lambda: painter.drawRects([QRectF(x - r, y - 1, 2 * r, 2), QRectF(x - 1, y - r, 2, 2 * r)]),
    }
    draw[shape]()


def text_colour(kind: Kind, colours: Tokens) -> str:
    return {
        Kind.ROOT: colours.text,
        Kind.GROWING: colours.text,
        Kind.ACCEPTED: colours.on_accent,
        Kind.BONUS: colours.on_bonus,
        Kind.REJECTED: colours.muted,
    }[kind]


def edge_pen(look: Look, colours: Tokens) -> QPen:
    """The line that leads to a node: as thick as the node is probable, thickest on the accepted path."""
    match look.kind:
        case Kind.ACCEPTED:
            return QPen(QColor(colours.accent), 3)
        case Kind.BONUS:
            return QPen(QColor(colours.bonus), 2.5)
        case _:
            return QPen(QColor(colours.outline), 0.6 + 1.6 * look.probability)


def _pen(painter: QPainter, colour: str, width: float, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> None:
    painter.setPen(QPen(QColor(colour), width, style))


def _hexagon(rect: QRectF) -> QPolygonF:
    tip = rect.height() / 3
    middle = rect.center().y()
    return QPolygonF(
        [
            QPointF(rect.left() - 1, middle),
            QPointF(rect.left() + tip, rect.top()),
            QPointF(rect.right() - tip, rect.top()),
            QPointF(rect.right() + 1, middle),
            QPointF(rect.right() - tip, rect.bottom()),
            QPointF(rect.left() + tip, rect.bottom()),
        ]
    )
