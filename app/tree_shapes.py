"""How a node looks: each kind differs in shape as well as in colour."""

from enum import Enum, auto

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from app.theme import Tokens


class Kind(Enum):
    ROOT = auto()  # the last committed token: a pill with a dark outline
    GROWING = auto()  # not yet judged: a soft box
    ACCEPTED = auto()  # a filled pill
    BONUS = auto()  # a filled hexagon
    REJECTED = auto()  # a hollow box with sharp corners and a dashed line


def draw_node(painter: QPainter, rect: QRectF, label: str, kind: Kind, colours: Tokens) -> None:
    """Draw one node with its label inside `rect`."""
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
    painter.setPen(QColor(text_colour(kind, colours)))
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextSingleLine, label)


def text_colour(kind: Kind, colours: Tokens) -> str:
    return {
        Kind.ROOT: colours.text,
        Kind.GROWING: colours.text,
        Kind.ACCEPTED: colours.on_accent,
        Kind.BONUS: colours.on_bonus,
        Kind.REJECTED: colours.muted,
    }[kind]


def edge_pen(kind: Kind, probability: float, colours: Tokens) -> QPen:
    """The line that leads to a node: as thick as the node is probable, thickest on the accepted path."""
    match kind:
        case Kind.ACCEPTED:
            return QPen(QColor(colours.accent), 3)
        case Kind.BONUS:
            return QPen(QColor(colours.bonus), 2.5)
        case _:
            return QPen(QColor(colours.outline), 0.6 + 1.6 * probability)


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
