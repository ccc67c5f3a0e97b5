"""Groups of chats as a Qt model that changes in steps, so that views keep selection and scroll position."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex

from app.sidebar.outline import ChatGroup
from app.store import ChatLine

Index = QModelIndex | QPersistentModelIndex


@dataclass(slots=True)
class _Shown:
    """A group as the views know it at the moment. number: internal id of the indexes of its chats."""

    group: ChatGroup
    number: int
    chats: list[ChatLine] = field(default_factory=list)

    def row(self, chat: int) -> int:
        return next(row for row, each in enumerate(self.chats) if each.id == chat)


class GroupedModel(QAbstractItemModel):
    """Tree model of groups and their chats; a chat is in one group only.

    The internal id of an index is a number, never an object: 0 for a group, the group's number for a chat. An
    index that has outlived its row is therefore harmless.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._shown: list[_Shown] = []
        self._homes: dict[int, _Shown] = {}  # id of a chat -> its group
        self._places: dict[int, int] = {}  # number of a group -> its row
        self._numbers = count(1)

    # -- content ---------------------------------------------------------------------------------------------

    def group(self, index: Index) -> ChatGroup | None:
        """Return the group whose heading is at an index."""
        if index.isValid() and not index.internalId() and index.row() < len(self._shown):
            return self._shown[index.row()].group
        return None

    def chat(self, index: Index) -> ChatLine | None:
        place = self._places.get(index.internalId()) if index.isValid() else None
        if place is None or index.row() >= len(self._shown[place].chats):
            return None
        return self._shown[place].chats[index.row()]

    def index_of(self, chat: int | None) -> QModelIndex:
        """Return the index of a chat; an invalid one if the chat has not been read."""
        if chat is None or chat not in self._homes:
            return QModelIndex()
        home = self._homes[chat]
        return self.createIndex(home.row(chat), 0, home.number)

    def index_of_group(self, key: str) -> QModelIndex:
        place = self._place(key)
        return QModelIndex() if place is None else self.createIndex(place, 0, 0)

    def index(self, row: int, column: int = 0, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        if column or not 0 <= row < self.rowCount(parent):
            return QModelIndex()
        return self.createIndex(row, 0, self._shown[parent.row()].number if parent.isValid() else 0)

    def parent(self, index: Index) -> QModelIndex:  # type: ignore[override]  # QObject has another overload
        place = self._places.get(index.internalId()) if index.isValid() else None
        return QModelIndex() if place is None else self.createIndex(place, 0, 0)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        if not parent.isValid():
            return len(self._shown)
        return (
            0
            if parent.internalId() or parent.row() >= len(self._shown)
            else len(self._shown[parent.row()].chats)
        )

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 1

    # -- changes ---------------------------------------------------------------------------------------------

    def show(self, groups: Sequence[ChatGroup]) -> None:
        """Make the rows equal to `groups`, step by step.

        Missing chats are removed first; then groups and chats are inserted and moved to their places; groups
        that are left over are removed last.
        """
        homes = {chat.id: group.key for group in groups for chat in group.chats}
        self._remove_missing(homes)
        for place, group in enumerate(groups):
            self._place_group(place, group)
        self._change_homes(homes)
        for shown, group in zip(self._shown, groups, strict=False):
            self._place_chats(shown, group.chats)
        if len(self._shown) > len(groups):
            self.beginRemoveRows(QModelIndex(), len(groups), len(self._shown) - 1)
            del self._shown[len(groups) :]
            self._count_places()
            self.endRemoveRows()
        self._homes = {chat.id: shown for shown in self._shown for chat in shown.chats}

    def _remove_missing(self, homes: Mapping[int, str]) -> None:
        for shown in self._shown:
            missing = [row for row, chat in enumerate(shown.chats) if chat.id not in homes]
            while missing:
                last = first = missing.pop()
                while missing and missing[-1] == first - 1:
                    first = missing.pop()
                self.beginRemoveRows(self._heading(shown), first, last)
                del shown.chats[first : last + 1]
                self.endRemoveRows()

    def _place_group(self, place: int, group: ChatGroup) -> None:
        """Insert a group at its row or move it there. Groups no longer needed end up behind the others."""
        now = self._place(group.key)
        if now is None:
            self.beginInsertRows(QModelIndex(), place, place)
            self._shown.insert(place, _Shown(group, next(self._numbers)))
            self._count_places()
            self.endInsertRows()
        elif now != place:
            self.beginMoveRows(QModelIndex(), now, now, QModelIndex(), place)
            self._shown.insert(place, self._shown.pop(now))
            self._count_places()
            self.endMoveRows()
        shown = self._shown[place]
        if shown.group.folder != group.folder:
            self.dataChanged.emit(self._heading(shown), self._heading(shown))
        shown.group = group

    def _change_homes(self, homes: Mapping[int, str]) -> None:
        """Move each chat whose group has changed to the end of its new group."""
        for shown in self._shown:
            for chat in [chat for chat in shown.chats if homes[chat.id] != shown.group.key]:
                place = self._place(homes[chat.id])
                assert place is not None
                home, row = self._shown[place], shown.row(chat.id)
                self.beginMoveRows(self._heading(shown), row, row, self._heading(home), len(home.chats))
                home.chats.append(shown.chats.pop(row))
                self.endMoveRows()

    def _place_chats(self, shown: _Shown, chats: Sequence[ChatLine]) -> None:
        heading = self._heading(shown)
        known = {chat.id for chat in shown.chats}
        row = 0
        while row < len(chats):
            end = row
            while end < len(chats) and chats[end].id not in known:
                end += 1
            if end > row:
                self.beginInsertRows(heading, row, end - 1)
                shown.chats[row:row] = chats[row:end]
                self.endInsertRows()
                row = end
                continue
            now = row if shown.chats[row].id == chats[row].id else shown.row(chats[row].id)
            if now != row:
                self.beginMoveRows(heading, now, now, heading, row)
                shown.chats.insert(row, shown.chats.pop(now))
                self.endMoveRows()
            if shown.chats[row] != chats[row]:
                shown.chats[row] = chats[row]
                index = self.createIndex(row, 0, shown.number)
                self.dataChanged.emit(index, index)
            row += 1

    def _heading(self, shown: _Shown) -> QModelIndex:
        return self.createIndex(self._places[shown.number], 0, 0)

    def _place(self, key: str) -> int | None:
        return next((place for place, shown in enumerate(self._shown) if shown.group.key == key), None)

    def _count_places(self) -> None:
        self._places = {shown.number: place for place, shown in enumerate(self._shown)}
