"""Menu of a chat or a folder. Its shortcuts work while the list has the focus."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from app.sidebar import outline
from app.sidebar.changes import Changes
from app.sidebar.chat_view import ChatView
from app.sidebar.outline import ChatGroup
from app.store import ChatLine, Folder
from app.widgets import shortcuts


class ChatMenu(QMenu):
    """Menu of the current row. Its shortcuts are limited to the list, so that text fields keep theirs.

    Attributes:
        open_window, rename, pin, duplicate, export, save_pdf, print_out, delete: actions. The owner connects
            open_window, duplicate, export, save_pdf and print_out.
        folders: submenu that moves a chat to a folder.
    """

    def __init__(self, view: ChatView, changes: Changes, folders: Callable[[], list[Folder]]) -> None:
        super().__init__(view)
        self._view, self._changes, self._all_folders = view, changes, folders
        self.setAccessibleName(self.tr("Chat actions"))
        self.open_window = self._action(self.tr("Open in a new window"), "open_window")
        self.rename = self._action(self.tr("Rename"), "rename", self._rename)
        self.pin = self._action(self.tr("Pin"), "pin", self._pin)
        self.folders = self.addMenu(self.tr("Move to folder"))
        self.folders.aboutToShow.connect(self._list_folders)
        self.duplicate = self._action(self.tr("Duplicate"), "duplicate")
        self.addSeparator()
        self.export = self._action(self.tr("Export…"), "export")
        self.save_pdf = self._action(self.tr("Save as PDF…"))
        self.print_out = self._action(self.tr("Print…"), "print")
        self.addSeparator()
        self.delete = self._action(self.tr("Delete"), "delete", self._delete)
        self.aboutToShow.connect(self._show_applicable)

    @property
    def chat(self) -> ChatLine | None:
        return self._view.chats.chat(self._view.currentIndex())

    @property
    def group(self) -> ChatGroup | None:
        return self._view.chats.group(self._view.currentIndex())

    def _action(self, text: str, shortcut: str = "", do: Callable[[], None] | None = None) -> QAction:
        """Add an action to the menu and to the list. shortcut: id of its shortcut in `shortcuts`."""
        action = QAction(text, self)
        if shortcut:
            action.setShortcuts(shortcuts.keys(shortcut))
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.setShortcutVisibleInContextMenu(True)
        if do is not None:
            action.triggered.connect(do)
        self.addAction(action)
        self._view.addAction(action)
        return action

    def _show_applicable(self) -> None:
        """Show the actions that apply to the current row."""
        chat = self.chat
        self.open_window.setVisible(chat is not None)
        for action in (self.pin, self.folders.menuAction(), self.duplicate, self.save_pdf, self.print_out):
            action.setVisible(chat is not None)
        self.pin.setText(self.tr("Unpin") if chat and chat.pinned else self.tr("Pin"))
        self.delete.setText(self.tr("Delete") if chat else self.tr("Delete folder, keep chats"))

    def _list_folders(self) -> None:
        self.folders.clear()
        chat = self.chat
        if chat is None:
            return
        for folder in self._all_folders():
            self._add_folder(chat, folder.name, folder.id)
        if not self.folders.isEmpty():
            self.folders.addSeparator()
        if chat.folder is not None:
            self._add_folder(chat, self.tr("No folder"), None)
        new = self.folders.addAction(self.tr("New folder…"))
        new.triggered.connect(lambda: self.begin_folder(chat))

    def _add_folder(self, chat: ChatLine, name: str, folder: int | None) -> None:
        place = self.folders.addAction(name.replace("&", "&&"))
        place.setCheckable(True)
        place.setChecked(folder is not None and folder == chat.folder)
        place.triggered.connect(lambda: self._changes.move(chat.id, folder))

    def begin_folder(self, chat: ChatLine | None = None) -> None:
        """Create a folder, move `chat` (if given) into it, and let the user edit the folder's name."""
        folder = self._changes.new_folder()
        if folder is None:
            return
        if chat is not None:
            self._changes.move(chat.id, folder)
        index = self._view.chats.index_of_group(outline.folder_key(folder))
        self._view.setCurrentIndex(index)
        self._view.edit(index)

    def _rename(self) -> None:
        if self.chat or (self.group and self.group.folder):
            self._view.edit(self._view.currentIndex())

    def _pin(self) -> None:
        if chat := self.chat:
            self._changes.pin(chat.id, not chat.pinned)

    def _delete(self) -> None:
        chat, group = self.chat, self.group
        if chat:
            self._changes.delete(chat)
        elif group and group.folder:
            self._changes.delete_folder(group.folder)
