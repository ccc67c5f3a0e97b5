"""Painting of search results: chat, author and date, and an excerpt with the matches highlighted."""

from collections.abc import Iterable

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.rendering.source_map import units
from app.sidebar import outline
from app.sidebar.search import SearchResults, speaker, title_ranges
from app.store import ChatLine, Hit
from app.store.search import compose
from app.widgets import theme

Index = QModelIndex | QPersistentModelIndex

PADDING = 10
LINES = 2  # number of lines of an excerpt


class ResultRow(QStyledItemDelegate):
    """Paints rows of `SearchResults`."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        height = option.fontMetrics.height()
        match _results(index).entry(index):
            case str():
                return QSize(0, height + 12)
            case ChatLine():
                return QSize(0, height + 14)
            case Hit():
                return QSize(0, _small(option.font).height() + LINES * height + 20)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setLayoutDirection(option.direction)
        model = _results(index)
        query = model.results.query if model.results else ""
        box = option.rect.adjusted(6 + PADDING, 0, -6 - PADDING, 0)
        if option.state & QStyle.StateFlag.State_Selected:
            _paint_background(painter, option.rect)
        match model.entry(index):
            case str(heading):
                _paint_heading(painter, option, box, heading)
            case ChatLine() as chat:
                width = _paint_day(painter, option, box, chat.updated_at)
                title = compose(outline.chat_title(chat.title))
                box = _without_end(option, box, width)
                _paint_text(painter, option, box, title, title_ranges(title, query), 1)
            case Hit() as hit:
                _paint_hit(painter, option, box, hit)
        painter.restore()


def _results(index: Index) -> SearchResults:
    model = index.model()
    assert isinstance(model, SearchResults)
    return model


def _paint_background(painter: QPainter, row: QRect) -> None:
    colours = theme.current()
    background = QRectF(row).adjusted(6, 1, -6, -1)
    painter.setPen(QColor(colours.accent))
    painter.setBrush(QColor(colours.raised))
    painter.drawRoundedRect(background.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)


def _paint_heading(painter: QPainter, option: QStyleOptionViewItem, box: QRect, heading: str) -> None:
    font = theme.smaller(QFont(option.font))
    font.setWeight(QFont.Weight.DemiBold)
    painter.setFont(font)
    painter.setPen(QColor(theme.current().muted))
    painter.drawText(
        box.adjusted(0, 0, 0, -3), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom, heading
    )


def _paint_hit(painter: QPainter, option: QStyleOptionViewItem, box: QRect, hit: Hit) -> None:
    head = QRect(box.left(), box.top() + 7, box.width(), _small(option.font).height())
    width = _paint_day(painter, option, head, hit.created_at)
    place = f"{outline.chat_title(hit.title)} · {speaker(hit)}"
    line = _without_end(option, head, width)
    shown = painter.fontMetrics().elidedText(place, Qt.TextElideMode.ElideMiddle, line.width())
    painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
    below = QRect(box.left(), head.bottom() + 3, box.width(), LINES * option.fontMetrics.height())
    _paint_text(painter, option, below, hit.excerpt, hit.ranges, LINES)


def _paint_day(painter: QPainter, option: QStyleOptionViewItem, box: QRect, time: float) -> int:
    """Write the date at the end of a line; return the width taken. Changes the font and pen of `painter`."""
    painter.setFont(theme.smaller(QFont(option.font)))
    painter.setPen(QColor(theme.current().muted))
    day = outline.day(time)
    painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, day)
    return painter.fontMetrics().horizontalAdvance(day) + PADDING


def _without_end(option: QStyleOptionViewItem, box: QRect, width: int) -> QRect:
    return QStyle.visualRect(option.direction, box, box.adjusted(0, 0, -width, 0))


def _paint_text(
    painter: QPainter,
    option: QStyleOptionViewItem,
    box: QRect,
    text: str,
    ranges: Iterable[tuple[int, int]],
    lines: int,
) -> None:
    """Paint `text` on at most `lines` lines, elided if it does not fit. ranges: the parts to highlight, in
    code points."""
    marks = []
    for start, end in ranges:
        mark = QTextLayout.FormatRange()
        mark.start, mark.length = units(text[:start]), units(text[start:end])
        mark.format = QTextCharFormat()
        mark.format.setBackground(QColor(theme.current().found))
        mark.format.setFontWeight(QFont.Weight.DemiBold)
        marks.append(mark)
    layout = _layout(text, option, box.width(), lines, marks)
    shown = text
    while (end := _end(layout)) < units(shown):
        kept = text[: min(_characters(text, end), len(shown) - 1) - 1].rstrip()
        shown = f"{kept}…"
        layout = _layout(shown, option, box.width(), lines, _before(marks, units(kept)))
    painter.setPen(QColor(theme.current().text))
    height = layout.boundingRect().height()
    top = box.top() if lines > 1 else box.center().y() - height / 2 + 0.5
    layout.draw(painter, QPointF(box.left(), top))


def _end(layout: QTextLayout) -> int:
    """Return how much of the text its lines show, in UTF-16 units."""
    last = layout.lineAt(layout.lineCount() - 1) if layout.lineCount() else None
    return last.textStart() + last.textLength() if last else 0


def _characters(text: str, end: int) -> int:
    """Return how many characters the first `end` UTF-16 units of a text are."""
    return len(text.encode("utf-16-le", "surrogatepass")[: 2 * end].decode("utf-16-le", "replace"))


def _before(marks: list[QTextLayout.FormatRange], end: int) -> list[QTextLayout.FormatRange]:
    """Return the marks as far as they lie before `end`, where the "…" of a shortened text stands."""
    for mark in marks:
        mark.length = min(mark.length, end - mark.start)
    return [mark for mark in marks if mark.length > 0]


def _layout(
    text: str, option: QStyleOptionViewItem, width: int, lines: int, marks: list[QTextLayout.FormatRange]
) -> QTextLayout:
    layout = QTextLayout(text, option.font)
    wrapping = QTextOption(Qt.AlignmentFlag.AlignLeading)
    wrapping.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)  # the direction of the text itself
    wrapping.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(wrapping)
    layout.setFormats(marks)
    layout.beginLayout()
    top = 0.0
    for _ in range(lines):
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(width)
        line.setPosition(QPointF(0, top))
        top += line.height()
    layout.endLayout()
    return layout


def _small(font: QFont) -> QFontMetrics:
    return QFontMetrics(theme.smaller(QFont(font)))
