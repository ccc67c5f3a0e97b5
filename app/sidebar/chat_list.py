"""The chats as a Qt model. Reads the store, page by page; changes nothing."""

from collections.abc import Sequence
from html import escape
from typing import Any

from PySide6.QtCore import QMimeData, QModelIndex, QObject, Qt, Signal

from app.sidebar import headings, outline
from app.sidebar.grouped import GroupedModel, Index
from app.sidebar.outline import Group
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
    """Attributes:
        folded: keys of the groups whose chats are not shown.
        answering: the chat with an answer under way, or None.

    Signals:
        about_to_change, changed: around every change of the rows
        chat_named: chat, str: a title was written in place
        folder_named: folder, str
        chat_dropped: chat, Group it was dragged to
        trouble: StoreError
    """

    about_to_change = Signal()
    changed = Signal()
    chat_named = Signal(int, str)
    folder_named = Signal(int, str)
    chat_dropped = Signal(int, object)
    trouble = Signal(object)

    def __init__(self, store: Store, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.folded: set[str] = set()
        self.answering: int | None = None
        self._store = store
        self._groups: list[Group] = []
        self._recent: list[ChatLine] = []
        self._is_whole = False
        self._is_changing = False

    def refresh(self) -> None:
        """Read again as much as was read before. Selection, current row and folds stay."""
        limit = max(FIRST_PAGE, len(self._recent))
        try:
            recent = self._store.chats.recent(limit)
            groups = outline.read(self._store, self.folded, recent)
        except StoreError as error:
            self.trouble.emit(error)
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

    def _show(self, groups: list[Group]) -> None:
        self._is_changing = True
        self.about_to_change.emit()
        self._groups = groups
        self.show(groups)
        self.changed.emit()
        self._is_changing = False

    # -- as Qt asks for it -----------------------------------------------------------------------------------

    def hasChildren(self, parent: Index = QModelIndex()) -> bool:  # noqa: B008
        """A folded folder was not read: it may have some."""
        group = self.group(parent)
        return bool(group and group.folder) or self.rowCount(parent) > 0

    def canFetchMore(self, parent: Index) -> bool:
        """Not while the rows change: a view whose groups are not unfolded yet has room for all of them."""
        is_ready = bool(self._recent) and not self._is_changing
        return is_ready and not self._is_whole and not parent.isValid()

    def fetchMore(self, parent: Index) -> None:
        if not self.canFetchMore(parent):
            return
        try:
            page = self._store.chats.recent(PAGE, self._recent[-1])
        except StoreError as error:
            self._is_whole = True  # until the next refresh, or this would be asked for again at once
            self.trouble.emit(error)
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
        title = headings.title(chat.title)
        match role:
            case _Role.DisplayRole:
                return title
            case _Role.EditRole:
                return chat.title
            case _Role.ToolTipRole:
                when = self.tr("Last used {}").format(headings.moment(chat.updated_at))
                return f"<p>{escape(title)}<br>{escape(when)}</p>"
            case _Role.AccessibleTextRole if chat.id == self.answering:
                return self.tr("{}, answering").format(title)
            case _Role.AccessibleDescriptionRole:
                return self.tr("Last used {}").format(headings.moment(chat.updated_at))
        return None

    def setData(self, index: Index, value: Any, role: int = _Role.EditRole) -> bool:
        """What was written goes out as a signal; it is seen here after the next `refresh`."""
        written = str(value)
        if (chat := self.chat(index)) and written != chat.title:
            self.chat_named.emit(chat.id, written)
        group = self.group(index)
        if group and group.folder and written.strip() not in ("", group.folder.name):
            self.folder_named.emit(group.folder.id, written.strip())
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


def _of_group(group: Group, role: int) -> str | None:
    match role:
        case _Role.DisplayRole | _Role.EditRole if group.folder:
            return group.folder.name
        case _Role.DisplayRole:
            return headings.heading(group.heading) if group.heading else headings.pinned()
        case _Role.AccessibleTextRole if group.folder:
            return headings.folder(group.folder.name)
        case _Role.ToolTipRole if group.folder:
            return f"<p>{escape(group.folder.name)}</p>"
    return None
