"""Reads one file of any kind. It runs in a process of its own, since files come from strangers."""

from collections.abc import Callable
from importlib import import_module
from typing import BinaryIO

from app.documents.kinds import kind_of
from app.documents.records import MAX_CHARACTERS, MAX_PAGES, Document, Unreadable

READERS = {
    "text": "plain",
    "html": "web_page",
    "pdf": "pdf",
    "docx": "word",
    "xlsx": "workbook",
    "epub": "book",
    "picture": "picture",
}  # modules, imported only where they are needed


def read(file: BinaryIO, name: str) -> Document:
    """Return the document in a file. name: its name, or the end of it.

    Raises Unreadable. Any other exception means that the file is damaged: libraries raise many kinds.
    """
    module = import_module(f"app.documents.{READERS[kind_of(file, name)]}")
    reads: Callable[[BinaryIO], Document] = module.read
    document = reads(file)
    if len(document.pages) > MAX_PAGES:
        raise Unreadable("too_many_pages")
    if sum(map(len, document.pages)) > MAX_CHARACTERS:
        raise Unreadable("too_long")
    if not document.picture and not any(page.strip() for page in document.pages):
        raise Unreadable("no_text")
    return document
