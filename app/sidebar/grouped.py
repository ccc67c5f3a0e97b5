"""Groups of chats as a Qt model that is changed step by step, so that views keep their place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex

from app.sidebar.outline import Group
from app.store import ChatLine

Index = QModelIndex | QPersistentModelIndex


@dataclass(slots=True)
class _Shown:
    """A group as the views know it at this moment."""

    group: Group
    number: int
    chats: list[ChatLine] = field(default_factory=list)

    def row(self, chat: int) -> int:
        return next(row for row, each in enumerate(self.chats) if each.id == chat)


class GroupedModel(QAbstractItemModel):
    """Groups, and below each its chats; a chat stands in one group. Indexes hold numbers, never objects: a
    group has id 0, a chat has the number of its group. An index that has outlived its row leads nowhere."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._shown: list[_Shown] = []
        self._homes: dict[int, _Shown] = {}  # chat -> where it stands
        self._places: dict[int, int] = {}  # number of a group -> its row
        self._numbers = count(1)

    # -- what is in it ---------------------------------------------------------------------------------------

    def group(self, index: Index) -> Group | None:
        """The group that this row is the heading of."""
        if index.isValid() and not index.internalId() and index.row() < len(self._shown):
            return self._shown[index.row()].group
        return None

    def chat(self, index: Index) -> ChatLine | None:
        place = self._places.get(index.internalId()) if index.isValid() else None
        if place is None or index.row() >= len(self._shown[place].chats):
            return None
        return self._shown[place].chats[index.row()]

    def index_of(self, chat: int | None) -> QModelIndex:
        """Invalid where the chat is not among those that were read."""
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

    def parent(self, index: Index) -> QModelIndex:  # type: ignore[override]  # QObject has another one
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

    # -- from what is shown to what is to be shown -----------------------------------------------------------

    def show(self, groups: Sequence[Group]) -> None:
        """First what is gone goes; then groups and chats come to where they belong."""
        homes = {chat.id: group.key for group in groups for chat in group.chats}
        self._drop_gone(homes)
        for place, group in enumerate(groups):
            self._bring_group(place, group)
        self._change_homes(homes)
        for shown, group in zip(self._shown, groups, strict=False):
            self._bring_chats(shown, group.chats)
        if len(self._shown) > len(groups):
            self.beginRemoveRows(QModelIndex(), len(groups), len(self._shown) - 1)
            del self._shown[len(groups) :]
            self._count_places()
            self.endRemoveRows()
        self._homes = {chat.id: shown for shown in self._shown for chat in shown.chats}

    def _drop_gone(self, homes: Mapping[int, str]) -> None:
        for shown in self._shown:
            gone = [row for row, chat in enumerate(shown.chats) if chat.id not in homes]
            while gone:
                last = first = gone.pop()
                while gone and gone[-1] == first - 1:
                    first = gone.pop()
                self.beginRemoveRows(self._heading(shown), first, last)
                del shown.chats[first : last + 1]
                self.endRemoveRows()

    def _bring_group(self, place: int, group: Group) -> None:
        """Those that are not needed any more come to stand behind."""
        found = self._place(group.key)
        if found is None:
            self.beginInsertRows(QModelIndex(), place, place)
            self._shown.insert(place, _Shown(group, next(self._numbers)))
            self._count_places()
            self.endInsertRows()
        elif found != place:
            self.beginMoveRows(QModelIndex(), found, found, QModelIndex(), place)
            self._shown.insert(place, self._shown.pop(found))
            self._count_places()
            self.endMoveRows()
        shown = self._shown[place]
        if shown.group.folder != group.folder:
            self.dataChanged.emit(self._heading(shown), self._heading(shown))
        shown.group = group

    def _change_homes(self, homes: Mapping[int, str]) -> None:
        """Each chat comes to the end of the group where it belongs."""
        for shown in self._shown:
            for chat in [chat for chat in shown.chats if homes[chat.id] != shown.group.key]:
                place = self._place(homes[chat.id])
                assert place is not None
                home, row = self._shown[place], shown.row(chat.id)
                self.beginMoveRows(self._heading(shown), row, row, self._heading(home), len(home.chats))
                home.chats.append(shown.chats.pop(row))
                self.endMoveRows()

    def _bring_chats(self, shown: _Shown, chats: Sequence[ChatLine]) -> None:
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
            found = row if shown.chats[row].id == chats[row].id else shown.row(chats[row].id)
            if found != row:
                self.beginMoveRows(heading, found, found, heading, row)
                shown.chats.insert(row, shown.chats.pop(found))
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
