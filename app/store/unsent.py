"""Unsent messages: what the user has written in each chat and not sent yet."""

import msgspec

from app.store.database import Database
from app.store.records import UnsentMessage, files_of, to_json, well_formed

_texts = msgspec.json.Decoder(list[str])


class Unsent:
    """The unsent messages, at most one for each chat; the chat None is the new one that is not stored yet."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, chat: int | None) -> UnsentMessage:
        """Return the unsent message of a chat; an empty one if there is none."""
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT typed, pasted, files FROM unsent WHERE chat IS ?", (chat,)
            ).fetchone()
        if found is None:
            return UnsentMessage()
        typed, pasted, files = found
        return UnsentMessage(typed=str(typed), pasted=_pasted(pasted), files=files_of(files))

    def keep(self, chat: int | None, message: UnsentMessage) -> None:
        """Store the unsent message of a chat in place of the one before; an empty one is not stored. A chat
        that no longer exists keeps none."""
        with self._database.writing() as connection:
            connection.execute("DELETE FROM unsent WHERE chat IS ?", (chat,))
            gone = (
                chat is not None
                and not connection.execute("SELECT 1 FROM chats WHERE id = ?", (chat,)).fetchone()
            )
            if message and not gone:
                connection.execute(
                    "INSERT INTO unsent VALUES (?, ?, ?, ?)",
                    (chat, well_formed(message.typed), to_json(message.pasted), to_json(message.files)),
                )


def _pasted(text: str) -> list[str]:
    """Return pasted texts stored as JSON; none if the text is damaged."""
    try:
        return _texts.decode(text)
    except (msgspec.MsgspecError, TypeError):
        return []
