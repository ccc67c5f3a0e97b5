"""Deleting a message with all that follows from it, and undoing that."""

from dataclasses import dataclass
from sqlite3 import Connection

from app.store import rows
from app.store.errors import StoreError

_COLUMNS = "id, chat, parent, role, state, shown, created_at, text, reports, files, passages, calls"


Row = tuple[int, int, int | None, str, str, int, float, str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class DeletedMessages:
    """What `restore` brings back.

    Attributes:
        chat: id of the chat.
        was_shown: whether the message was the version shown.
        found: the rows of the messages; parents precede their children.
    """

    chat: int
    was_shown: bool
    found: tuple[Row, ...]

    @property
    def count(self) -> int:
        return len(self.found)


def delete(connection: Connection, message: int) -> DeletedMessages:
    """Delete a version of a message, and every message below it in the tree. If it was the version shown, the
    one before it is shown, or else the one after it.

    Raises StoreError if one of the messages is being written.
    """
    chat, parent, _, _ = rows.place_of(connection, message)
    found: list[Row] = connection.execute(
        "WITH RECURSIVE below (it) AS (VALUES (?) UNION ALL"
        " SELECT id FROM messages JOIN below ON chat = ? AND parent = it)"
        f" SELECT {_COLUMNS} FROM messages JOIN below ON id = it ORDER BY id",
        (message, chat),
    ).fetchall()
    ids = [(row[0],) for row in found]
    writing = {id for (id,) in connection.execute("SELECT message FROM under_way")}
    if any(id in writing for (id,) in ids):
        raise StoreError("This answer is still being written.", "Stop it, then delete it.")
    for row in found:
        rows.forget(connection, row[0], row[7])
    connection.executemany("DELETE FROM messages WHERE id = ?", ids)
    was_shown = bool(found[0][5])
    if was_shown:
        others = connection.execute(
            "SELECT id FROM messages WHERE chat = ? AND parent IS ? ORDER BY id > ?, abs(id - ?) LIMIT 1",
            (chat, parent, message, message),
        ).fetchall()
        for (other,) in others:
            rows.show(connection, other)
    rows.retitle(connection, chat)
    return DeletedMessages(chat, was_shown, tuple(found))


def restore(connection: Connection, deleted: DeletedMessages) -> None:
    """Undo a deletion. Raises NotInStore if the message before it, or the chat, no longer exists."""
    rows.check_chat(connection, deleted.chat)
    top, _, parent, *_ = deleted.found[0]
    if parent is not None:
        rows.place_of(connection, parent)
    connection.executemany(
        f"INSERT INTO messages ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", deleted.found
    )
    for row in deleted.found:
        rows.index(connection, row[0], row[7])
    if deleted.was_shown:
        rows.show(connection, top)
    rows.retitle(connection, deleted.chat)
