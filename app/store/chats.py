"""Chats and their folders, as the sidebar lists and changes them."""

import time
from collections.abc import Iterable, Iterator, Sequence
from sqlite3 import Connection

from msgspec import structs

from app.store import rows, search, titles, tree, whole_chats
from app.store.database import Database
from app.store.errors import StoreError
from app.store.records import ChatLine, ChatSettings, Folder, WholeChat, settings_of, to_json, well_formed

KEPT_DELETED_S = 24 * 60 * 60  # a deleted chat can be restored for this long
_PURGED_AT_ONCE = 20  # chats per transaction; few, so that other writers do not wait long

_LINE = "SELECT id, title, pinned, folder, updated_at FROM chats WHERE deleted_at IS NULL"


class Chats:
    """All chats. Each is listed only once: with the pinned chats, else in its folder, else by date.

    Methods that take a chat raise NotInStore if it does not exist; every method may raise other StoreErrors.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def pinned(self) -> list[ChatLine]:
        """Return the pinned chats. Like every list of chats here, it begins with the most recently used."""
        return self._lines(f"{_LINE} AND pinned ORDER BY updated_at DESC, id DESC")

    def recent(self, limit: int = 100, after: ChatLine | None = None) -> list[ChatLine]:
        """Return a page of the chats that are neither pinned nor in a folder.

        after: the last chat of the previous page.
        """
        return self._page("folder IS NULL", (), limit, after)

    def in_folder(self, folder: int, limit: int = 100, after: ChatLine | None = None) -> list[ChatLine]:
        """Return a page of the unpinned chats in the folder."""
        return self._page("folder = ?", (folder,), limit, after)

    def titled(self, query: str, limit: int = 100) -> list[ChatLine]:
        """Return the chats whose title contains every word of the query."""
        wanted = search.fold(search.compose(query)).split()
        lines = self._lines(f"{_LINE} ORDER BY updated_at DESC, id DESC") if wanted else []
        return [line for line in lines if _has_all(line.title, wanted)][:limit]

    def line(self, chat: int) -> ChatLine:
        with self._database.reading() as connection:
            row = connection.execute(f"{_LINE} AND id = ?", (chat,)).fetchone()
        if row is None:
            raise rows.not_found("chat")
        return _line(row)

    def create(self, settings: ChatSettings | None = None) -> int:
        """Create an empty chat. Return its id."""
        now = time.time()
        settings = settings or ChatSettings()
        return self.add(
            [WholeChat(title="", named=False, created_at=now, updated_at=now, settings=settings)]
        )[0]

    def settings(self, chat: int) -> ChatSettings:
        with self._database.reading() as connection:
            row = connection.execute("SELECT settings FROM chats WHERE id = ?", (chat,)).fetchone()
            if row is None:
                raise rows.not_found("chat")
            return settings_of(row[0])

    def set_settings(self, chat: int, settings: ChatSettings) -> None:
        self._set(chat, "settings", to_json(settings))

    def rename(self, chat: int, title: str) -> None:
        """Set a title that automatic titles do not replace. An empty title brings the automatic one back
        when the chat is next used."""
        title = " ".join(well_formed(title).split())
        with self._database.writing() as connection:
            rows.check_chat(connection, chat)
            connection.execute(
                "UPDATE chats SET title = ?, named = ? WHERE id = ?", (title, bool(title), chat)
            )

    def pin(self, chat: int, pinned: bool = True) -> None:
        self._set(chat, "pinned", pinned)

    def move(self, chat: int, folder: int | None) -> None:
        """Move a chat into a folder; None moves it out of its folder."""
        self._set(chat, "folder", folder)

    def delete(self, chat: int) -> None:
        """Hide a chat from lists and searches; `restore` brings it back until it is purged."""
        self._set(chat, "deleted_at", time.time())

    def restore(self, chat: int) -> None:
        self._set(chat, "deleted_at", None)

    def is_deleted(self, chat: int) -> bool:
        """Whether a chat is hidden, or has been purged."""
        with self._database.reading() as connection:
            query = "SELECT 1 FROM chats WHERE id = ? AND deleted_at IS NULL"
            return connection.execute(query, (chat,)).fetchone() is None

    def purge(self, now: float | None = None) -> int:
        """Remove for good the chats deleted more than `KEPT_DELETED_S` before `now`. Return their number.

        Call it after each start, but not on the GUI thread. now: a time in Unix seconds, by default the
        current time.
        """
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

    def read(self, chat: int) -> WholeChat:
        """Return the whole chat."""
        with self._database.reading() as connection:
            return whole_chats.read(connection, chat)

    def whole(self) -> Iterator[WholeChat]:
        """Yield every chat, the oldest first."""
        for chat in self._ids("SELECT id FROM chats WHERE deleted_at IS NULL ORDER BY id"):
            yield self.read(chat)

    def lacking(self, chats: Iterable[WholeChat]) -> list[WholeChat]:
        """Return those of the chats that are not here: a chat is here if one that was created at the same
        time has all its messages."""
        return [chat for chat in chats if not self._has(chat)]

    def add(self, chats: Iterable[WholeChat]) -> list[int]:
        """Add all the chats, or none if an error occurs. Return their ids."""
        with self._database.writing() as connection:
            return [whole_chats.add(connection, chat) for chat in chats]

    def duplicate(self, chat: int) -> int:
        """Copy a chat with every version of every message. Return the id of the copy."""
        return self._add_now(self.read(chat))

    def branch(self, message: int) -> int:
        """Create a chat with a copy of this message and of the messages that lead to it, named after the chat
        with a number. Return its id."""
        with self._database.reading() as connection:
            chat = whole_chats.read(connection, rows.place_of(connection, message)[0])
            taken = {title for (title,) in connection.execute("SELECT title FROM chats")}
        path = [structs.replace(one, shown=True) for one in tree.path_to(chat.messages, message)]
        title = titles.numbered(chat.title, taken)
        return self._add_now(structs.replace(chat, messages=path, title=title, named=bool(title)))

    def _has(self, chat: WholeChat) -> bool:
        query = "SELECT id FROM chats WHERE deleted_at IS NULL AND created_at = ?"
        return any(_contents(chat) <= _contents(self.read(id)) for id in self._ids(query, (chat.created_at,)))

    def _add_now(self, chat: WholeChat) -> int:
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

    def _ids(self, query: str, values: Sequence[object] = ()) -> list[int]:
        with self._database.reading() as connection:
            return [id for (id,) in connection.execute(query, values)]

    def _lines(self, query: str, values: Sequence[object] = ()) -> list[ChatLine]:
        with self._database.reading() as connection:
            return [_line(row) for row in connection.execute(query, values)]

    def _set(self, chat: int, column: str, value: object) -> None:
        with self._database.writing() as connection:
            rows.check_chat(connection, chat)
            connection.execute(f"UPDATE chats SET {column} = ? WHERE id = ?", (value, chat))


class Folders:
    """The folders, which contain chats but no other folders. Each has a unique name.

    Methods that take a folder raise NotInStore if it does not exist.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[Folder]:
        """Return the folders sorted by name."""
        with self._database.reading() as connection:
            found = connection.execute("SELECT id, name FROM folders ORDER BY name COLLATE NOCASE, name")
            return [Folder(id, name) for id, name in found]

    def create(self, name: str) -> int:
        """Return the id of the folder with this name; create the folder if necessary."""
        with self._database.writing() as connection:
            return whole_chats.folder_named(connection, name)

    def rename(self, folder: int, name: str) -> None:
        """Rename a folder. Raises StoreError if another folder has the new name."""
        name = well_formed(name)
        with self._database.writing() as connection:
            if connection.execute(
                "SELECT 1 FROM folders WHERE name = ? AND id <> ?", (name, folder)
            ).fetchone():
                raise StoreError(f"A folder “{name}” exists already.", "Choose another name.")
            if not connection.execute("UPDATE folders SET name = ? WHERE id = ?", (name, folder)).rowcount:
                raise rows.not_found("folder")

    def delete(self, folder: int) -> None:
        """Delete a folder; its chats are kept, outside any folder."""
        with self._database.writing() as connection:
            if not connection.execute("DELETE FROM folders WHERE id = ?", (folder,)).rowcount:
                raise rows.not_found("folder")


def _line(row: tuple[int, str, int, int | None, float]) -> ChatLine:
    id, title, pinned, folder, updated_at = row
    return ChatLine(id, title, bool(pinned), folder, updated_at)


def _contents(chat: WholeChat) -> set[tuple[str, str, float]]:
    return {(message.role, message.text, message.created_at) for message in chat.messages}


def _has_all(title: str, wanted: list[str]) -> bool:
    folded = search.fold(search.compose(title))
    return all(word in folded for word in wanted)


def _purge(connection: Connection, chat: int) -> None:
    """Delete a chat and its entries in the search index. Answers in progress have no entry."""
    indexed = connection.execute(
        "SELECT id, text FROM messages WHERE chat = ? AND id NOT IN (SELECT message FROM under_way)", (chat,)
    )
    for message, text in indexed.fetchall():
        rows.forget(connection, message, text)
    connection.execute("DELETE FROM chats WHERE id = ?", (chat,))
