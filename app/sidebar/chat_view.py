"""View of the list of chats: folding, opening and renaming in place, by mouse and by keyboard."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QTreeView, QWidget

from app.sidebar.chat_list import ChatList
from app.sidebar.chat_row import ChatRow
from app.widgets.shortcuts import is_typed


class ChatView(QTreeView):
    """Tree view of a `ChatList`.

    Signals:
        chosen: id of the chat to show
        menu_asked: QPoint on the screen where the menu of the current row opens
    """

    chosen = Signal(int)
    menu_asked = Signal(QPoint)

    def __init__(self, chats: ChatList, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.chats = chats
        self._row = ChatRow(chats, self)
        self._top: tuple[QPersistentModelIndex, int] | None = None  # row at the top, and its y coordinate
        self.setObjectName("chats")
        self.setAccessibleName(self.tr("Chats"))
        self.setItemDelegate(self._row)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setIndentation(0)
        self.setUniformRowHeights(True)
        self.setMouseTracking(True)
        self.setExpandsOnDoubleClick(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setModel(chats)
        self.clicked.connect(self._open)
        self.expanded.connect(self._unfold)
        self.collapsed.connect(lambda index: self._fold(index))
        chats.about_to_change.connect(self._remember_top)
        chats.changed.connect(self._settle)

    def show_chat(self, chat: int | None) -> None:
        """Mark the chat that the window shows, and make it the current row if it is listed."""
        self._row.shown = chat
        index = self.chats.index_of(chat)
        if index.isValid() and index != self.currentIndex():
            self.setCurrentIndex(index)
        self.viewport().update()

    def step(self, by: int) -> None:
        """Choose the chat above (-1) or below (1) the one that the window shows."""
        index = self.chats.index_of(self._row.shown)
        if not index.isValid() and by > 0:  # a new chat stands above all
            index = self.model().index(0, 0)
        while (index := self.indexBelow(index) if by > 0 else self.indexAbove(index)).isValid():
            if chat := self.chats.chat(index):
                self.chosen.emit(chat.id)
                return

    def ask_for_menu(self) -> None:
        """Emit `menu_asked` at the centre of the current row."""
        box = self.visualRect(self.currentIndex())
        self.menu_asked.emit(self.viewport().mapToGlobal(box.center()))

    def _open(self, index: QModelIndex) -> None:
        if chat := self.chats.chat(index):
            self.chosen.emit(chat.id)
        elif self.chats.group(index):
            self.setExpanded(index, not self.isExpanded(index))

    # -- folds and scrolling ---------------------------------------------------------------------------------

    def _fold(self, index: QModelIndex) -> None:
        if group := self.chats.group(index):
            self.chats.folded.add(group.key)

    def _unfold(self, index: QModelIndex) -> None:
        group = self.chats.group(index)
        if group and group.key in self.chats.folded:
            self.chats.folded.discard(group.key)
            if group.folder:
                self.chats.refresh()  # the chats of a folded folder have not been read

    def _remember_top(self) -> None:
        index = self.indexAt(QPoint(self.width() // 2, 0))
        is_scrolled = self.verticalScrollBar().value() > 0
        self._top = (
            (QPersistentModelIndex(index), self.visualRect(index).top())
            if is_scrolled and index.isValid()
            else None
        )

    def _settle(self) -> None:
        """Restore the folds, and scroll so that the row at the top stays in place."""
        top, self._top = self._top, None  # unfolding may refresh the list
        for row in range(self.chats.rowCount()):
            index = self.chats.index(row)
            group = self.chats.group(index)
            assert group is not None
            self.setExpanded(index, group.key not in self.chats.folded)
        self.executeDelayedItemsLayout()
        if top is not None and top[0].isValid():
            moved = self.visualRect(top[0]).top() - top[1]
            self.verticalScrollBar().setValue(self.verticalScrollBar().value() + moved)

    # -- mouse and keyboard ----------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        group = self.chats.group(index)
        has_menu = self.chats.chat(index) or (group and group.folder)
        box = self._row.menu_box(self.visualRect(index), self.layoutDirection())
        is_left = event.button() == Qt.MouseButton.LeftButton
        if is_left and has_menu and box.contains(event.position().toPoint()):
            self.setCurrentIndex(index)
            self.menu_asked.emit(self.viewport().mapToGlobal(box.bottomLeft()))
        else:
            super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and self.state() != QAbstractItemView.State.EditingState:
            self._open(self.currentIndex())
        elif is_typed(event):
            event.ignore()  # the window writes it into the composer
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            self.ask_for_menu()
        elif self.indexAt(event.pos()).isValid():
            self.menu_asked.emit(event.globalPos())
