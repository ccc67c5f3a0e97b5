"""Reading and writing files that contain chats, in all supported formats."""

import json
import lzma
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from app.store import tree
from app.store.errors import BadImport
from app.store.exchange import backup, chatgpt, native
from app.store.exchange.text import to_markdown, to_text
from app.store.records import WholeChat
from engine.errors import DiskProblem
from engine.files import write_whole

# Size of the largest JSON file, also within a zip file. Parsed, it takes several times as much memory.
MAX_NBYTES = 256 << 20
MAX_MESSAGES = 100_000  # in one chat; the window could not show more

_SMALLER = "Import a smaller part of it."
_HINT = (
    "Choose a JSON file exported by SpecExec Desktop, one of its backups, or ChatGPT's export (zip or JSON)."
)


class Imported(Struct, frozen=True):
    """The chats read from a file. skipped: one sentence about each chat that could not be read; is_backup:
    whether they are the user's own of an earlier day."""

    chats: list[WholeChat]
    skipped: list[str]
    is_backup: bool = False


def import_file(path: Path) -> Imported:
    """Return the chats in a file without storing them; `Chats.add` stores them.

    Raises BadImport if the file cannot be read or is not in a supported format.
    """
    try:
        if backup.is_backup(path):
            chats, damage = backup.chats_of(path)
            sound = _checked(chats)
            return Imported(sound.chats, [*damage, *sound.skipped], is_backup=True)
        contents = _unzipped(path) if zipfile.is_zipfile(path) else _whole(path)
        read = [_read(content) for content in contents]
    except OSError as error:
        raise BadImport(
            f"{path} cannot be read: {error.strerror}.", "Check the file's permissions."
        ) from error
    except RecursionError as error:
        raise BadImport(f"{path.name} cannot be read: its data is nested too deeply.", _HINT) from error
    except MemoryError as error:
        raise BadImport(f"{path.name} cannot be read: there is too little memory.", _SMALLER) from error
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, RuntimeError, ValueError, EOFError) as error:
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


def _whole(path: Path) -> Iterator[bytes]:
    if path.stat().st_size > MAX_NBYTES:
        raise ValueError("it is too large")
    yield path.read_bytes()


def _unzipped(path: Path) -> Iterator[bytes]:
    with zipfile.ZipFile(path) as archive:
        parts = [
            part
            for part in archive.infolist()
            if Path(part.filename).name.startswith("conversations") and part.filename.endswith(".json")
        ]
        if not parts:
            raise ValueError("it contains no conversations.json")
        for part in sorted(parts, key=lambda part: part.filename):
            if part.file_size > MAX_NBYTES:
                raise ValueError("it is too large")
            with archive.open(part) as file:  # its true size may differ from the one that is written there
                content = file.read(MAX_NBYTES + 1)
            if len(content) > MAX_NBYTES:
                raise ValueError("it is too large")
            yield content


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
    sound, skipped = [], []
    for chat in chats:
        if reason := _fault(chat):
            skipped.append(f"“{chat.title}”: {reason}.")
        else:
            sound.append(chat)
    return Imported(sound, skipped)


def _fault(chat: WholeChat) -> str:
    """Return why a chat cannot be stored, or ""."""
    if len(chat.messages) > MAX_MESSAGES:
        return "it has too many messages"
    return "" if tree.with_one_shown(chat.messages) is not None else "a message has no valid parent"


def _from_chatgpt(conversations: Sequence[object]) -> Imported:
    chats, skipped = [], []
    for number, conversation in enumerate(conversations, 1):
        try:
            chat = chatgpt.chat_of(conversation)
            if len(chat.messages) > MAX_MESSAGES:
                raise chatgpt.Malformed("it has too many messages")
            chats.append(chat)
        except chatgpt.Malformed as error:
            title = conversation.get("title") if isinstance(conversation, dict) else None
            skipped.append(f"“{title or number}”: {error}.")
    return Imported(chats, skipped)
