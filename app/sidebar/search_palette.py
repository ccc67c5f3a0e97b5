"""Search palette: full-text search of all chats, on top of the window."""

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QApplication, QFrame, QListView, QVBoxLayout, QWidget

from app.sidebar.result_row import ResultRow
from app.sidebar.search import Results, Searching, SearchResults
from app.store import ChatLine, Hit, Store
from app.widgets import theme
from app.widgets.announcement import announce
from app.widgets.composed_text import drop_composed
from app.widgets.plain_text import PlainLabel
from app.widgets.search_field import SearchField

DELAY_MS = 30
WIDTH_CHARACTERS = 84

_NEXT = (Qt.Key.Key_Down, Qt.Key.Key_Tab)
_PREVIOUS = (Qt.Key.Key_Up, Qt.Key.Key_Backtab)
_PAGES = (Qt.Key.Key_PageDown, Qt.Key.Key_PageUp)


class SearchPalette(QWidget):
    """Widget for searching that covers the window, so that nothing behind it can be reached by mouse or Tab.

    The text field keeps the focus; the arrow keys move through the results, which are announced to a screen
    reader.

    Attributes:
        field: text field of the query.
        results: the list of results.

    Signals:
        chat_chosen: id of the chat to show
        hit_chosen: id of the chat, id of the message to scroll to, query whose matches to highlight
        failed: StoreError
    """

    chat_chosen = Signal(int)
    hit_chosen = Signal(int, int, str)
    failed = Signal(object)

    def __init__(self, store: Store, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._before: QWidget | None = None  # widget that had the focus
        self._is_hurried = False  # Enter was pressed before the results arrived
        self._model = SearchResults(self)
        self._searching = Searching(store, self)
        self._delay = QTimer(self, singleShot=True, interval=DELAY_MS)
        self._delay.timeout.connect(lambda: self._searching.ask(self.field.query()))
        self._frame = QFrame(self)
        self._frame.setObjectName("search_palette")
        self.field: SearchField = SearchField(self._frame)
        self.field.setPlaceholderText(self.tr("Search all chats"))
        self.field.setAccessibleName(self.tr("Search all chats"))
        self.field.setAccessibleDescription(
            self.tr("The arrow keys move through the results; Enter opens the selected one.")
        )
        self.field.query_changed.connect(lambda: self._delay.start())
        self.field.installEventFilter(self)
        self.results = self._list()
        self._nothing = PlainLabel(parent=self._frame)
        self._nothing.setProperty("role", "muted")
        self._nothing.setWordWrap(True)
        self._nothing.setMargin(16)
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeading)
        self._nothing.hide()
        hint = PlainLabel(self.tr("↑ ↓ Select     Enter Open     Esc Close"), self._frame)
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
        self._searching.more_found.connect(self._model.add)
        self._searching.failed.connect(self.failed)
        self._model.more_wanted.connect(self._searching.ask_more)
        window.installEventFilter(self)
        self.hide()

    def _list(self) -> QListView:
        view = QListView(self._frame)
        view.setObjectName("found")
        view.setAccessibleName(self.tr("Results"))
        view.setModel(self._model)
        view.setItemDelegate(ResultRow(view))
        view.setFrameShape(QFrame.Shape.NoFrame)
        view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setResizeMode(QListView.ResizeMode.Adjust)
        view.clicked.connect(self._choose)
        view.selectionModel().currentChanged.connect(self._announce)
        return view

    def open(self) -> None:
        """Show the palette with the last query selected."""
        if not self.isVisible():
            self._before = QApplication.focusWidget()
        self._fit()
        self.show()
        self.raise_()
        self.field.setFocus()
        self.field.selectAll()
        self._searching.ask(self.field.query())

    def dismiss(self) -> None:
        """Hide the palette and restore the focus."""
        self.hide()
        if self._before is not None and self._before.isVisible():
            self._before.setFocus()
        self._before = None

    def hideEvent(self, event: QHideEvent) -> None:
        """Cancel a waiting query and a waiting Enter. Qt calls this also when the window is hidden."""
        super().hideEvent(event)
        self._delay.stop()
        self._is_hurried = False

    # -- results ---------------------------------------------------------------------------------------------

    def _show(self, results: Results) -> None:
        self._model.show(results)
        is_found = bool(results.chats or results.hits)
        self.results.setVisible(is_found)
        self._nothing.setVisible(not is_found)
        self.results.setCurrentIndex(self._model.first())
        self.results.scrollToTop()
        if not is_found:
            self._nothing.setText(self._no_results(results.query))
        if self._is_hurried:
            self._enter()

    def _enter(self) -> None:
        """Open the current row, or the first one as soon as the newest query has results."""
        shown, query = self._model.results, self.field.query()
        self._is_hurried = shown is None or shown.query != query
        if self._is_hurried:
            self._delay.stop()
            self._searching.ask(query)
        else:
            self._choose(self.results.currentIndex())

    def _choose(self, index: QModelIndex) -> None:
        if not index.isValid():
            return
        entry = self._model.entry(index)
        self.dismiss()
        match entry:
            case ChatLine(id=chat):
                self.chat_chosen.emit(chat)
            case Hit(chat=chat, message=message):
                self.hit_chosen.emit(chat, message, self.field.query())

    def _announce(self, index: QModelIndex) -> None:
        if index.isValid() and self.isVisible():
            announce(self.field, str(index.data(Qt.ItemDataRole.AccessibleTextRole)))

    # -- keyboard, mouse and geometry ------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field and isinstance(event, QKeyEvent):
            return self._take_key(event)
        if watched is self._window and event.type() == QEvent.Type.Resize:
            self._fit()
        return super().eventFilter(watched, event)

    def _take_key(self, event: QKeyEvent) -> bool:
        """Handle a key if it is meant for the palette; return False if the field gets it.

        While an input method is composing, the field gets all keys, except that Esc drops what is composed.
        """
        is_escape = event.key() == Qt.Key.Key_Escape
        if event.type() == QEvent.Type.ShortcutOverride:
            if is_escape:
                event.accept()  # otherwise the window would handle it
            return False
        if self.field.is_composing:
            if is_escape and event.type() == QEvent.Type.KeyPress:
                drop_composed(self.field)
            return is_escape
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
        """Close the palette on a click beside the frame."""
        self.dismiss()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint a veil over the window."""
        veil = QColor(theme.current().window)
        veil.setAlphaF(0.72)
        QPainter(self).fillRect(self.rect(), veil)

    def _fit(self) -> None:
        self.setGeometry(self._window.rect())
        width = min(WIDTH_CHARACTERS * self.fontMetrics().averageCharWidth(), self.width() - 32)
        height = min(int(self.height() * 0.72), 44 * self.fontMetrics().height())
        self._frame.setGeometry((self.width() - width) // 2, self.height() // 12, width, height)

    def _no_results(self, query: str) -> str:
        text = self.tr(
            "No results for “{}”.\n\nA message must contain all words. The beginning of a word is enough."
        )
        return text.format(query.strip())
