"""A tree, arranged in boxes, on any painter: a widget's, a picture's, an SVG's."""

import math
from dataclasses import replace

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath

from app import theme
from app.thinking import tree_geometry
from app.thinking.sources import sources
from app.thinking.tree_geometry import HEAD_HEIGHT, Arranged, Box
from app.thinking.tree_layout import BONUS, ROOT
from app.thinking.tree_shapes import FADED, Kind, Look, draw_node, edge_pen
from engine.protocol.messages import IterationDone, TreeGrown

HEAD_ANGLE = -58.0


def paint_tree(
    painter: QPainter, event: TreeGrown | IterationDone, arranged: Arranged, faded: float = 1.0
) -> None:
    """Lines first, then nodes; what was accepted on top of what was not. faded: how far what was rejected has
    gone from looking as it grew (0) to looking rejected (1)."""
    colours = theme.current()
    boxes = arranged.boxes
    looks = {node: look_of(event, node) for node in boxes}
    lit = (Kind.ACCEPTED, Kind.BONUS)
    order = sorted(boxes.values(), key=lambda box: looks[box.node].kind in lit)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for box in order:
        if box.node != ROOT:
            look = looks[box.node]
            painter.setOpacity(FADED if look.kind is Kind.REJECTED else 1.0)
            painter.setPen(edge_pen(look, colours))
            painter.drawPath(_edge(boxes[box.parent], box))
    metrics = QFontMetricsF(painter.font())
    for box in order:
        look = looks[box.node]
        room = box.width - tree_geometry.NODE_PADDING - (tree_geometry.GLYPH if look.source else 0)
        text = metrics.elidedText(box.text, Qt.TextElideMode.ElideRight, room) if box.text else ""
        if look.kind is Kind.REJECTED and faded < 1:
            painter.setOpacity(1 - faded)
            draw_node(painter, rect_of(box), text, replace(look, kind=Kind.GROWING), colours)
        painter.setOpacity(1.0 if box.text or look.kind is not Kind.REJECTED else FADED)
        draw_node(painter, rect_of(box), text, look, colours)
    painter.setOpacity(1.0)
    for head in arranged.heads:
        kind = looks[head.node].kind
        lit_colour = {Kind.ACCEPTED: colours.accent, Kind.BONUS: colours.bonus}.get(kind, colours.text)
        painter.save()
        painter.translate(head.x, head.y)
        painter.rotate(HEAD_ANGLE)
        painter.setPen(QColor(lit_colour))
        text = metrics.elidedText(head.text, Qt.TextElideMode.ElideRight, HEAD_HEIGHT)
        painter.drawText(QPointF(0, metrics.ascent() / 3), text)
        painter.restore()


def kind_of(event: TreeGrown | IterationDone, node: int) -> Kind:
    if node == ROOT:
        return Kind.ROOT
    if node == BONUS:
        return Kind.BONUS
    if not isinstance(event, IterationDone):
        return Kind.GROWING
    return Kind.ACCEPTED if node in event.accepted else Kind.REJECTED


def look_of(event: TreeGrown | IterationDone, node: int) -> Look:
    kind = kind_of(event, node)
    if node < 0:
        return Look(kind)
    probability = math.exp(min(0.0, event.tree.log_probs[node]))
    return Look(kind, probability, next(iter(sources(event.tree.sources[node])), None))


def rect_of(box: Box) -> QRectF:
    """Where it is in the whole tree."""
    return QRectF(box.x, box.y, box.width, box.height)


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
