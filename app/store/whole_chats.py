"""Whole chats out of the store and into it: what copying, branching, exporting and importing share."""

from collections.abc import Sequence
from sqlite3 import Connection

import msgspec

from app.store import rows, tree
from app.store.errors import BadImport
from app.store.records import Chat, ChatSettings, Message, to_json, well_formed

_settings = msgspec.json.Decoder(ChatSettings)


def read(connection: Connection, chat: int) -> Chat:
    """Raises NotInStore."""
    row = connection.execute(
        "SELECT title, named, created_at, updated_at, pinned, folders.name, settings FROM chats"
        " LEFT JOIN folders ON folders.id = chats.folder WHERE chats.id = ?",
        (chat,),
    ).fetchone()
    if row is None:
        raise rows.gone("chat")
    title, named, created_at, updated_at, pinned, folder, settings = row
    return Chat(
        title=title,
        named=bool(named),
        created_at=created_at,
        updated_at=updated_at,
        pinned=bool(pinned),
        folder=folder,
        settings=_settings.decode(settings),
        messages=rows.messages_of(connection, chat),
    )


def add(connection: Connection, chat: Chat) -> int:
    """Returns its id. An answer that was under way is an interrupted one in the copy. Raises BadImport where
    its messages are no tree."""
    messages = tree.with_one_shown(chat.messages)
    if messages is None:
        raise BadImport(
            f"The messages of the chat “{chat.title}” do not follow from each other.",
            "Export the chat again.",
        )
    cursor = connection.execute(
        "INSERT INTO chats (title, named, pinned, folder, created_at, updated_at, settings)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            well_formed(chat.title),
            chat.named,
            chat.pinned,
            None if chat.folder is None else folder_named(connection, chat.folder),
            chat.created_at,
            chat.updated_at,
            to_json(chat.settings),
        ),
    )
    assert cursor.lastrowid is not None
    _add_messages(connection, cursor.lastrowid, messages)
    return cursor.lastrowid


def _add_messages(connection: Connection, chat: int, messages: Sequence[Message]) -> None:
    ids: dict[int | None, int | None] = {None: None}
    for message in messages:
        ids[message.id] = rows.insert(
            connection,
            chat,
            ids[message.parent],
            message.role,
            message.text,
            "interrupted" if message.state == "streaming" else message.state,
            message.created_at,
            message.reports,
        )
    connection.executemany(
        "UPDATE messages SET shown = 1 WHERE id = ?", [(ids[one.id],) for one in messages if one.shown]
    )


def folder_named(connection: Connection, name: str) -> int:
    """The folder of this name, made where there is none."""
    name = well_formed(name)
    connection.execute("INSERT OR IGNORE INTO folders (name) VALUES (?)", (name,))
    folder: int = connection.execute("SELECT id FROM folders WHERE name = ?", (name,)).fetchone()[0]
    return folder
