"""What a search found, as a Qt model: headings, chats by their title, messages."""

from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QCoreApplication,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from app.sidebar import headings
from app.sidebar.searching import Results
from app.store import ChatLine, Hit
from app.store.words import compose, fold

Index = QModelIndex | QPersistentModelIndex
Entry = str | ChatLine | Hit  # str: a heading
_Role = Qt.ItemDataRole


class Found(QAbstractListModel):
    """Attributes:
        results: what is shown, all pages of it; None before the first search.

    Signals:
        more_wanted: Results that are to be gone on with
    """

    more_wanted = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.results: Results | None = None
        self._entries: list[Entry] = []

    def show(self, results: Results) -> None:
        self.beginResetModel()
        self.results = results
        self._entries = []
        if results.chats:
            self._entries.append(self.tr("Chats") if results.query.strip() else self.tr("Last used"))
            self._entries += results.chats
        if results.hits:
            self._entries.append(self.tr("Messages"))
            self._entries += results.hits
        self.endResetModel()

    def add(self, page: Results) -> None:
        """The next page, of the same query."""
        if self.results is None or page.query != self.results.query:
            return
        self.results = Results(page.query, self.results.chats, self.results.hits + page.hits, page.is_whole)
        if page.hits:
            first = len(self._entries)
            self.beginInsertRows(QModelIndex(), first, first + len(page.hits) - 1)
            self._entries += page.hits
            self.endInsertRows()

    def entry(self, index: Index) -> Entry:
        return self._entries[index.row()]

    def first(self) -> QModelIndex:
        """The first row that can be chosen."""
        return self.index(1) if self._entries else QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._entries)

    def canFetchMore(self, parent: Index) -> bool:
        return not parent.isValid() and self.results is not None and not self.results.is_whole

    def fetchMore(self, parent: Index) -> None:
        self.more_wanted.emit(self.results)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if isinstance(self.entry(index), str):
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren

    def data(self, index: Index, role: int = _Role.DisplayRole) -> Any:
        if not index.isValid() or role not in (_Role.DisplayRole, _Role.AccessibleTextRole):
            return None
        match self.entry(index):
            case str(heading):
                return heading
            case ChatLine(title=title, updated_at=time):
                return f"{headings.title(title)}, {headings.day(time)}"
            case Hit() as hit:
                place = f"{headings.title(hit.title)}, {headings.day(hit.created_at)}"
                return f"{speaker(hit)}: {hit.excerpt} ({place})"


def speaker(hit: Hit) -> str:
    said_by_person = hit.role == "user"
    return (
        QCoreApplication.translate("Found", "You")
        if said_by_person
        else QCoreApplication.translate("Found", "Model")
    )


def title_ranges(title: str, query: str) -> list[tuple[int, int]]:
    """(start, end) in a composed title of the words that led to it, anywhere in it, as `Chats.titled`."""
    folded = fold(title)
    words = fold(compose(query)).split()
    return [(folded.index(word), folded.index(word) + len(word)) for word in words if word in folded]
