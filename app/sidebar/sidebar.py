"""The sidebar widget: a list of all chats, in groups (pinned, folders, dates)."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, QUrl, Signal
from PySide6.QtGui import QAction, QDesktopServices
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from app.sidebar import chat_import, outline
from app.sidebar.changes import Changes
from app.sidebar.chat_import import ImportBar, Importing, Outcome
from app.sidebar.chat_list import ChatList
from app.sidebar.chat_menu import ChatMenu
from app.sidebar.chat_view import ChatView
from app.sidebar.header import SidebarHeader
from app.sidebar.note_bar import NoteBar
from app.sidebar.transfer import ChatTransfer
from app.store import ChatLine, Folder, Store, StoreError
from app.widgets import shortcuts
from app.widgets.plain_text import PlainLabel

WIDTH_CHARACTERS = 44


class Sidebar(QFrame):
    """Lists the chats of the store and lets the user change them. The window decides which chat is shown.

    Attributes:
        view: the list.
        menu: menu of a chat or a folder.
        header, note, importing: widgets above and below the list.

    Signals:
        chat_chosen: id of the chat to show
        window_asked: id of the chat that the user wants to see in another window
        new_chat: the user wants a new chat
        search_asked: the user wants to search
        keys_asked: the user wants to see the keyboard shortcuts
        chat_deleted: id of the chat, which may be the one that is shown
        chat_restored: id of a chat whose deletion was undone
        failed: SpecExecError
    """

    chat_chosen = Signal(int)
    window_asked = Signal(object)
    new_chat = Signal()
    search_asked = Signal()
    keys_asked = Signal()
    chat_deleted = Signal(int)
    chat_restored = Signal(int)
    failed = Signal(object)

    def __init__(self, store: Store, path: Path, parent: QWidget | None = None) -> None:
        """path: the store's file."""
        super().__init__(parent)
        self.setObjectName("sidebar")
        self._store = store
        self._shown: int | None = None
        self._lost: int | None = None  # chat that was deleted while it was shown
        self._imported: list[int] = []  # chats of the files before this one, which were brought with it
        self._chats = ChatList(store, self)
        self._changes = Changes(store, self)
        self._transfer = ChatTransfer(store, path, self)
        self.header = SidebarHeader(self)
        self.view = ChatView(self._chats, self)
        self.menu = ChatMenu(self.view, self._changes, self._folders)
        self.note = NoteBar(self)
        self.importing = ImportBar(self)
        self._empty = PlainLabel(
            self.tr(
                "Your chats will be listed here.\n\nYou can import chats from ChatGPT in the menu “⋯” above."
            ),
            self,
        )
        self._empty.setProperty("role", "muted")
        self._empty.setWordWrap(True)
        self._empty.setMargin(16)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeading)
        self._build()
        self._connect_list()
        self._connect_transfer()

    def _build(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addWidget(self._empty, 1)
        layout.addWidget(self.view, 1)
        for bar in (self.importing, self.note):
            layout.addWidget(bar)
        undo = QAction(self)
        undo.setShortcuts(shortcuts.keys("undo"))
        undo.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        undo.triggered.connect(self.note.undo)
        self.addAction(undo)

    def _connect_list(self) -> None:
        header, chats, changes = self.header, self._chats, self._changes
        header.new_chat.clicked.connect(self.new_chat)
        header.search.clicked.connect(self.search_asked)
        header.keys.triggered.connect(self.keys_asked)
        header.new_folder.triggered.connect(lambda: self.menu.begin_folder())
        chats.changed.connect(self._show_emptiness)
        chats.chat_named.connect(changes.rename)
        chats.folder_named.connect(changes.rename_folder)
        chats.chat_dropped.connect(changes.drop)
        chats.failed.connect(self.failed)
        self.view.chosen.connect(self.chat_chosen)
        self.view.menu_asked.connect(self._open_menu)
        changes.changed.connect(self.refresh)
        changes.undoable.connect(self.note.offer_undo)
        changes.deleted.connect(self._note_deletion)
        changes.restored.connect(self._show_restored)
        changes.restored.connect(self.chat_restored)
        changes.failed.connect(self.failed)

    def _connect_transfer(self) -> None:
        menu, transfer = self.menu, self._transfer
        menu.open_window.triggered.connect(
            partial(self._with_chat, lambda chat: self.window_asked.emit(chat.id))
        )
        menu.duplicate.triggered.connect(partial(self._with_chat, transfer.duplicate))
        menu.save_pdf.triggered.connect(partial(self._with_chat, transfer.save_pdf))
        menu.print_out.triggered.connect(partial(self._with_chat, transfer.print_out))
        menu.export.triggered.connect(self._export)
        self.header.export_all.triggered.connect(
            lambda: transfer.export(self.tr("Chats"), lambda: outline.every_chat(self._store))
        )
        self.header.import_chats.triggered.connect(transfer.import_chats)
        self.header.import_backup.triggered.connect(transfer.import_backup)
        self.importing.stop.clicked.connect(transfer.stop_import)
        transfer.written.connect(self._show_written)
        transfer.duplicated.connect(self._show_copy)
        transfer.import_begun.connect(self._begin_import)
        transfer.import_ended.connect(self._end_import)
        transfer.failed.connect(self.failed)

    # -- called by the window --------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        return QSize(WIDTH_CHARACTERS * self.fontMetrics().averageCharWidth(), 600)

    def minimumSizeHint(self) -> QSize:
        return QSize(self.header.minimumSizeHint().width(), 200)

    def refresh(self) -> None:
        """Read the list of chats again; selection and scroll position stay."""
        self._chats.refresh()

    def show_chat(self, chat: int | None) -> None:
        """Mark the chat that the window shows; None for a new one."""
        self._shown = chat
        self.view.show_chat(chat)

    def mark_answering(self, chat: int | None) -> None:
        """Mark the chat whose answer is being generated."""
        self._chats.mark_answering(chat)

    @property
    def folded(self) -> list[str]:
        """Keys of the folded groups, kept for the next start."""
        return sorted(self._chats.folded)

    def fold(self, keys: Iterable[str]) -> None:
        self._chats.folded = set(keys)
        self.refresh()

    def import_file(self, path: Path) -> None:
        """Import the chats in a file."""
        self._transfer.import_file(path)

    def close_down(self) -> None:
        """Stop a running import before the window closes. The chats imported so far are kept."""
        importing = self._transfer.importing
        if importing is not None:
            self._transfer.stop_import()
            importing.wait()

    # -- within ----------------------------------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        """Refresh when the window is activated: another window, or midnight, may have changed the list."""
        if event.type() == QEvent.Type.WindowActivate:
            self.refresh()
        return super().event(event)

    def _show_emptiness(self) -> None:
        is_empty = self._chats.is_empty()
        self._empty.setVisible(is_empty)
        self.view.setVisible(not is_empty)
        self.header.export_all.setEnabled(not is_empty)

    def _folders(self) -> list[Folder]:
        try:
            return self._store.folders.all()
        except StoreError as error:
            self.failed.emit(error)
            return []

    def _open_menu(self, at: QPoint) -> None:
        group = self.menu.group
        if self.menu.chat or (group and group.folder):
            self.menu.popup(at)

    def _with_chat(self, do: Callable[[ChatLine], None]) -> None:
        if chat := self.menu.chat:
            do(chat)

    def _note_deletion(self, chat: int) -> None:
        if chat == self._shown:
            self._lost = chat
        self.chat_deleted.emit(chat)

    def _show_restored(self, chat: int) -> None:
        if chat == self._lost:
            self.chat_chosen.emit(chat)
        self._lost = None
        self.view.setFocus()

    def _export(self) -> None:
        chat, group = self.menu.chat, self.menu.group
        if chat:
            self._transfer.export(outline.chat_title(chat.title), lambda: [chat])
        elif group and (folder := group.folder):
            read = self._store.chats.in_folder
            self._transfer.export(folder.name, lambda: read(folder.id, outline.ALL))

    def _show_written(self, path: Path) -> None:
        folder = QUrl.fromLocalFile(str(path.parent))
        text = self.tr("Saved as {}").format(path.name)
        self.note.say(text, self.tr("Open folder"), lambda: QDesktopServices.openUrl(folder))

    def _show_copy(self, chat: int) -> None:
        self.refresh()
        self.chat_chosen.emit(chat)

    def _begin_import(self, importing: Importing) -> None:
        self.importing.begin(importing.name)
        importing.progressed.connect(self.importing.advance)

    def _take_back(self, chats: list[int]) -> None:
        self._imported = []
        self._changes.take_back(chats)

    def _end_import(self, outcome: Outcome) -> None:
        self.importing.hide()
        self.refresh()
        if outcome.error is not None:
            self.failed.emit(outcome.error)
        chats = [*self._imported, *outcome.chats]
        self._imported = chats if self._transfer.has_more else []
        if chats:
            whole = replace(outcome, chats=chats)
            self.note.offer_undo(chat_import.summary(whole), lambda: self._take_back(chats))
        elif outcome.error is None:
            self.note.say(chat_import.summary(outcome))
        if outcome.skipped:
            chat_import.list_skipped(self, outcome)
