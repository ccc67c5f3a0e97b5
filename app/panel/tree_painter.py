"""Painting of an arranged tree on a widget, an image or an SVG.

Each verdict and each source differs in shape as well as in colour.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum, auto

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF

from app.panel import tree_geometry
from app.panel.node_words import Shape, Source, is_ahead, sources
from app.panel.tree_geometry import HEAD_HEIGHT, Arranged, Box
from app.panel.tree_layout import BONUS, ROOT
from app.widgets import theme
from app.widgets.palettes import Palette
from engine.protocol.messages import IterationDone, TreeGrown

HEAD_ANGLE = -58.0
GLYPH_SIZE = 7.0
GAUGE = 2.5  # height of the line that shows a node's probability
AHEAD_LINE = 1.5  # height of the line along the top of a node that was grown ahead
FADED = 0.6  # opacity of rejected nodes


class Kind(Enum):
    ROOT = auto()  # the last committed token: a pill with a dark outline
    GROWING = auto()  # not yet verified: a box with rounded corners
    ACCEPTED = auto()  # a filled pill
    BONUS = auto()  # a filled hexagon
    REJECTED = auto()  # a hollow box with sharp corners and a dashed line


@dataclass(frozen=True, slots=True)
class NodeStyle:
    """Look of a node.

    probability: the drafter's, which gives the length of the gauge.
    source: None if no drafter proposed the token.
    ahead: whether it was proposed while the target verified the tree before: a line along the top.
    """

    kind: Kind
    probability: float = 1.0
    source: Source | None = None
    ahead: bool = False


def paint_tree(
    painter: QPainter,
    event: TreeGrown | IterationDone,
    arranged: Arranged,
    faded: float,
    seen: QRectF,
) -> None:
    """Paint the lines of a tree, then the nodes. Both times, the accepted path comes last, on top.

    faded: how far rejected nodes have gone from their look while growing (0) to their rejected look (1).
    seen: the part of the tree to paint; what lies outside is left out.
    """
    colours = theme.current()
    boxes = arranged.boxes
    looks = looks_of(event, boxes)
    on_top = (Kind.ACCEPTED, Kind.BONUS)
    order = sorted(boxes.values(), key=lambda box: looks[box.node].kind in on_top)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for box in order:
        if box.node != ROOT and _span(boxes[box.parent], box).intersects(seen):
            look = looks[box.node]
            painter.setOpacity(FADED if look.kind is Kind.REJECTED else 1.0)
            painter.setPen(edge_pen(look, colours))
            painter.drawPath(_edge(boxes[box.parent], box))
    metrics = QFontMetricsF(painter.font())
    around = seen.adjusted(-4, -4, 4, 4)  # the pen is wider than the rectangle
    for box in order:
        if not rect_of(box).intersects(around):
            continue
        look = looks[box.node]
        available = box.width - tree_geometry.NODE_PADDING - (tree_geometry.GLYPH if look.source else 0)
        text = box.text and metrics.elidedText(box.text, Qt.TextElideMode.ElideRight, available)
        if look.kind is Kind.REJECTED and faded < 1:
            painter.setOpacity(1 - faded)
            draw_node(painter, rect_of(box), text, replace(look, kind=Kind.GROWING), colours)
        painter.setOpacity(1.0 if box.text or look.kind is not Kind.REJECTED else FADED)
        draw_node(painter, rect_of(box), text, look, colours)
    painter.setOpacity(1.0)
    for head in arranged.heads:
        kind = looks[head.node].kind
        colour = {Kind.ACCEPTED: colours.accent, Kind.BONUS: colours.bonus}.get(kind, colours.text)
        painter.save()
        painter.translate(head.x, head.y)
        painter.rotate(HEAD_ANGLE)
        painter.setPen(QColor(colour))
        text = metrics.elidedText(head.text, Qt.TextElideMode.ElideRight, HEAD_HEIGHT)
        painter.drawText(QPointF(0, metrics.ascent() / 3), text)
        painter.restore()


def kinds_of(event: TreeGrown | IterationDone, nodes: Iterable[int]) -> dict[int, Kind]:
    """Return the verdicts of nodes."""
    accepted = set(event.accepted) if isinstance(event, IterationDone) else set()
    other = Kind.REJECTED if isinstance(event, IterationDone) else Kind.GROWING
    ends = {ROOT: Kind.ROOT, BONUS: Kind.BONUS}
    return {node: Kind.ACCEPTED if node in accepted else ends.get(node, other) for node in nodes}


def looks_of(event: TreeGrown | IterationDone, nodes: Iterable[int]) -> dict[int, NodeStyle]:
    looks = {}
    for node, kind in kinds_of(event, nodes).items():
        if node < 0:
            looks[node] = NodeStyle(kind)
            continue
        probability = math.exp(min(0.0, event.tree.log_probs[node]))
        bits = event.tree.sources[node]
        looks[node] = NodeStyle(kind, probability, next(iter(sources(bits)), None), is_ahead(bits))
    return looks


def rect_of(box: Box) -> QRectF:
    """Return a box as a rectangle, in coordinates of the whole tree."""
    return QRectF(box.x, box.y, box.width, box.height)


def _span(parent: Box, child: Box) -> QRectF:
    """Return the smallest rectangle around the line between two nodes, with room for its pen."""
    top, bottom = sorted((parent.middle, child.middle))
    return QRectF(parent.x, top - 2, child.x - parent.x, bottom - top + 4)


def _edge(parent: Box, child: Box) -> QPainterPath:
    path = QPainterPath(QPointF(parent.x + parent.width, parent.middle))
    path.lineTo(parent.rail, parent.middle)
    end = QPointF(child.x, child.middle)
    if parent.middle == child.middle:
        path.lineTo(end)
        return path
    bend = (parent.rail + child.x) / 2
    path.cubicTo(QPointF(bend, parent.middle), QPointF(bend, child.middle), end)
    return path


# -- shapes --------------------------------------------------------------------------------------------------


def draw_node(painter: QPainter, rect: QRectF, label: str, look: NodeStyle, colours: Palette) -> None:
    """Draw a node with its label inside `rect`. Without a label, a growing or rejected node is a bar."""
    if look.source is not None and not label:
        _draw_unnamed(painter, rect, look.kind, look.source, colours)
        return
    _body(painter, rect, look.kind, colours)
    if look.ahead:
        inset = min(rect.height() / 2, rect.width() / 4)
        line = QRectF(rect.left() + inset, rect.top() + 1, rect.width() - 2 * inset, AHEAD_LINE)
        painter.fillRect(line, QColor(text_colour(look.kind, colours)))
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


def _draw_unnamed(painter: QPainter, rect: QRectF, kind: Kind, source: Source, colours: Palette) -> None:
    glyph_colour = text_colour(kind, colours)
    if kind is Kind.GROWING:
        _bar(painter, rect, kind, source.colour(colours))
        glyph_colour = colours.surface
    elif kind is Kind.REJECTED:
        _bar(painter, rect, kind, source.colour(colours))
        glyph_colour = source.colour(colours)
    else:
        _body(painter, rect, kind, colours)
    if min(rect.width(), rect.height()) >= GLYPH_SIZE + 3:
        draw_glyph(painter, rect.center(), source.shape, glyph_colour)


def _bar(painter: QPainter, rect: QRectF, kind: Kind, colour: str) -> None:
    if kind is Kind.REJECTED:
        _pen(painter, colour, 1)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(rect)
    else:
        painter.fillRect(rect, QColor(colour))


def _body(painter: QPainter, rect: QRectF, kind: Kind, colours: Palette) -> None:
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
    """Draw the shape of a source, filled."""
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


def text_colour(kind: Kind, colours: Palette) -> str:
    return {
        Kind.ROOT: colours.text,
        Kind.GROWING: colours.text,
        Kind.ACCEPTED: colours.on_accent,
        Kind.BONUS: colours.on_bonus,
        Kind.REJECTED: colours.muted,
    }[kind]


def edge_pen(look: NodeStyle, colours: Palette) -> QPen:
    """Return the pen of the line to a node: the more probable the node, the thicker.

    The lines of the accepted path are the thickest.
    """
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
