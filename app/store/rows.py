"""Functions on the rows of chats and messages, shared by the store's modules. Call them in a transaction."""

import time
from collections.abc import Sequence
from sqlite3 import Connection
from typing import get_args

from app.store import search, titles, tree
from app.store.errors import NotInStore
from app.store.records import (
    LATEST,
    AnswerReport,
    AttachedFile,
    Passage,
    Role,
    State,
    StoredCall,
    StoredMessage,
    calls_of,
    files_of,
    passages_of,
    reports_of,
    to_json,
    well_formed,
)


def check_chat(connection: Connection, chat: int) -> None:
    """Raise NotInStore if the chat does not exist."""
    if not connection.execute("SELECT 1 FROM chats WHERE id = ?", (chat,)).fetchone():
        raise not_found("chat")


def messages_of(connection: Connection, chat: int) -> list[StoredMessage]:
    """Return a chat's messages in the order of their creation; damaged ones as far as they can be understood.
    Raises NotInStore if there is no such chat."""
    check_chat(connection, chat)
    rows = connection.execute(
        "SELECT id, parent, role, text, created_at, state, shown, reports, files, passages, calls"
        " FROM messages WHERE chat = ? ORDER BY id",
        (chat,),
    )
    messages = [
        StoredMessage(
            id=id,
            parent=parent,
            role=role if role in get_args(Role) else "user",
            text=str(text),
            created_at=created_at if isinstance(created_at, float) and 0 <= created_at <= LATEST else 0.0,
            state=state if state in get_args(State) else "interrupted",
            shown=bool(shown),
            reports=reports_of(reports),
            files=files_of(files),
            passages=passages_of(passages),
            calls=calls_of(calls),
        )
        for id, parent, role, text, created_at, state, shown, reports, files, passages, calls in rows
    ]
    return tree.with_one_shown(messages) or tree.with_one_shown(tree.reparented(messages)) or []


def place_of(connection: Connection, message: int) -> tuple[int, int | None, Role, str]:
    """Return the chat, parent, role and text of a message. Raises NotInStore if it does not exist."""
    row: tuple[int, int | None, Role, str] | None = connection.execute(
        "SELECT chat, parent, role, text FROM messages WHERE id = ?", (message,)
    ).fetchone()
    if row is None:
        raise not_found("message")
    return row


def insert(
    connection: Connection,
    chat: int,
    parent: int | None,
    role: Role,
    text: str,
    state: State = "complete",
    created_at: float | None = None,
    reports: list[AnswerReport] | None = None,
    files: Sequence[AttachedFile] = (),
    passages: Sequence[Passage] = (),
    calls: Sequence[StoredCall] = (),
) -> int:
    """Insert a message below `parent` and add it to the search index. It is not shown yet. Return its id."""
    text = well_formed(text)
    cursor = connection.execute(
        "INSERT INTO messages"
        " (chat, parent, role, state, shown, created_at, text, reports, files, passages, calls)"
        " VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?)",
        (
            chat,
            parent,
            role,
            state,
            created_at or time.time(),
            text,
            *(to_json(list(each)) for each in (reports or [], files, passages, calls)),
        ),
    )
    assert cursor.lastrowid is not None
    index(connection, cursor.lastrowid, text)
    return cursor.lastrowid


def show(connection: Connection, message: int) -> None:
    """Show this version of a message and hide the others."""
    chat, parent, _, _ = place_of(connection, message)
    connection.execute(
        "UPDATE messages SET shown = (id = ?) WHERE chat = ? AND parent IS ?", (message, chat, parent)
    )


def index(connection: Connection, message: int, text: str) -> None:
    """Add a message to the search index."""
    connection.execute("INSERT INTO found (rowid, terms) VALUES (?, ?)", (message, search.terms(text)))


def forget(connection: Connection, message: int, text: str) -> None:
    """Remove a message from the search index. text: the text that was indexed."""
    connection.execute(
        "INSERT INTO found (found, rowid, terms) VALUES ('delete', ?, ?)", (message, search.terms(text))
    )


def touch(connection: Connection, chat: int) -> None:
    """Record that a chat is used now, which moves it to the top of its list. Update its automatic title."""
    connection.execute("UPDATE chats SET updated_at = ? WHERE id = ?", (time.time(), chat))
    retitle(connection, chat)


def retitle(connection: Connection, chat: int) -> None:
    """Update the automatic title of a chat; one without messages has none."""
    first = connection.execute(
        "SELECT question.text, coalesce(answer.text, '') FROM messages AS question"
        " LEFT JOIN messages AS answer"
        " ON answer.chat = question.chat AND answer.parent = question.id AND answer.shown"
        " WHERE question.chat = ? AND question.parent IS NULL AND question.shown",
        (chat,),
    ).fetchone()
    title = titles.title_of(*first) if first else ""
    connection.execute("UPDATE chats SET title = ? WHERE id = ? AND NOT named", (title, chat))


def not_found(what: str) -> NotInStore:
    return NotInStore(f"This {what} no longer exists.", "Another window may have deleted it.")
