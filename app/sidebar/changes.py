"""Changes to chats and folders, with undo. No widgets."""

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QObject, Signal

from app.sidebar import outline
from app.sidebar.outline import ALL, PINNED, ChatGroup
from app.store import ChatLine, Folder, Store, StoreError


class Changes(QObject):
    """Changes chats and folders in the store.

    Signals:
        changed: the list of chats has changed
        undoable: str, Callable: description of a change, and the function that undoes it
        deleted, restored: id of the chat that was deleted or restored
        failed: StoreError
    """

    changed = Signal()
    undoable = Signal(str, object)
    deleted = Signal(int)
    restored = Signal(int)
    failed = Signal(object)

    def __init__(self, store: Store, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store

    def rename(self, chat: int, title: str) -> None:
        with self._reporting():
            self._store.chats.rename(chat, title)

    def pin(self, chat: int, pinned: bool) -> None:
        with self._reporting():
            self._store.chats.pin(chat, pinned)

    def move(self, chat: int, folder: int | None) -> None:
        """Move a chat to a folder, or out of its folder if `folder` is None.

        Unpin it as well, so that it is listed in one place.
        """
        with self._reporting():
            self._store.chats.pin(chat, False)
            self._store.chats.move(chat, folder)

    def drop(self, chat: int, group: ChatGroup) -> None:
        """Pin or move a chat that was dragged to a group.

        A folder receives the chat; a date group takes it out of its folder.
        """
        if group.key == PINNED:
            self.pin(chat, True)
        else:
            self.move(chat, group.folder.id if group.folder else None)

    def delete(self, chat: ChatLine) -> None:
        with self._reporting():
            self._store.chats.delete(chat.id)
            text = self.tr("Deleted “{}”").format(outline.chat_title(chat.title))
            self.undoable.emit(text, lambda: self._restore(chat.id))
            self.deleted.emit(chat.id)

    def take_back(self, chats: list[int]) -> None:
        """Undo an import: delete the imported chats."""
        with self._reporting():
            for chat in chats:
                self._store.chats.delete(chat)
                self.deleted.emit(chat)

    def _restore(self, chat: int) -> None:
        with self._reporting():
            self._store.chats.restore(chat)
            self.restored.emit(chat)

    # -- folders ---------------------------------------------------------------------------------------------

    def new_folder(self) -> int | None:
        """Create an empty folder with an unused name; return None if that fails."""
        with self._reporting():
            taken = {folder.name for folder in self._store.folders.all()}
            name, number = self.tr("New folder"), 1
            while name in taken:
                number += 1
                name = self.tr("New folder {}").format(number)
            return self._store.folders.create(name)
        return None

    def rename_folder(self, folder: int, name: str) -> None:
        with self._reporting():
            self._store.folders.rename(folder, name)

    def delete_folder(self, folder: Folder) -> None:
        """Delete a folder but keep its chats."""
        with self._reporting():
            chats = [
                chat
                for chat in (*self._store.chats.pinned(), *self._store.chats.in_folder(folder.id, ALL))
                if chat.folder == folder.id
            ]
            self._store.folders.delete(folder.id)
            text = self.tr("Deleted the folder “{}”; its chats are kept").format(folder.name)
            self.undoable.emit(text, lambda: self._restore_folder(folder.name, chats))

    def _restore_folder(self, name: str, chats: list[ChatLine]) -> None:
        with self._reporting():
            folder = self._store.folders.create(name)
            for chat in chats:
                self._store.chats.move(chat.id, folder)

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Emit a StoreError as `failed`; then emit `changed` in any case.

        After an error, too, the list on the screen may be out of date.
        """
        try:
            yield
        except StoreError as error:
            self.failed.emit(error)
        self.changed.emit()
