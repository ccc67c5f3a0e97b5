"""The window's words about files: their size, where a passage stands, and why one cannot be read."""

from PySide6.QtCore import QCoreApplication

from app import formatting
from app.documents.records import MAX_CHARACTERS, MAX_NBYTES, MAX_PAGES, Fault
from app.store import AttachedFile, Passage


def _tr(text: str) -> str:
    return QCoreApplication.translate("files", text)


def details(file: AttachedFile) -> str:
    """Return the size of a file, and how the model reads it."""
    if not file.has_text:
        return _tr("picture, not seen by the model")
    tokens = _tr("about {} tokens").format(formatting.number(file.tokens))
    parts = [_count(file), tokens, _tr("searched for each question") if file.way == "searched" else ""]
    return " · ".join(filter(None, parts))


def _count(file: AttachedFile) -> str:
    if not file.pages:
        return ""
    if file.pages == 1:
        return {"xlsx": _tr("1 sheet"), "epub": _tr("1 section")}.get(file.kind, _tr("1 page"))
    words = {"xlsx": _tr("{} sheets"), "epub": _tr("{} sections")}.get(file.kind, _tr("{} pages"))
    return words.format(formatting.number(file.pages))


def place(passage: Passage) -> str:
    """Return the file of a passage and its page, sheet or section."""
    if not passage.page:
        return passage.name
    words = {"xlsx": _tr("{}, sheet {}"), "epub": _tr("{}, section {}")}.get(passage.kind, _tr("{}, page {}"))
    return words.format(passage.name, formatting.number(passage.page))


def why_unreadable(fault: Fault, name: str) -> str:
    """Return a sentence that says why the file `name` cannot be read, and what to do."""
    return {
        "folder": _tr("{} is a folder; drop the files in it."),
        "model": _tr(
            "{} is a model. To load it, click the model's name at the top of the chat (Ctrl+M), then "
            "“Open file…”."
        ),
        "weights": _tr(
            "{} holds weights of a model. To load it, click the model's name at the top of the chat "
            "(Ctrl+M), then “Open file…”, and choose config.json in the folder of this file."
        ),
        "no_file": _tr("{} is not a file that can be read."),
        "denied": _tr("{} cannot be opened; check its permissions."),
        "too_large": _tr("{} is larger than {}; take a part of it."),
        "too_long": _tr("{} has more than {} characters; take a part of it."),
        "too_many_pages": _tr("{} has more than {} pages; take a part of it."),
        "too_much": _tr("{} takes too much time or memory to read; take a part of it."),
        "bomb": _tr("{} is built to fill the memory, so it was not read."),
        "password": _tr("{} is protected by a password; save it without one."),
        "macros": _tr("{} contains macros; save it as a document without them."),
        "old_format": _tr("{} is of an old format; save it as DOCX or XLSX."),
        "archive": _tr("{} is an archive; drop the files in it."),
        "wrong_kind": _tr("{} is not what the end of its name says."),
        "not_text": _tr("{} is neither text in UTF-8 nor a document that can be read."),
        "no_text": _tr("{} has no text; it may hold pictures of pages."),
        "damaged": _tr("{} is damaged."),
        "cannot_start": _tr("{} cannot be read, because the system starts no more processes."),
    }[fault].format(name, _limit(fault))


def _limit(fault: Fault) -> str:
    match fault:
        case "too_large":
            return formatting.nbytes(MAX_NBYTES)
        case "too_long":
            return formatting.number(MAX_CHARACTERS)
        case _:
            return formatting.number(MAX_PAGES)
