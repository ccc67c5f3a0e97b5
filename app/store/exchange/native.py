"""The JSON format for chats, with every version of every message, the settings and the reports on answers.

    {"format": "specexec-chats", "version": 1, "chats": [...]}

A chat has the fields of `records.WholeChat`: `title`, `named`, `created_at`, `updated_at`, `pinned`, `folder`
(its name or null), `settings` and `messages`. A message has an `id` unique within its chat, the `parent` it
follows (null for a first message; parents precede their children), `role` ("user" or "assistant"), `text`,
`created_at`, `state` ("complete" or "interrupted"), `shown` (true for one of the messages with the same
parent) and `reports`. Times are Unix seconds. Fields with defaults may be missing. Unknown fields are
ignored, since a later version may add some; an incompatible format will have a higher version number.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from app.store.errors import BadImport
from app.store.records import WholeChat

VERSION = 1


class ChatsFile(Struct, kw_only=True):
    format: Literal["specexec-chats"] = "specexec-chats"
    version: int = VERSION
    chats: list[WholeChat]


class _Head(Struct):
    version: int


def encode(chats: Sequence[WholeChat]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(ChatsFile(chats=list(chats))))


def decode(content: bytes) -> list[WholeChat]:
    """Return the chats in a file's content. Raises BadImport for another format or a newer version."""
    try:
        if msgspec.json.decode(content, type=_Head).version > VERSION:
            raise BadImport("The file was written by a newer version.", "Update SpecExec Desktop.")
        return msgspec.json.decode(content, type=ChatsFile).chats
    except msgspec.MsgspecError as error:
        raise BadImport(f"The file is not an export of chats: {error}.", "Export the chats again.") from error
