"""Search over everything that was said, above the window."""

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QColor,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QApplication, QFrame, QLabel, QListView, QVBoxLayout, QWidget

from app import theme
from app.sidebar.found import Found
from app.sidebar.found_row import FoundRow
from app.sidebar.search_field import SearchField
from app.sidebar.searching import Results, Searching
from app.store import ChatLine, Hit, Store

DELAY_MS = 30
WIDTH_CHARACTERS = 84

_NEXT = (Qt.Key.Key_Down, Qt.Key.Key_Tab)
_PREVIOUS = (Qt.Key.Key_Up, Qt.Key.Key_Backtab)
_PAGES = (Qt.Key.Key_PageDown, Qt.Key.Key_PageUp)


class SearchPalette(QWidget):
    """Covers the window, so that nothing behind it is reached by mouse or Tab. The text field keeps the
    focus; the arrows move through what was found, and a screen reader is told what they are at.

    Attributes:
        field: where the query is written.
        results: the list.

    Signals:
        chat_chosen: chat, to be shown
        hit_chosen: chat, message, query: to be shown and jumped to, and what the query finds marked
        trouble: StoreError
    """

    chat_chosen = Signal(int)
    hit_chosen = Signal(int, int, str)
    trouble = Signal(object)

    def __init__(self, store: Store, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._before: QWidget | None = None  # had the focus
        self._is_hurried = False  # Enter was pressed before the answer came
        self._found = Found(self)
        self._searching = Searching(store, self)
        self._delay = QTimer(self, singleShot=True, interval=DELAY_MS)
        self._delay.timeout.connect(lambda: self._searching.ask(self.field.query()))
        self._frame = QFrame(self)
        self._frame.setObjectName("search_palette")
        self.field: SearchField = SearchField(self._frame)
        self.field.setPlaceholderText(self.tr("Search all chats"))
        self.field.setAccessibleName(self.tr("Search all chats"))
        self.field.setAccessibleDescription(
            self.tr("The arrow keys move through what is found; Enter opens it.")
        )
        self.field.query_changed.connect(lambda: self._delay.start())
        self.field.installEventFilter(self)
        self.results = self._list()
        self._nothing = QLabel(self._frame)
        self._nothing.setProperty("role", "muted")
        self._nothing.setTextFormat(Qt.TextFormat.PlainText)
        self._nothing.setWordWrap(True)
        self._nothing.setMargin(16)
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeading)
        self._nothing.hide()
        hint = QLabel(self.tr("↑ ↓ choose     Enter opens     Esc closes"), self._frame)
        hint.setProperty("role", "caption")
        hint.setContentsMargins(16, 6, 16, 8)
        layout = QVBoxLayout(self._frame)
        layout.setContentsMargins(1, 1, 1, 1)
        layout.setSpacing(0)
        layout.addWidget(self.field)
        layout.addWidget(self.results, 1)
        layout.addWidget(self._nothing, 1)
        layout.addWidget(hint)
        self._searching.found.connect(self._show)
        self._searching.more_found.connect(self._found.add)
        self._searching.trouble.connect(self.trouble)
        self._found.more_wanted.connect(self._searching.ask_more)
        window.installEventFilter(self)
        self.hide()

    def _list(self) -> QListView:
        made = QListView(self._frame)
        made.setObjectName("found")
        made.setAccessibleName(self.tr("What was found"))
        made.setModel(self._found)
        made.setItemDelegate(FoundRow(made))
        made.setFrameShape(QFrame.Shape.NoFrame)
        made.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        made.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        made.setResizeMode(QListView.ResizeMode.Adjust)
        made.clicked.connect(self._choose)
        made.selectionModel().currentChanged.connect(self._announce)
        return made

    def open(self) -> None:
        """Show it with what was written last, ready to be written over."""
        if not self.isVisible():
            self._before = QApplication.focusWidget()
        self._fit()
        self.show()
        self.raise_()
        self.field.setFocus()
        self.field.selectAll()
        self._searching.ask(self.field.query())

    def dismiss(self) -> None:
        """Hide it; the focus goes back to where it was."""
        self.hide()
        if self._before is not None and self._before.isVisible():
            self._before.setFocus()
        self._before = None

    def hideEvent(self, event: QHideEvent) -> None:
        """Also with the window."""
        super().hideEvent(event)
        self._delay.stop()
        self._is_hurried = False

    # -- what is found ---------------------------------------------------------------------------------------

    def _show(self, results: Results) -> None:
        self._found.show(results)
        is_found = bool(results.chats or results.hits)
        self.results.setVisible(is_found)
        self._nothing.setVisible(not is_found)
        self.results.setCurrentIndex(self._found.first())
        self.results.scrollToTop()
        if not is_found:
            self._nothing.setText(_explain(self, results.query))
        if self._is_hurried:
            self._enter()

    def _enter(self) -> None:
        """Open the current row, or the first one as soon as what was written last has been searched for."""
        shown, query = self._found.results, self.field.query()
        self._is_hurried = shown is None or shown.query != query
        if self._is_hurried:
            self._delay.stop()
            self._searching.ask(query)
        else:
            self._choose(self.results.currentIndex())

    def _choose(self, index: QModelIndex) -> None:
        if not index.isValid():
            return
        entry = self._found.entry(index)
        self.dismiss()
        match entry:
            case ChatLine(id=chat):
                self.chat_chosen.emit(chat)
            case Hit(chat=chat, message=message):
                self.hit_chosen.emit(chat, message, self.field.query())

    def _announce(self, index: QModelIndex) -> None:
        if index.isValid() and self.isVisible() and QAccessible.isActive():
            said = str(index.data(Qt.ItemDataRole.AccessibleTextRole))
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.field, said))

    # -- keyboard, mouse and place ---------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field and isinstance(event, QKeyEvent):
            return self._take_key(event)
        if watched is self._window and event.type() == QEvent.Type.Resize:
            self._fit()
        return super().eventFilter(watched, event)

    def _take_key(self, event: QKeyEvent) -> bool:
        """True: it was for the list. What an input method composes with stays its own."""
        if self.field.is_composing:
            return False
        if event.type() == QEvent.Type.ShortcutOverride:
            if event.key() == Qt.Key.Key_Escape:
                event.accept()  # else it would be the window's
            return False
        if event.type() != QEvent.Type.KeyPress:
            return False
        match event.key():
            case Qt.Key.Key_Escape:
                self.dismiss()
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self._enter()
            case key if key in _NEXT:
                self._move(Qt.Key.Key_Down)
            case key if key in _PREVIOUS:
                self._move(Qt.Key.Key_Up)
            case key if key in _PAGES:
                QApplication.sendEvent(self.results, event)
            case _:
                return False
        return True

    def _move(self, key: Qt.Key) -> None:
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            QApplication.sendEvent(self.results, QKeyEvent(kind, key, Qt.KeyboardModifier.NoModifier))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Beside the frame: enough of it."""
        self.dismiss()

    def paintEvent(self, event: QPaintEvent) -> None:
        """What is behind fades."""
        veil = QColor(theme.current().window)
        veil.setAlphaF(0.72)
        QPainter(self).fillRect(self.rect(), veil)

    def _fit(self) -> None:
        self.setGeometry(self._window.rect())
        width = min(WIDTH_CHARACTERS * self.fontMetrics().averageCharWidth(), self.width() - 32)
        height = min(int(self.height() * 0.72), 44 * self.fontMetrics().height())
        self._frame.setGeometry((self.width() - width) // 2, self.height() // 12, width, height)


def _explain(widget: QWidget, query: str) -> str:
    return widget.tr(
        "Nothing was found for “{}”.\n\nAll words must be in one message. A word is found by its beginning."
    ).format(query.strip())
