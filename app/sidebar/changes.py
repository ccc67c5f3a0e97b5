"""What a person does to their chats and folders, and how it is undone. Knows no widgets."""

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QObject, Signal

from app.sidebar import headings
from app.sidebar.outline import ALL, PINNED, Group
from app.store import ChatLine, Folder, Store, StoreError


class Changes(QObject):
    """Signals:
    changed: the list of chats is another one
    undoable: str, Callable: what was done, and what undoes it
    deleted, restored: chat
    trouble: StoreError
    """

    changed = Signal()
    undoable = Signal(str, object)
    deleted = Signal(int)
    restored = Signal(int)
    trouble = Signal(object)

    def __init__(self, store: Store, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store

    def rename(self, chat: int, title: str) -> None:
        with self._telling():
            self._store.chats.rename(chat, title)

    def pin(self, chat: int, pinned: bool) -> None:
        with self._telling():
            self._store.chats.pin(chat, pinned)

    def move(self, chat: int, folder: int | None) -> None:
        """Out of the pinned ones too: a chat stands in one place."""
        with self._telling():
            self._store.chats.pin(chat, False)
            self._store.chats.move(chat, folder)

    def drop(self, chat: int, group: Group) -> None:
        """It was dragged to the pinned, to a folder, or to a date, where it stands otherwise."""
        if group.key == PINNED:
            self.pin(chat, True)
        else:
            self.move(chat, group.folder.id if group.folder else None)

    def delete(self, chat: ChatLine) -> None:
        with self._telling():
            self._store.chats.delete(chat.id)
            said = self.tr("Deleted “{}”").format(headings.title(chat.title))
            self.undoable.emit(said, lambda: self._restore(chat.id))
            self.deleted.emit(chat.id)

    def take_back(self, chats: list[int]) -> None:
        """Delete those that were imported."""
        with self._telling():
            for chat in chats:
                self._store.chats.delete(chat)
                self.deleted.emit(chat)

    def _restore(self, chat: int) -> None:
        with self._telling():
            self._store.chats.restore(chat)
            self.restored.emit(chat)

    # -- folders ---------------------------------------------------------------------------------------------

    def new_folder(self) -> int | None:
        """An empty one under a name that is free; None where it could not be made."""
        with self._telling():
            taken = {folder.name for folder in self._store.folders.all()}
            name, number = self.tr("New folder"), 1
            while name in taken:
                number += 1
                name = self.tr("New folder {}").format(number)
            return self._store.folders.create(name)
        return None

    def rename_folder(self, folder: int, name: str) -> None:
        with self._telling():
            self._store.folders.rename(folder, name)

    def delete_folder(self, folder: Folder) -> None:
        """Its chats are kept."""
        with self._telling():
            chats = [
                chat
                for chat in (*self._store.chats.pinned(), *self._store.chats.in_folder(folder.id, ALL))
                if chat.folder == folder.id
            ]
            self._store.folders.delete(folder.id)
            said = self.tr("Deleted the folder “{}”; its chats were kept").format(folder.name)
            self.undoable.emit(said, lambda: self._restore_folder(folder.name, chats))

    def _restore_folder(self, name: str, chats: list[ChatLine]) -> None:
        with self._telling():
            folder = self._store.folders.create(name)
            for chat in chats:
                self._store.chats.move(chat.id, folder)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Also where it failed: what is shown may be what is not there any more."""
        try:
            yield
        except StoreError as error:
            self.trouble.emit(error)
        self.changed.emit()
