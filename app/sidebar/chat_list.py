"""The chats as a Qt model that reads the store page by page and changes nothing in it."""

from collections.abc import Sequence
from html import escape
from typing import Any

from PySide6.QtCore import QMimeData, QModelIndex, QObject, Qt, Signal

from app.sidebar import outline
from app.sidebar.group_model import GroupedModel, Index
from app.sidebar.outline import ChatGroup
from app.store import ChatLine, Store, StoreError

FIRST_PAGE = 100
PAGE = 500
MIME = "application/x-specexec-chat"

_Role = Qt.ItemDataRole
_Flag = Qt.ItemFlag
_OF_GROUP = _Flag.ItemIsEnabled | _Flag.ItemIsSelectable | _Flag.ItemIsDropEnabled
_OF_FOLDER = _OF_GROUP | _Flag.ItemIsEditable
_OF_CHAT = _OF_FOLDER | _Flag.ItemIsDragEnabled | _Flag.ItemNeverHasChildren


class ChatList(GroupedModel):
    """Tree model of the groups of chats, read from the store.

    Attributes:
        folded: keys of the groups whose chats are hidden.
        answering: id of the chat whose answer is being generated, or None.

    Signals:
        about_to_change, changed: emitted before and after every change of the rows
        chat_named: id of a chat, title that the user entered for it
        folder_named: id of a folder, name that the user entered for it
        chat_dropped: id of a chat, ChatGroup that it was dragged to
        failed: StoreError
    """

    about_to_change = Signal()
    changed = Signal()
    chat_named = Signal(int, str)
    folder_named = Signal(int, str)
    chat_dropped = Signal(int, object)
    failed = Signal(object)

    def __init__(self, store: Store, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.folded: set[str] = set()
        self.answering: int | None = None
        self._store = store
        self._groups: list[ChatGroup] = []
        self._recent: list[ChatLine] = []
        self._is_whole = False
        self._is_changing = False

    def refresh(self) -> None:
        """Read the list again, as far as it had been read. Selection, current row and folds stay."""
        limit = max(FIRST_PAGE, len(self._recent))
        try:
            recent = self._store.chats.recent(limit)
            groups = outline.read(self._store, self.folded, recent)
        except StoreError as error:
            self.failed.emit(error)
            return
        self._recent = recent
        self._is_whole = len(recent) < limit
        self._show(groups)

    def is_empty(self) -> bool:
        return not self._groups

    def mark_answering(self, chat: int | None) -> None:
        before, self.answering = self.answering, chat
        for index in (self.index_of(before), self.index_of(chat)):
            if index.isValid():
                self.dataChanged.emit(index, index)

    def _show(self, groups: list[ChatGroup]) -> None:
        self._is_changing = True
        self.about_to_change.emit()
        self._groups = groups
        self.show(groups)
        self.changed.emit()
        self._is_changing = False

    # -- Qt's interface --------------------------------------------------------------------------------------

    def hasChildren(self, parent: Index = QModelIndex()) -> bool:  # noqa: B008
        """Return True for every folder: the chats of a folded one have not been read, so it may have some."""
        group = self.group(parent)
        return bool(group and group.folder) or self.rowCount(parent) > 0

    def canFetchMore(self, parent: Index) -> bool:
        """Return whether there may be more chats to read; False while the rows change.

        During such a change, a view whose groups are not unfolded yet would fetch all pages.
        """
        is_ready = bool(self._recent) and not self._is_changing
        return is_ready and not self._is_whole and not parent.isValid()

    def fetchMore(self, parent: Index) -> None:
        if not self.canFetchMore(parent):
            return
        try:
            page = self._store.chats.recent(PAGE, self._recent[-1])
        except StoreError as error:
            self._is_whole = True  # until the next refresh; otherwise the view would try again at once
            self.failed.emit(error)
            return
        self._is_whole = len(page) < PAGE
        self._recent += page
        undated = [group for group in self._groups if group.heading is None]
        self._show(undated + outline.dated(self._recent))

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return _Flag.NoItemFlags
        if index.internalId():
            return _OF_CHAT
        group = self.group(index)
        return _OF_FOLDER if group and group.folder else _OF_GROUP

    def data(self, index: Index, role: int = _Role.DisplayRole) -> Any:
        if group := self.group(index):
            return _of_group(group, role)
        if chat := self.chat(index):
            return self._of_chat(chat, role)
        return None

    def _of_chat(self, chat: ChatLine, role: int) -> str | None:
        title = outline.chat_title(chat.title)
        match role:
            case _Role.DisplayRole:
                return title
            case _Role.EditRole:
                return chat.title
            case _Role.ToolTipRole:
                when = self.tr("Last used {}").format(outline.moment(chat.updated_at))
                return f"<p>{escape(title)}<br>{escape(when)}</p>"
            case _Role.AccessibleTextRole if chat.id == self.answering:
                return self.tr("{}, answering").format(title)
            case _Role.AccessibleDescriptionRole:
                return self.tr("Last used {}").format(outline.moment(chat.updated_at))
        return None

    def setData(self, index: Index, value: Any, role: int = _Role.EditRole) -> bool:
        """Emit the entered text as a signal; the model itself changes with the next `refresh`."""
        text = str(value)
        if (chat := self.chat(index)) and text != chat.title:
            self.chat_named.emit(chat.id, text)
        group = self.group(index)
        if group and group.folder and text.strip() not in ("", group.folder.name):
            self.folder_named.emit(group.folder.id, text.strip())
        return True

    # -- dragging --------------------------------------------------------------------------------------------

    def supportedDropActions(self) -> Qt.DropAction:
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:
        return [MIME]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        data = QMimeData()
        chats = [chat for index in indexes if (chat := self.chat(index))]
        data.setData(MIME, b",".join(b"%d" % chat.id for chat in chats))
        return data

    def dropMimeData(
        self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index
    ) -> bool:
        group = self.group(parent if self.chat(parent) is None else self.parent(parent))
        chats = bytes(data.data(MIME).data()).split(b",")
        if group is None or not all(map(bytes.isdigit, chats)):
            return False
        for chat in chats:
            self.chat_dropped.emit(int(chat), group)
        return True


def _of_group(group: ChatGroup, role: int) -> str | None:
    match role:
        case _Role.DisplayRole:
            return outline.group_title(group)
        case _Role.EditRole if group.folder:
            return group.folder.name
        case _Role.AccessibleTextRole if group.folder:
            return outline.folder_label(group.folder.name)
        case _Role.ToolTipRole if group.folder:
            return f"<p>{escape(group.folder.name)}</p>"
    return None
