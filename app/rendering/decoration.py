"""Decoration behind a message's text: background and header of code, bars beside quotes, rules."""

from bisect import bisect_right
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QTextCursor

from app.rendering.code_colours import shown_name
from app.rendering.message_document import MessageDocument, Placed
from app.rendering.pieces import Block, Fence

RADIUS = 8
BAR = 3  # width in pixels


class _Ground(NamedTuple):
    """The visible background of a block of code.

    Attributes:
        fence: the block of code.
        rect: rectangle of the background.
        header: rectangle of the block's header, or None if the header is not visible.
    """

    fence: Fence
    rect: QRectF
    header: QRectF | None


def paint(painter: QPainter, document: MessageDocument, clip: QRectF) -> None:
    """Paint the decoration within `clip`, in the document's coordinates."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    visible = _visible(document, clip)
    for before, (placed, rect) in zip([None, *visible], visible, strict=False):
        _paint_bars(painter, document, placed, rect, before)
        if isinstance(placed.part, Block) and placed.part.layout.kind == "rule":
            left = document.look.indent(placed.part.containers)
            line = QRectF(left, rect.center().y(), document.textWidth() - left, 1)
            painter.fillRect(line, QColor(document.look.colours.border))
    for ground in _grounds(document, visible):
        _paint_ground(painter, document, ground)
    painter.restore()


def part_rect(document: MessageDocument, placed: Placed) -> QRectF:
    """Return the rectangle of a part, without its margins."""
    layout = document.documentLayout()
    if isinstance(placed.part, Block):
        return layout.blockBoundingRect(document.findBlock(placed.position))
    cursor = QTextCursor(document)
    cursor.setPosition(placed.position)
    return layout.frameBoundingRect(cursor.currentTable())


def _visible(document: MessageDocument, clip: QRectF) -> list[tuple[Placed, QRectF]]:
    position = document.documentLayout().hitTest(clip.topLeft(), Qt.HitTestAccuracy.FuzzyHit)
    first = bisect_right(document.parts, position, key=lambda placed: placed.position) - 2
    found: list[tuple[Placed, QRectF]] = []
    for placed in document.parts[max(0, first) :]:
        rect = part_rect(document, placed)
        found.append((placed, rect))
        if rect.top() > clip.bottom() + document.look.code_header:
            break
    return found


def _paint_bars(
    painter: QPainter,
    document: MessageDocument,
    placed: Placed,
    rect: QRectF,
    before: tuple[Placed, QRectF] | None,
) -> None:
    containers = placed.part.containers
    for number, container in enumerate(containers):
        if container != "q":
            continue
        top = rect.top()
        if before and before[0].part.containers.startswith(containers[: number + 1]):
            top = before[1].bottom()
        left = float(document.look.indent(containers[:number]))
        if placed.part.is_rtl:
            left = document.textWidth() - left - BAR
        painter.fillRect(QRectF(left, top, BAR, rect.bottom() - top), QColor(document.look.colours.border))


def _paint_ground(painter: QPainter, document: MessageDocument, ground: _Ground) -> None:
    look = document.look
    painter.setBrush(QColor(look.colours.raised))
    painter.drawRoundedRect(ground.rect, RADIUS, RADIUS)
    if ground.header is None:
        return
    painter.setPen(QColor(look.colours.muted))
    painter.setFont(look.caption)
    header = ground.header.adjusted(look.code_padding, 0, -look.code_padding, 0)
    name = shown_name(ground.fence.language) or QCoreApplication.translate("Decoration", "Code")
    painter.drawText(header, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, name)
    painter.setPen(Qt.PenStyle.NoPen)
    line = QRectF(ground.rect.left(), ground.header.bottom() - 1, ground.rect.width(), 1)
    painter.fillRect(line, QColor(look.colours.border))


def _grounds(document: MessageDocument, visible: list[tuple[Placed, QRectF]]) -> list[_Ground]:
    look = document.look
    grounds: list[_Ground] = []
    for placed, rect in visible:
        layout = placed.part.layout if isinstance(placed.part, Block) else None
        if layout is None or layout.fence is None:
            continue
        left = look.indent(layout.containers)
        line = QRectF(left, rect.top(), document.textWidth() - left, rect.height())
        header = None
        if layout.is_first:
            line.setTop(line.top() - look.code_header)
            header = QRectF(left, line.top(), line.width(), look.code_header - look.code_gap)
        if layout.is_last:
            line.setBottom(line.bottom() + look.code_bottom)
        if grounds and grounds[-1].fence == layout.fence:
            grounds[-1] = grounds[-1]._replace(rect=grounds[-1].rect.united(line))
        else:
            # If the block starts above the visible lines, keep its upper, rounded corners out of sight.
            reach = 0 if layout.is_first else 2 * RADIUS
            grounds.append(_Ground(layout.fence, line.adjusted(0, -reach, 0, 0), header))
    return grounds
