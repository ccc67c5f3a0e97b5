"""Reading and writing files that contain chats, in all supported formats."""

import json
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from app.store import tree
from app.store.errors import BadImport
from app.store.exchange import chatgpt, native
from app.store.exchange.text import to_markdown, to_text
from app.store.records import WholeChat
from engine.errors import DiskProblem
from engine.files import write_whole

MAX_NBYTES = 2 << 30  # largest unpacked size of a zip file to import

_HINT = "Choose a JSON file exported by SpecExec Desktop, or ChatGPT's export (the zip or its JSON)."


class Imported(Struct, frozen=True):
    """The chats read from a file. skipped: one sentence about each chat that could not be read."""

    chats: list[WholeChat]
    skipped: list[str]


def import_file(path: Path) -> Imported:
    """Return the chats in a file without storing them; `Chats.add` stores them.

    Raises BadImport if the file cannot be read or is not in a supported format.
    """
    try:
        contents = _unzipped(path) if zipfile.is_zipfile(path) else [path.read_bytes()]
        read = [_read(content) for content in contents]
    except OSError as error:
        raise BadImport(
            f"{path} cannot be read: {error.strerror}.", "Check the file's permissions."
        ) from error
    except (zipfile.BadZipFile, zlib.error, RuntimeError, ValueError, EOFError) as error:
        raise BadImport(f"{path.name} cannot be read: {error}.", _HINT) from error
    return Imported(
        [chat for imported in read for chat in imported.chats],
        [sentence for imported in read for sentence in imported.skipped],
    )


def export_file(path: Path, chats: Sequence[WholeChat]) -> None:
    """Write chats to a file: as Markdown if its name ends in .md, as plain text for .txt, else as JSON.

    Raises DiskProblem if the file cannot be written; an existing file is unchanged in this case.
    """
    match path.suffix.lower():
        case ".md":
            content = "\n---\n\n".join(map(to_markdown, chats)).encode()
        case ".txt":
            content = "\n\n".join(map(to_text, chats)).encode()
        case _:
            content = native.encode(chats)
    try:
        write_whole(path, content)
    except OSError as error:
        raise DiskProblem(
            f"{path} cannot be written: {error.strerror}.", "Check the disk and the folder's permissions."
        ) from error


def _unzipped(path: Path) -> list[bytes]:
    with zipfile.ZipFile(path) as archive:
        parts = [
            part
            for part in archive.infolist()
            if Path(part.filename).name.startswith("conversations") and part.filename.endswith(".json")
        ]
        if not parts:
            raise ValueError("it contains no conversations.json")
        if sum(part.file_size for part in parts) > MAX_NBYTES:
            raise ValueError("it is too large")
        return [archive.read(part) for part in sorted(parts, key=lambda part: part.filename)]


def _read(content: bytes) -> Imported:
    value = json.loads(content)
    match value:
        case {"format": _}:
            return _checked(native.decode(content))
        case {"mapping": _}:
            return _from_chatgpt([value])
        case [*conversations]:
            return _from_chatgpt(conversations)
    raise ValueError("it contains no chats")


def _checked(chats: Sequence[WholeChat]) -> Imported:
    bad = [chat for chat in chats if tree.with_one_shown(chat.messages) is None]
    return Imported(
        [chat for chat in chats if chat not in bad],
        [f"“{chat.title}”: a message has no valid parent." for chat in bad],
    )


def _from_chatgpt(conversations: Sequence[object]) -> Imported:
    chats, skipped = [], []
    for number, conversation in enumerate(conversations, 1):
        try:
            chats.append(chatgpt.chat_of(conversation))
        except chatgpt.Malformed as error:
            title = conversation.get("title") if isinstance(conversation, dict) else None
            skipped.append(f"“{title or number}”: {error}.")
    return Imported(chats, skipped)
