"""Files of chats: which format one has, and what was wrong with it."""

import json
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from app.store import tree
from app.store.errors import BadImport
from app.store.exchange import chatgpt, native
from app.store.exchange.text import to_markdown, to_text
from app.store.records import Chat
from engine.errors import DiskProblem

MAX_NBYTES = 2 << 30  # of a file to import, unpacked

_HINT = "Choose a JSON file that SpecExec Desktop exported, or ChatGPT's export (the zip, or its JSON)."


class Imported(Struct, frozen=True):
    """What a file held. skipped: one sentence for each chat that could not be read."""

    chats: list[Chat]
    skipped: list[str]


def import_file(path: Path) -> Imported:
    """Reads, and stores nothing: that is `Chats.add`. Raises BadImport."""
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


def export_file(path: Path, chats: Sequence[Chat]) -> None:
    """As the ending of the name says: .md, .txt, or else JSON. The file is whole, or (DiskProblem) as it was
    before."""
    match path.suffix.lower():
        case ".md":
            content = "\n---\n\n".join(map(to_markdown, chats)).encode()
        case ".txt":
            content = "\n\n".join(map(to_text, chats)).encode()
        case _:
            content = native.encode(chats)
    try:
        with TemporaryDirectory(dir=path.parent, prefix=f".{path.stem}-") as scratch:
            growing = Path(scratch) / path.name
            growing.write_bytes(content)
            growing.replace(path)
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
            raise ValueError("there is no conversations.json in it")
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
    raise ValueError("it holds no chats")


def _checked(chats: Sequence[Chat]) -> Imported:
    bad = [chat for chat in chats if tree.with_one_shown(chat.messages) is None]
    return Imported(
        [chat for chat in chats if chat not in bad],
        [f"“{chat.title}”: its messages do not follow from each other." for chat in bad],
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
