"""Full-text search over all messages."""

from app.store import words
from app.store.database import Database
from app.store.records import Hit


def search(database: Database, query: str, limit: int = 50, before: int | None = None) -> list[Hit]:
    """Messages that hold every word of the query, those last added first; `before`: the last message of the
    page before. English is found by the beginning of a word, Korean, Chinese and Japanese by any part.
    Deleted chats and answers under way are not searched. Raises a StoreError."""
    match = words.match(query)
    if not match:
        return []
    with database.reading() as connection:
        # CROSS JOIN keeps this order of loops: the index gives rows backwards, and the limit ends it.
        found = connection.execute(
            "SELECT messages.id, chat, title, role, messages.created_at, text FROM found"
            " CROSS JOIN messages ON messages.id = found.rowid CROSS JOIN chats ON chats.id = chat"
            " WHERE found MATCH ? AND found.rowid < ? AND deleted_at IS NULL"
            " ORDER BY found.rowid DESC LIMIT ?",
            (match, 2**63 - 1 if before is None else before, limit),
        ).fetchall()
    return [
        Hit(message, chat, title, role, created_at, *words.excerpt(text, query))
        for message, chat, title, role, created_at, text in found
    ]
