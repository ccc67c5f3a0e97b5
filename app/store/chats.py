"""The list of chats, as a sidebar shows and changes it."""

import time
from collections.abc import Iterable, Sequence
from sqlite3 import Connection

import msgspec
from msgspec import structs

from app.store import rows, tree, whole_chats, words
from app.store.database import Database
from app.store.records import Chat, ChatLine, ChatSettings, to_json, well_formed

KEPT_DELETED_S = 24 * 60 * 60  # a deleted chat can be restored for this long
_PURGED_AT_ONCE = 20  # chats, so that nobody waits long for the file

_LINE = "SELECT id, title, pinned, folder, updated_at FROM chats WHERE deleted_at IS NULL"
_settings = msgspec.json.Decoder(ChatSettings)


class Chats:
    """Every chat stands in one place: among the pinned, else in its folder, else by date. Methods that take a
    chat raise NotInStore where it is not there; all raise other StoreErrors."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def pinned(self) -> list[ChatLine]:
        """The last used first, here and below."""
        return self._lines(f"{_LINE} AND pinned ORDER BY updated_at DESC, id DESC")

    def recent(self, limit: int = 100, after: ChatLine | None = None) -> list[ChatLine]:
        """A page of those neither pinned nor in a folder; `after`: the last one of the page before."""
        return self._page("folder IS NULL", (), limit, after)

    def in_folder(self, folder: int, limit: int = 100, after: ChatLine | None = None) -> list[ChatLine]:
        """A page of those in the folder that are not pinned."""
        return self._page("folder = ?", (folder,), limit, after)

    def titled(self, query: str, limit: int = 100) -> list[ChatLine]:
        """Those whose title has every word of the query, anywhere."""
        wanted = words.fold(words.compose(query)).split()
        lines = self._lines(f"{_LINE} ORDER BY updated_at DESC, id DESC") if wanted else []
        return [line for line in lines if _has_all(line.title, wanted)][:limit]

    def line(self, chat: int) -> ChatLine:
        with self._database.reading() as connection:
            row = connection.execute(f"{_LINE} AND id = ?", (chat,)).fetchone()
        if row is None:
            raise rows.gone("chat")
        return _line(row)

    def create(self, settings: ChatSettings | None = None) -> int:
        """An empty chat. Returns its id, as do `duplicate` and `branch`."""
        now = time.time()
        settings = settings or ChatSettings()
        return self.add([Chat(title="", named=False, created_at=now, updated_at=now, settings=settings)])[0]

    def settings(self, chat: int) -> ChatSettings:
        with self._database.reading() as connection:
            row = connection.execute("SELECT settings FROM chats WHERE id = ?", (chat,)).fetchone()
            if row is None:
                raise rows.gone("chat")
            return _settings.decode(row[0])

    def set_settings(self, chat: int, settings: ChatSettings) -> None:
        self._set(chat, "settings", to_json(settings))

    def rename(self, chat: int, title: str) -> None:
        """From now on the title stays; an empty one is the automatic one again, from the next answer on."""
        title = " ".join(well_formed(title).split())
        with self._database.writing() as connection:
            rows.check_chat(connection, chat)
            connection.execute(
                "UPDATE chats SET title = ?, named = ? WHERE id = ?", (title, bool(title), chat)
            )

    def pin(self, chat: int, pinned: bool = True) -> None:
        self._set(chat, "pinned", pinned)

    def move(self, chat: int, folder: int | None) -> None:
        """Into a folder, or out of its own."""
        self._set(chat, "folder", folder)

    def delete(self, chat: int) -> None:
        """It is not shown or found any more; `restore` brings it back until it is purged."""
        self._set(chat, "deleted_at", time.time())

    def restore(self, chat: int) -> None:
        self._set(chat, "deleted_at", None)

    def purge(self, now: float | None = None) -> int:
        """Remove for good what was deleted more than `KEPT_DELETED_S` before now; to be called after a start,
        off the window's thread. Returns how many chats that were."""
        before = (time.time() if now is None else now) - KEPT_DELETED_S
        purged = 0
        while True:
            with self._database.writing() as connection:
                found = connection.execute(
                    "SELECT id FROM chats WHERE deleted_at < ? LIMIT ?", (before, _PURGED_AT_ONCE)
                ).fetchall()
                for (chat,) in found:
                    _purge(connection, chat)
            if not found:
                return purged
            purged += len(found)

    def read(self, chat: int) -> Chat:
        """All of it."""
        with self._database.reading() as connection:
            return whole_chats.read(connection, chat)

    def add(self, chats: Iterable[Chat]) -> list[int]:
        """All of them, or (on any error) none. Returns their ids."""
        with self._database.writing() as connection:
            return [whole_chats.add(connection, chat) for chat in chats]

    def duplicate(self, chat: int) -> int:
        """With every version of every message."""
        return self._add_now(self.read(chat))

    def branch(self, message: int) -> int:
        """A new chat of what leads to this message, and the message."""
        with self._database.reading() as connection:
            chat = whole_chats.read(connection, rows.place_of(connection, message)[0])
        path = [structs.replace(one, shown=True) for one in tree.path_to(chat.messages, message)]
        return self._add_now(structs.replace(chat, messages=path))

    def _add_now(self, chat: Chat) -> int:
        now = time.time()
        return self.add([structs.replace(chat, created_at=now, updated_at=now, pinned=False)])[0]

    def _page(
        self, place: str, values: Sequence[object], limit: int, after: ChatLine | None
    ) -> list[ChatLine]:
        if after is not None:
            place, values = f"{place} AND (updated_at, id) < (?, ?)", (*values, after.updated_at, after.id)
        return self._lines(
            f"{_LINE} AND NOT pinned AND {place} ORDER BY updated_at DESC, id DESC LIMIT ?", (*values, limit)
        )

    def _lines(self, query: str, values: Sequence[object] = ()) -> list[ChatLine]:
        with self._database.reading() as connection:
            return [_line(row) for row in connection.execute(query, values)]

    def _set(self, chat: int, column: str, value: object) -> None:
        with self._database.writing() as connection:
            rows.check_chat(connection, chat)
            connection.execute(f"UPDATE chats SET {column} = ? WHERE id = ?", (value, chat))


def _line(row: tuple[int, str, int, int | None, float]) -> ChatLine:
    id, title, pinned, folder, updated_at = row
    return ChatLine(id, title, bool(pinned), folder, updated_at)


def _has_all(title: str, wanted: list[str]) -> bool:
    folded = words.fold(words.compose(title))
    return all(word in folded for word in wanted)


def _purge(connection: Connection, chat: int) -> None:
    """Messages under way are not in the index."""
    indexed = connection.execute(
        "SELECT id, text FROM messages WHERE chat = ? AND id NOT IN (SELECT message FROM under_way)", (chat,)
    )
    for message, text in indexed.fetchall():
        rows.forget(connection, message, text)
    connection.execute("DELETE FROM chats WHERE id = ?", (chat,))
