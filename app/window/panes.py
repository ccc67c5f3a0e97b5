"""The panes of the main window: the header, the sidebar, the chat and the panel."""

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from app.conversation.composer import Composer
from app.conversation.context_bar import ContextBar
from app.conversation.find_bar import FindBar
from app.conversation.instructions import Instructions
from app.conversation.thought_chip import ThoughtChip
from app.conversation.tools_chip import ToolsChip
from app.conversation.transcript import COLUMN_WIDTH, Transcript
from app.conversation.waiting_list import WaitingList
from app.header import Header
from app.panel.panel import Panel
from app.preferences import WindowState
from app.sidebar.note_bar import NoteBar
from app.sidebar.sidebar import Sidebar
from app.store import Store
from app.widgets import shortcuts, theme
from app.widgets.flow import Flow
from app.window.used_here import UsedHere

SIZES = [250, 620, 560]  # default widths of the sidebar, the chat and the panel, in pixels
MIDDLE_WIDTH = 330  # minimum width of the chat
NARROW = 1100  # in a window narrower than this, the panel lies above the chat
OVERLAY_SHARE = 0.6  # of the window's width, for the panel above the chat


class Panes(QWidget):
    """The widget that holds all panes, with a splitter between the sidebar, the chat and the panel. In a
    narrow window, the panel is closed, and lies above the chat while it is open.

    Attributes:
        header, sidebar, panel: the panes of these names.
        find_bar, transcript, note, waiting, composer, instructions, thought, tools, used_here, context: the
            widgets of the chat pane, from top to bottom.
    """

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.header = Header(self)
        self.sidebar = Sidebar(store, store.path, self)
        self.transcript = Transcript(self)
        self.transcript.setMinimumHeight(1)  # gives way to a long message in a low window
        self.find_bar = FindBar(self.transcript, self)
        self.note = NoteBar(self, is_wide=True)
        self.used_here = UsedHere(self)
        self.waiting = WaitingList(self)
        self.composer = Composer(self)
        self.instructions = Instructions(self)
        self.thought = ThoughtChip(self)
        self.tools = ToolsChip(self)
        self.context = ContextBar(self)
        self.panel = Panel(self)
        self.header.sidebar_switch.toggled.connect(self.sidebar.setVisible)
        self.header.panel_switch.toggled.connect(self.panel.setVisible)
        self._splitter = QSplitter(self)
        self._splitter.setHandleWidth(3)
        self._splitter.setChildrenCollapsible(False)
        for place, part in enumerate((self.sidebar, self._middle(), self.panel)):
            self._splitter.addWidget(part)
            self._splitter.setStretchFactor(place, min(place, 1))
        self._splitter.setSizes(SIZES)
        self._splitter.splitterMoved.connect(self._note_sizes)
        # Sizes of the parts, and whether the panel is shown, as they were last in a wide window.
        self._sizes, self._shows_panel = SIZES, True
        # Restores the sizes only after the splitter has its new width, of which it would take shares.
        self._widening = QTimer(self, singleShot=True, interval=0)
        self._widening.timeout.connect(lambda: self._splitter.setSizes(self._sizes))
        self._order()
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(0)
        rows.addWidget(self.header)
        rows.addWidget(self._splitter, 1)
        self._is_narrow = False
        self.panel.installEventFilter(self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit(self.width())
        self._place_panel()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Widen the panel above the chat when its content needs more."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._place_panel()
        return super().eventFilter(watched, event)

    def _place_panel(self) -> None:
        if self._is_narrow:
            least = self.panel.minimumSizeHint().width()
            width = min(self.width(), max(least, int(OVERLAY_SHARE * self.width())))
            top = self._splitter.y()
            self.panel.setGeometry(self.width() - width, top, width, self.height() - top)
            self.panel.raise_()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._writing.setMaximumWidth(theme.enlarged(COLUMN_WIDTH))

    def fit(self, width: int) -> None:
        """Put the panel beside the chat or above it, as a window of this width needs it."""
        narrow = width < NARROW
        if narrow and not self._is_narrow:
            self._shows_panel = self.header.panel_switch.isChecked()
            self.panel.setParent(self)
            self.header.panel_switch.setChecked(False)
        elif self._is_narrow and not narrow:
            self._splitter.addWidget(self.panel)
            self._order()
            self.header.panel_switch.setChecked(self._shows_panel)
            self.panel.setVisible(self._shows_panel)
            self._widening.start()
        else:
            self._note_sizes()
        self._is_narrow = narrow

    def _note_sizes(self) -> None:
        """Note the sizes of the parts in a wide window that is shown: before, nothing has its size. In one
        that has just become narrow, the splitter has squeezed them."""
        if self.isVisible() and not self._is_narrow and not self._widening.isActive():
            self._sizes = self._splitter.sizes()

    def _order(self) -> None:
        """Let a screen reader read the panes from left to right: the splitter puts each before the others."""
        count = range(self._splitter.count())
        parts = [*map(self._splitter.widget, count), *map(self._splitter.handle, count)]
        for part in filter(None, parts):
            part.raise_()

    def _middle(self) -> QWidget:
        """Build the chat pane: the transcript, the queued questions and the composer, from top to bottom."""
        middle = QWidget(self)
        middle.setMinimumWidth(MIDDLE_WIDTH)
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.find_bar)
        column.addWidget(self.transcript, 1)
        column.addWidget(self.note)
        undo = QAction(self.transcript)
        undo.setShortcuts(shortcuts.keys("undo"))
        undo.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        undo.triggered.connect(self.note.undo)
        self.transcript.addAction(undo)
        self._writing = writing = QWidget(middle)
        writing.setMaximumWidth(theme.enlarged(COLUMN_WIDTH))
        around = QVBoxLayout(writing)
        around.setContentsMargins(20, 4, 20, 10)
        around.addWidget(self.waiting)
        around.addWidget(self.composer)
        below = Flow()
        for each in (self.instructions, self.thought, self.tools, self.used_here):
            below.addWidget(each)
        around.addLayout(below)
        around.addWidget(self.context)
        centred = QHBoxLayout()
        centred.addWidget(writing)
        column.addLayout(centred)
        return middle

    def restore(self, kept: WindowState) -> None:
        """Restore the state of the last session: which panes are shown, their sizes, the sidebar's folded
        groups."""
        if "parts" in kept.splitters:
            self._sizes = kept.splitters["parts"]
            self._splitter.setSizes(self._sizes)
        for switch, pane, is_shown in (
            (self.header.sidebar_switch, self.sidebar, kept.sidebar),
            (self.header.panel_switch, self.panel, kept.panel),
        ):
            switch.setChecked(is_shown)
            pane.setVisible(is_shown)
        self.sidebar.fold(kept.folded)

    def state(self, geometry: bytes) -> WindowState:
        """Return the current state, which `restore` takes in the next session.

        geometry: the window's geometry as saved by Qt.
        """
        here = self._splitter.sizes(), self.header.panel_switch.isChecked()
        sizes, panel = (self._sizes, self._shows_panel) if self._is_narrow else here
        return WindowState(
            geometry=geometry,
            splitters={"parts": sizes},
            sidebar=self.header.sidebar_switch.isChecked(),
            folded=self.sidebar.folded,
            panel=panel,
        )
