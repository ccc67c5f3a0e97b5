"""ZIP archives and the XML in them, neither of which is trusted."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from app.documents.records import Unreadable

MAX_PARTS = 20_000
MAX_UNPACKED = 300 << 20  # bytes of all parts together
MAX_PART = 60 << 20  # bytes of a part that is parsed
MAX_RATIO = 500  # text is packed to a tenth, spreadsheets to a fiftieth of their size
SMALL = 1 << 20  # bytes of a part whose ratio does not matter


@contextmanager
def opened(file: BinaryIO) -> Iterator[zipfile.ZipFile]:
    """Give the archive in a file. Raises Unreadable if it is encrypted, a bomb or damaged.

    The sizes that an archive states bound what `zipfile` unpacks, so they need not be true.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            parts = archive.infolist()
            if any(part.flag_bits & 1 for part in parts):
                raise Unreadable("password")
            if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_UNPACKED:
                raise Unreadable("bomb")
            if any(part.file_size > max(SMALL, MAX_RATIO * part.compress_size) for part in parts):
                raise Unreadable("bomb")
            yield archive
    except zipfile.BadZipFile as error:
        raise Unreadable("damaged") from error


def part_of(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a part of an archive. Raises Unreadable if it is missing or too large."""
    try:
        with archive.open(name) as part:
            content = part.read(MAX_PART + 1)
    except KeyError as error:
        raise Unreadable("damaged") from error
    if len(content) > MAX_PART:
        raise Unreadable("too_large")
    return content


def xml_of(archive: zipfile.ZipFile, name: str) -> Element:
    """Return the root of an XML part. Raises Unreadable if it declares entities, which can grow without
    bounds and name other files, or is damaged."""
    try:
        root: Element = fromstring(part_of(archive, name), forbid_dtd=True)
    except DefusedXmlException as error:
        raise Unreadable("bomb") from error
    except ParseError as error:
        raise Unreadable("damaged") from error
    return root
