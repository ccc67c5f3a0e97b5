"""Reading and adding whole chats, for copying, branching, export and import."""

from collections.abc import Mapping, Sequence
from sqlite3 import Connection

from msgspec import structs

from app.store import file_rows, rows, tree
from app.store.errors import BadImport
from app.store.records import StoredMessage, WholeChat, settings_of, to_json, well_formed


def read(connection: Connection, chat: int) -> WholeChat:
    """Return a whole chat. Raises NotInStore if it does not exist."""
    row = connection.execute(
        "SELECT title, named, created_at, updated_at, pinned, folders.name, settings FROM chats"
        " LEFT JOIN folders ON folders.id = chats.folder WHERE chats.id = ?",
        (chat,),
    ).fetchone()
    if row is None:
        raise rows.not_found("chat")
    title, named, created_at, updated_at, pinned, folder, settings = row
    messages = rows.messages_of(connection, chat)
    used = dict.fromkeys(file.id for message in messages for file in message.files)
    return WholeChat(
        title=title,
        named=bool(named),
        created_at=created_at,
        updated_at=updated_at,
        pinned=bool(pinned),
        folder=folder,
        settings=settings_of(settings),
        messages=messages,
        files=file_rows.whole(connection, used),
    )


def add(connection: Connection, chat: WholeChat) -> int:
    """Add a whole chat and return its id. An answer in progress is added as an interrupted one.

    Raises BadImport if the messages do not form a tree.
    """
    messages = tree.with_one_shown(chat.messages)
    if messages is None:
        raise BadImport(
            f"The chat “{chat.title}” is inconsistent: a message has no valid parent.",
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
    ids = {whole.file.id: file_rows.add(connection, whole) for whole in chat.files}
    messages = [_with_ids(message, ids) for message in messages]
    _add_messages(connection, cursor.lastrowid, messages)
    return cursor.lastrowid


def _with_ids(message: StoredMessage, ids: Mapping[str, str]) -> StoredMessage:
    """Return the message with these ids of its files. One whose content is missing keeps its own."""
    if not message.files and not message.passages:
        return message
    named = [structs.replace(file, id=ids.get(file.id, file.id)) for file in message.files]
    found = [structs.replace(each, file=ids.get(each.file, each.file)) for each in message.passages]
    return structs.replace(message, files=named, passages=found)


def _add_messages(connection: Connection, chat: int, messages: Sequence[StoredMessage]) -> None:
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
            message.files,
            message.passages,
            message.calls,
        )
    connection.executemany(
        "UPDATE messages SET shown = 1 WHERE id = ?", [(ids[one.id],) for one in messages if one.shown]
    )


def folder_named(connection: Connection, name: str) -> int:
    """Return the id of the folder with this name; create the folder if necessary."""
    name = well_formed(name)
    connection.execute("INSERT OR IGNORE INTO folders (name) VALUES (?)", (name,))
    folder: int = connection.execute("SELECT id FROM folders WHERE name = ?", (name,)).fetchone()[0]
    return folder
