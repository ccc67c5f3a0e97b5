"""The text of PDF files, by pypdf."""

from typing import BinaryIO

from pypdf import PdfReader
from pypdf.errors import DependencyError, FileNotDecryptedError

from app.documents.records import MAX_CHARACTERS, MAX_PAGES, Document, Unreadable


def read(file: BinaryIO) -> Document:
    """Return a PDF's text by page. Raises Unreadable; pypdf's own errors mean that the file is damaged."""
    reader = PdfReader(file)
    try:
        # An empty password opens what is only protected from printing.
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("password")
        if len(reader.pages) > MAX_PAGES:
            raise Unreadable("too_many_pages")
        pages, length = [], 0
        for page in reader.pages:
            pages.append(page.extract_text())
            length += len(pages[-1])
            if length > MAX_CHARACTERS:
                raise Unreadable("too_long")
    except (DependencyError, FileNotDecryptedError) as error:  # AES needs another package
        raise Unreadable("password") from error
    return Document("pdf", pages)
