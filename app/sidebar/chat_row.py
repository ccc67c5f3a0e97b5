"""Painting of the sidebar's rows: headings with an arrow for folding, chats with their marks."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.sidebar import outline
from app.sidebar.chat_list import ChatList
from app.sidebar.outline import ChatGroup
from app.store import ChatLine
from app.widgets import icons, theme

Index = QModelIndex | QPersistentModelIndex
_State = QStyle.StateFlag

MARGIN = 6  # pixels between a row's background and the sidebar's edge
PADDING = 10  # pixels between the background's edge and the text
RADIUS = 6


class ChatRow(QStyledItemDelegate):
    """Paints rows, all of the same height, so that ten thousand rows need not be measured.

    Attributes:
        shown: id of the chat that the window shows, or None.
    """

    def __init__(self, chats: ChatList, parent: QWidget) -> None:
        super().__init__(parent)
        self.shown: int | None = None
        self._chats = chats

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, option.fontMetrics.height() + 14)

    def menu_box(self, row: QRect, direction: Qt.LayoutDirection) -> QRect:
        """Return the rectangle of the dots that open a row's menu."""
        side = row.height() - 6
        box = QRect(row.right() - MARGIN - 3 - side, row.top() + 3, side, side)
        return QStyle.visualRect(direction, row, box)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)  # titles may be in any language
        group, chat = self._chats.group(index), self._chats.chat(index)
        is_shown = chat is not None and chat.id == self.shown
        self._paint_background(painter, option, is_shown)
        text = option.rect.adjusted(MARGIN + PADDING, 0, -MARGIN - PADDING, 0)
        is_pointed_at = option.state & (_State.State_MouseOver | _State.State_HasFocus)
        if is_pointed_at and (chat or (group and group.folder)):
            box = self.menu_box(option.rect, option.direction)
            icons.paint(painter, "more", QRectF(box).adjusted(3, 3, -3, -3), theme.current().muted)
            text = _without_end(option, text, box.width())
        if group:
            self._paint_group(painter, option, text, group, str(index.data()))
        elif chat:
            self._paint_chat(painter, option, text, chat, is_shown)
        painter.restore()

    def _paint_chat(
        self, painter: QPainter, option: QStyleOptionViewItem, text: QRect, chat: ChatLine, is_shown: bool
    ) -> None:
        if chat.folder is not None and not chat.pinned:
            text = _indented(option, text, option.fontMetrics.height() + 2)
        if chat.id == self._chats.answering:
            text = _without_end(option, text, self._paint_mark(painter, option, text))
        option.font.setWeight(QFont.Weight.DemiBold if is_shown else QFont.Weight.Normal)
        colours = theme.current()
        colour = colours.text if chat.title or is_shown else colours.muted
        _write(painter, option, text, outline.chat_title(chat.title), colour)

    def _paint_background(self, painter: QPainter, option: QStyleOptionViewItem, is_shown: bool) -> None:
        colours = theme.current()
        background = QRectF(option.rect).adjusted(MARGIN, 1, -MARGIN, -1)
        painter.setPen(Qt.PenStyle.NoPen)
        if is_shown or option.state & _State.State_MouseOver:
            painter.setBrush(QColor(colours.raised))
            painter.drawRoundedRect(background, RADIUS, RADIUS)
        if is_shown:
            bar = QRectF(background.left(), background.top() + 6, 3, background.height() - 12)
            bar = QRectF(QStyle.visualRect(option.direction, option.rect, bar.toRect()))
            painter.setBrush(QColor(colours.accent))
            painter.drawRoundedRect(bar, 1.5, 1.5)
        if option.state & _State.State_HasFocus:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(colours.accent), 1.5))
            painter.drawRoundedRect(background.adjusted(0.75, 0.75, -0.75, -0.75), RADIUS, RADIUS)

    def _paint_group(
        self, painter: QPainter, option: QStyleOptionViewItem, text: QRect, group: ChatGroup, title: str
    ) -> None:
        """Paint a heading: a folder's icon, the title, and the arrow that shows whether it is folded."""
        colours = theme.current()
        is_rtl = option.direction == Qt.LayoutDirection.RightToLeft
        side = option.fontMetrics.height()
        if group.folder:
            _paint_icon(painter, option, text, text.left() - 2, "folder")
            text = _indented(option, text, side + 2)
        else:
            theme.smaller(option.font)
        option.font.setWeight(QFont.Weight.Normal if group.folder else QFont.Weight.DemiBold)
        colour = colours.text if group.folder else colours.muted
        words = QStyle.visualRect(option.direction, text, text.adjusted(0, 0, -side, 0))
        width = _write(painter, option, words, title, colour)
        fold = "down" if option.state & _State.State_Open else "left" if is_rtl else "right"
        _paint_icon(painter, option, text, text.left() + width + 2, fold)

    def _paint_mark(self, painter: QPainter, option: QStyleOptionViewItem, text: QRect) -> int:
        """Paint a dot at the end of the row, for an answer in progress; return the width taken, in pixels."""
        size = 8
        box = QRect(text.right() - size, text.center().y() - size // 2 + 1, size, size)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.current().accent))
        painter.drawEllipse(QStyle.visualRect(option.direction, text, box))
        return size + 6

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = QLineEdit(parent)
        editor.setObjectName("rename")
        editor.setMaxLength(200)
        if self._chats.group(index):
            editor.setAccessibleName(self.tr("Folder name"))
        else:
            editor.setAccessibleName(self.tr("Chat title"))
            editor.setPlaceholderText(self.tr("Automatic title"))
        return editor

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        editor.setGeometry(option.rect.adjusted(MARGIN, 1, -MARGIN, -1))


def _paint_icon(painter: QPainter, option: QStyleOptionViewItem, line: QRect, left: int, name: str) -> None:
    """Paint an icon on a line. left: its x coordinate, which a right-to-left layout mirrors."""
    side = option.fontMetrics.height()
    box = QRect(left, line.center().y() - side // 2 + 1, side, side)
    box = QStyle.visualRect(option.direction, line, box)
    icons.paint(painter, name, QRectF(box), theme.current().muted)


def _without_end(option: QStyleOptionViewItem, line: QRect, width: int) -> QRect:
    return QStyle.visualRect(option.direction, line, line.adjusted(0, 0, -width, 0))


def _indented(option: QStyleOptionViewItem, line: QRect, by: int) -> QRect:
    return QStyle.visualRect(option.direction, line, line.adjusted(by, 0, 0, 0))


def _write(painter: QPainter, option: QStyleOptionViewItem, box: QRect, text: str, colour: str) -> int:
    """Write one line, elided if it does not fit; return its width in pixels."""
    painter.setFont(option.font)
    painter.setPen(QColor(colour))
    shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, box.width())
    side = QStyle.visualAlignment(option.direction, Qt.AlignmentFlag.AlignLeft)
    painter.drawText(box, side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter, shown)
    return painter.fontMetrics().horizontalAdvance(shown)
