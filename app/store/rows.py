"""Rows to records and back: what the rooms of the store share. Every function runs inside a transaction."""

import time
from sqlite3 import Connection

import msgspec

from app.store import titles, words
from app.store.errors import NotInStore
from app.store.records import Message, Report, Role, State, to_json, well_formed

_reports = msgspec.json.Decoder(list[Report])


def check_chat(connection: Connection, chat: int) -> None:
    """Raises NotInStore."""
    if not connection.execute("SELECT 1 FROM chats WHERE id = ?", (chat,)).fetchone():
        raise gone("chat")


def messages_of(connection: Connection, chat: int) -> list[Message]:
    """In the order they were made. Raises NotInStore."""
    check_chat(connection, chat)
    rows = connection.execute(
        "SELECT id, parent, role, text, created_at, state, shown, reports FROM messages"
        " WHERE chat = ? ORDER BY id",
        (chat,),
    )
    return [
        Message(
            id=id,
            parent=parent,
            role=role,
            text=text,
            created_at=created_at,
            state=state,
            shown=bool(shown),
            reports=_reports.decode(reports),
        )
        for id, parent, role, text, created_at, state, shown, reports in rows
    ]


def place_of(connection: Connection, message: int) -> tuple[int, int | None, Role, str]:
    """Its chat, parent, role and text. Raises NotInStore."""
    row: tuple[int, int | None, Role, str] | None = connection.execute(
        "SELECT chat, parent, role, text FROM messages WHERE id = ?", (message,)
    ).fetchone()
    if row is None:
        raise gone("message")
    return row


def insert(
    connection: Connection,
    chat: int,
    parent: int | None,
    role: Role,
    text: str,
    state: State = "complete",
    created_at: float | None = None,
    reports: list[Report] | None = None,
) -> int:
    """A new version below `parent`, hidden. Returns its id."""
    text = well_formed(text)
    cursor = connection.execute(
        "INSERT INTO messages (chat, parent, role, state, shown, created_at, text, reports)"
        " VALUES (?, ?, ?, ?, 0, ?, ?, ?)",
        (chat, parent, role, state, created_at or time.time(), text, to_json(reports or [])),
    )
    assert cursor.lastrowid is not None
    index(connection, cursor.lastrowid, text)
    return cursor.lastrowid


def show(connection: Connection, message: int) -> None:
    """Of the versions of one message, show this one."""
    chat, parent, _, _ = place_of(connection, message)
    connection.execute(
        "UPDATE messages SET shown = (id = ?) WHERE chat = ? AND parent IS ?", (message, chat, parent)
    )


def index(connection: Connection, message: int, text: str) -> None:
    connection.execute("INSERT INTO found (rowid, terms) VALUES (?, ?)", (message, words.terms(text)))


def forget(connection: Connection, message: int, text: str) -> None:
    """Out of the index, where `text` is what was indexed."""
    connection.execute(
        "INSERT INTO found (found, rowid, terms) VALUES ('delete', ?, ?)", (message, words.terms(text))
    )


def was_said(connection: Connection, chat: int) -> None:
    """Something was: the chat comes first in the sidebar, and has a title where no person gave it one."""
    connection.execute("UPDATE chats SET updated_at = ? WHERE id = ?", (time.time(), chat))
    first = connection.execute(
        "SELECT question.text, coalesce(answer.text, '') FROM messages AS question"
        " LEFT JOIN messages AS answer"
        " ON answer.chat = question.chat AND answer.parent = question.id AND answer.shown"
        " WHERE question.chat = ? AND question.parent IS NULL AND question.shown",
        (chat,),
    ).fetchone()
    title = titles.title_of(*first)
    connection.execute("UPDATE chats SET title = ? WHERE id = ? AND NOT named", (title, chat))


def gone(what: str) -> NotInStore:
    return NotInStore(f"This {what} is not there any more.", "Another window may have deleted it.")
