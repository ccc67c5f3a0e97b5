"""Chats as JSON, whole: every version of every message, settings, and what stands under each answer.

    {"format": "specexec-chats", "version": 1, "chats": [...]}

A chat is `records.Chat`, field by field under the same names: `title`, `named`, `created_at`, `updated_at`,
`pinned`, `folder` (its name or null), `settings` and `messages`. A message has an `id` unique within its
chat, the `parent` it follows (null for a first one; parents come before children), `role` ("user" or
"assistant"), `text`, `created_at`, `state` ("complete" or "interrupted"), `shown` (of the messages with one
parent, true for one) and `reports`. Times are Unix seconds. Fields with defaults may be missing. A later
version may add fields, which are passed over here; an incompatible one has a higher number.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from app.store.errors import BadImport
from app.store.records import Chat

VERSION = 1


class ChatsFile(Struct, kw_only=True):
    format: Literal["specexec-chats"] = "specexec-chats"
    version: int = VERSION
    chats: list[Chat]


class _Head(Struct):
    version: int


def encode(chats: Sequence[Chat]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(ChatsFile(chats=list(chats))))


def decode(content: bytes) -> list[Chat]:
    """Raises BadImport."""
    try:
        if msgspec.json.decode(content, type=_Head).version > VERSION:
            raise BadImport("The file was written by a newer version.", "Update SpecExec Desktop.")
        return msgspec.json.decode(content, type=ChatsFile).chats
    except msgspec.MsgspecError as error:
        raise BadImport(f"The file is no export of chats: {error}.", "Export the chats again.") from error
