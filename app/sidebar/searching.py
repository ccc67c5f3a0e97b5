"""Search off the window's thread: only what was asked last is answered."""

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from app.sidebar.background import Background
from app.store import ChatLine, Hit, Store

RECENT = 8  # chats that are offered before anything is written
TITLED = 5
PAGE = 50


@dataclass(frozen=True, slots=True)
class Results:
    """chats: by title, or the last used ones where the query is empty. is_whole: no more messages follow."""

    query: str
    chats: list[ChatLine]
    hits: list[Hit]
    is_whole: bool


class Searching(QObject):
    """Lives on the GUI thread.

    Signals:
        found: Results for what was asked last
        more_found: Results, the next page of messages for it
        trouble: StoreError
    """

    found = Signal(object)
    more_found = Signal(object)
    trouble = Signal(object)

    def __init__(self, store: Store, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._wanted: str | None = None  # asked while another search was under way
        self._is_busy = False
        self._background = Background(self)
        self._background.trouble.connect(self._fail)

    def ask(self, query: str) -> None:
        self._wanted = query
        self._begin()

    def ask_more(self, results: Results) -> None:
        """The page after `results`, unless something else is being asked."""
        if not self._is_busy:
            self._is_busy = True
            self._background.run(lambda: self._page(results), self._finish_more)

    def _begin(self) -> None:
        if self._wanted is not None and not self._is_busy:
            query, self._wanted, self._is_busy = self._wanted, None, True
            self._background.run(lambda: self._search(query), self._finish)

    def _search(self, query: str) -> Results:
        """On another thread."""
        if not query.strip():
            chats = [*self._store.chats.pinned(), *self._store.chats.recent(RECENT)]
            chats.sort(key=lambda chat: chat.updated_at, reverse=True)
            return Results(query, chats[:RECENT], [], is_whole=True)
        hits = self._store.search(query, PAGE)
        return Results(query, self._store.chats.titled(query, TITLED), hits, is_whole=len(hits) < PAGE)

    def _page(self, results: Results) -> Results:
        """On another thread."""
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
        self.trouble.emit(error)
        self._begin()
