"""Text as it is: code, Markdown, CSV and the like."""

from typing import BinaryIO

from app.documents.records import MAX_CHARACTERS, Document, Unreadable

MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}  # at the start of a file: what it is written in


def read(file: BinaryIO) -> Document:
    """Return a text file. Raises Unreadable if it is not text in UTF-8 or UTF-16, or too long."""
    content = file.read(4 * MAX_CHARACTERS + 1)  # UTF-8 takes at most 4 bytes for a character
    try:
        text = content.decode(MARKS.get(content[:2], "utf-8-sig"))
    except UnicodeDecodeError as error:
        raise Unreadable("too_long" if len(content) > 4 * MAX_CHARACTERS else "not_text") from error
    if "\0" in text:
        raise Unreadable("not_text")
    return Document("text", [text])
