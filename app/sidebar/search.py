"""Search through all chats: queries on another thread, and their results as a Qt model."""

from dataclasses import dataclass
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

from app.background import Work
from app.sidebar import outline
from app.store import ChatLine, Hit, Store
from app.store.search import compose, fold

RECENT = 8  # number of chats offered while the query is empty
TITLED = 5  # maximum number of chats found by their title
PAGE = 50  # number of messages per page

Index = QModelIndex | QPersistentModelIndex
Entry = str | ChatLine | Hit  # str: a heading
_Role = Qt.ItemDataRole


@dataclass(frozen=True, slots=True)
class Results:
    """Results of a query.

    chats: chats found by their title, or the last used ones if the query is empty. hits: messages found.
    is_whole: whether no more messages follow.
    """

    query: str
    chats: list[ChatLine]
    hits: list[Hit]
    is_whole: bool


class Searching(QObject):
    """Runs one search at a time on another thread and drops outdated queries. Lives on the GUI thread.

    Signals:
        found: Results with the first page of messages for the newest query
        more_found: Results with the next page of messages for the newest query
        failed: StoreError
    """

    found = Signal(object)
    more_found = Signal(object)
    failed = Signal(object)

    def __init__(self, store: Store, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._wanted: str | None = None  # query that waits for the running search
        self._is_busy = False
        self._work = Work(self)

    def ask(self, query: str) -> None:
        """Search for a query, once the running search has ended."""
        self._wanted = query
        self._begin()

    def ask_more(self, results: Results) -> None:
        """Fetch the page after `results`, unless another search is running."""
        if not self._is_busy:
            self._is_busy = True
            self._work.add(lambda: self._page(results), self._finish_more, self._fail)

    def _begin(self) -> None:
        if self._wanted is not None and not self._is_busy:
            query, self._wanted, self._is_busy = self._wanted, None, True
            self._work.add(lambda: self._search(query), self._finish, self._fail)

    def _search(self, query: str) -> Results:
        """Return the first page of results. Runs on the other thread."""
        if not query.strip():
            chats = [*self._store.chats.pinned(), *self._store.chats.recent(RECENT)]
            chats.sort(key=lambda chat: chat.updated_at, reverse=True)
            return Results(query, chats[:RECENT], [], is_whole=True)
        hits = self._store.search(query, PAGE)
        return Results(query, self._store.chats.titled(query, TITLED), hits, is_whole=len(hits) < PAGE)

    def _page(self, results: Results) -> Results:
        """Return the page after `results`. Runs on the other thread."""
        hits = self._store.search(results.query, PAGE, before=results.hits[-1].message)
        return Results(results.query, [], hits, is_whole=len(hits) < PAGE)

    def _finish(self, results: Results) -> None:
        self._is_busy = False
        if self._wanted is None:
            self.found.emit(results)
        self._begin()

    def _finish_more(self, results: Results) -> None:
        self._is_busy = False
        if self._wanted is None:
            self.more_found.emit(results)
        self._begin()

    def _fail(self, error: object) -> None:
        self._is_busy = False
        self.failed.emit(error)
        self._begin()


class SearchResults(QAbstractListModel):
    """List model of headings, chats found by their title, and messages.

    Attributes:
        results: the results shown, with all pages so far; None before the first search.

    Signals:
        more_wanted: Results whose next page is needed
    """

    more_wanted = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.results: Results | None = None
        self._entries: list[Entry] = []

    def show(self, results: Results) -> None:
        """Replace the list with other results."""
        self.beginResetModel()
        self.results = results
        self._entries = []
        if results.chats:
            self._entries.append(self.tr("Chats") if results.query.strip() else self.tr("Recent"))
            self._entries += results.chats
        if results.hits:
            self._entries.append(self.tr("Messages"))
            self._entries += results.hits
        self.endResetModel()

    def add(self, page: Results) -> None:
        """Append the next page, unless it belongs to another query."""
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
        """Return the index of the first row that can be chosen; an invalid one if there is none."""
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
                return f"{outline.chat_title(title)}, {outline.day(time)}"
            case Hit() as hit:
                place = f"{outline.chat_title(hit.title)}, {outline.day(hit.created_at)}"
                return f"{speaker(hit)}: {hit.excerpt} ({place})"


def speaker(hit: Hit) -> str:
    """Return the author of a message, in the user's language."""
    if hit.role == "user":
        return QCoreApplication.translate("SearchResults", "You")
    return QCoreApplication.translate("SearchResults", "Model")


def title_ranges(title: str, query: str) -> list[tuple[int, int]]:
    """Return (start, end) of the first occurrence of each of the query's words in a title.

    The title is in composed Unicode. As in `Chats.titled`, a word may also be a part of a longer one.
    """
    folded = fold(title)
    words = fold(compose(query)).split()
    return [(folded.index(word), folded.index(word) + len(word)) for word in words if word in folded]
