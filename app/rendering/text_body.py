"""Widget with the text of a message: as high as its content, selectable and inert."""

from functools import partial

from PySide6.QtCore import (
    QByteArray,
    QElapsedTimer,
    QEvent,
    QMimeData,
    QPoint,
    QRect,
    QRectF,
    Qt,
    QUrl,
    Signal,
)
from PySide6.QtGui import (
    QFont,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCursor,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QTextEdit, QWidget

from app.rendering import clipboard, decoration, formulas
from app.rendering.growing_text import slice_end
from app.rendering.look import TextStyle
from app.rendering.marks import Marks
from app.rendering.message_document import MessageDocument
from app.rendering.quiet_button import CopyButton
from app.rendering.source_map import units
from app.rendering.wide_code import WideCode
from app.widgets import theme, typography

# Maximum number of buttons: a page of nothing but fences would be a page of widgets, which take longer to
# make and to place than the text.
MAX_COPY_BUTTONS = 200


class TextBody(QTextBrowser):
    """Shows plain text or growing Markdown at full height; opens and loads nothing by itself.

    A message is one document, so that a selection can span paragraphs, code and tables.

    Attributes:
        copy_buttons: a button for each of the first blocks of code, in order.

    Signals:
        link_clicked: QUrl
    """

    link_clicked = Signal(QUrl)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextBrowserInteraction | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.document().setDocumentMargin(0)
        self._message: MessageDocument | None = None
        self._set_font()
        self._marks = Marks(self, lambda marks: self.highlight("marks", marks))
        self._plain = ""
        self._layers: dict[str, list[QTextEdit.ExtraSelection]] = {}
        self._wide_code = WideCode(self)
        self.copy_buttons: list[CopyButton] = []
        self._placed = 0  # number of leading buttons whose position no longer changes
        self.anchorClicked.connect(self.link_clicked)

    def show_plain(self, text: str) -> None:
        self._plain = text
        self.setPlainText(text)
        self._fit()

    def show_markdown(self, text: str, budget_ms: float = float("inf")) -> bool:
        """Show `text`. If it continues the text shown before, that text and the selection stay.

        Return False if `budget_ms` was too short for the whole text; then call again.
        """
        clock = QElapsedTimer()
        clock.start()
        message = self._shown_message()
        if not text.startswith(message.text):
            message.restart(message.look)
            self._fit()
        selected = self.textCursor()
        anchor, position = selected.anchor(), selected.position()
        while len(message.text) < len(text):
            begin = len(message.text)
            message.append(text[begin : slice_end(text, begin)])
            if clock.elapsed() >= budget_ms:
                break
        if anchor != position:
            self._select(anchor, position)
        is_whole = len(message.text) == len(text)
        self._fit_growth(is_whole)
        return is_whole

    def reset_look(self) -> None:
        """Take over colours and fonts after a change. Markdown is emptied: call `show_markdown` again."""
        self._set_font()
        if self._message:
            self._message.restart(self._look())

    def finish(self) -> bool:
        """End the text: describe its formulas to screen readers.

        Return False if links were defined after their use; then the document is empty: show the text again.
        """
        message = self._message
        if message is None:
            return True
        if message.has_late_definitions:
            message.restart(message.look)
            return False
        formulas = "; ".join(message.formulas())
        self.setAccessibleDescription(self.tr("Formulas: {}").format(formulas) if formulas else "")
        return True

    def source_at(self, point: QPoint) -> tuple[int, int] | None:
        """Return the Markdown [start, stop) of the character at `point` of the viewport, or None."""
        if self._message is None:
            return None
        place = self._wide_code.in_document(point.toPointF())
        position = self._message.documentLayout().hitTest(place, Qt.HitTestAccuracy.ExactHit)
        if position < 0:
            return None
        cursor = QTextCursor(self._message)
        cursor.setPosition(position)
        is_before = place.x() < self.cursorRect(cursor).left()  # `position` may be the character's end
        return self._message.source_map.source(position - is_before)

    @property
    def source_length(self) -> int:
        """How many characters of the source are shown so far."""
        return len(self._message.text if self._message else self._plain)

    def spans(self, start: int, stop: int) -> list[tuple[int, int]]:
        """Return (position, length) of each span of the document made from the source [start, stop)."""
        if self._message:
            return self._message.source_map.spans(start, stop)
        found = self._plain[start:stop]
        return [(units(self._plain[:start]), units(found))] if found else []

    def text_at(self, position: int, length: int) -> str:
        """Return the text of a span of the document."""
        cursor = QTextCursor(self.document())
        cursor.setPosition(position)
        cursor.setPosition(position + length, QTextCursor.MoveMode.KeepAnchor)
        return cursor.selectedText()

    def highlight(self, layer: str, selections: list[QTextEdit.ExtraSelection]) -> None:
        """Set one layer of coloured text, over the layers that were set before it."""
        if selections or layer in self._layers:
            self._layers[layer] = selections
            self.setExtraSelections([each for layer in self._layers.values() for each in layer])

    def reveal(self, position: int) -> int:
        """Scroll wide code so that a position is visible; return its y in pixels."""
        cursor = QTextCursor(self.document())
        cursor.setPosition(position)
        self._wide_code.reveal(cursor)
        return self.cursorRect(cursor).top()

    def mark(self, query: str) -> int | None:
        """Highlight the matches of a search for some seconds; return y of the first in pixels, or None."""
        first = self._marks.show(query)
        return None if first is None else self.reveal(first.selectionStart())

    def loadResource(self, kind: int, name: QUrl | str) -> QByteArray:
        """Load no resource, whatever the text refers to."""
        return QByteArray()

    def createMimeDataFromSelection(self) -> QMimeData:
        """Return plain text only: colours of one theme look wrong elsewhere."""
        made = QMimeData()
        cursor = self.textCursor()
        if self._message:
            made.setText(clipboard.plain(self._message, cursor.selectionStart(), cursor.selectionEnd()))
        else:
            made.setText(cursor.selection().toPlainText())
        return made

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._message:
            painter = QPainter(self.viewport())
            decoration.paint(painter, self._message, QRectF(event.rect()))
            painter.end()
        super().paintEvent(event)
        if self._message:
            painter = QPainter(self.viewport())
            self._wide_code.paint(painter, self._message, QRectF(event.rect()))
            painter.end()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and self.document().characterCount() > 1:
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.setAccepted(self._wide_code.scroll(event))  # if not, the transcript scrolls

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(self._wide_code.moved(event))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(self._wide_code.moved(event))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(self._wide_code.moved(event))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        super().mouseDoubleClickEvent(self._wide_code.moved(event))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Scroll wide code to where the keyboard moves the end of the selection."""
        before = self.textCursor().position()
        super().keyPressEvent(event)
        if self.textCursor().position() != before:
            self._wide_code.reveal(self.textCursor())

    def _set_font(self) -> None:
        """Set the font that the user prefers for messages; its size is the window's."""
        font = QFont()
        if family := typography.current().font:
            font.setFamily(family)
        self.setFont(font)

    def _look(self) -> TextStyle:
        chosen = typography.current()
        return TextStyle(theme.current(), self.font(), chosen.code_font, wraps_code=chosen.wraps_code)

    def _shown_message(self) -> MessageDocument:
        if self._message is None:
            shared = formulas.shared()
            self._message = MessageDocument(self._look(), shared, self)
            shared.drawn.connect(self._show_drawn)
            self.setDocument(self._message)
        return self._message

    def _show_drawn(self, formula: formulas.Formula) -> None:
        if self._message and self._message.show_drawn(formula):
            self._fit()

    def _fit(self) -> None:
        """Fit the height after a change that may move everything."""
        self._placed = 0
        self._wide_code.refit()
        document, width = self.document(), self.viewport().width()
        if self._message or document.textWidth() != width:  # plain text is laid out, which may take a while
            document.setTextWidth(width)
        self._fit_growth()

    def _fit_growth(self, is_whole: bool = True) -> None:
        """Fit the height after growth, which moves unsettled parts only. The height does not shrink until the
        whole text is shown."""
        height = int(self._message.height() if self._message else self.document().size().height()) + 2
        if is_whole or height > self.height():
            self.setFixedHeight(height)
        if self._message:
            self._place_buttons(self._message)
            self._wide_code.fit(self._message)

    def _place_buttons(self, message: MessageDocument) -> None:
        """Place a copy button in the header of each of the first blocks of code."""
        heads = message.code_heads[:MAX_COPY_BUTTONS]
        while len(self.copy_buttons) > len(heads):
            self.copy_buttons.pop().deleteLater()
        look = message.look
        for number in range(self._placed, len(heads)):
            if number == len(self.copy_buttons):
                read = partial(self._code, number)
                self.copy_buttons.append(CopyButton(self.tr("Copy code"), read, self.viewport()))
                self.copy_buttons[-1].show()
            button = self.copy_buttons[number]
            size = button.sizeHint()
            top = decoration.part_rect(message, message.parts[heads[number]]).top() - look.code_header
            inset = (look.code_header - look.code_gap - size.height()) // 2
            left = self.viewport().width() - size.width() - inset
            button.setGeometry(QRect(QPoint(left, round(top) + inset), size))
        self._placed = sum(head < message.settled for head in heads)

    def _code(self, number: int) -> str:
        assert self._message is not None
        return self._message.code(self._message.code_heads[number])

    def _select(self, anchor: int, position: int) -> None:
        end = self.document().characterCount() - 1
        cursor = QTextCursor(self.document())
        cursor.setPosition(min(anchor, end))
        cursor.setPosition(min(position, end), QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)
