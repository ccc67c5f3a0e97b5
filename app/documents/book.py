"""The text of EPUB books (W3C, EPUB 3.3), one text for each section, in the order of reading."""

import posixpath
import zipfile
from collections.abc import Iterator
from typing import BinaryIO
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from app.documents.archive import opened, part_of, xml_of
from app.documents.records import MAX_CHARACTERS, Document, Unreadable
from app.documents.web_page import text_of

_PAGES = ("application/xhtml+xml", "text/html")


def read(file: BinaryIO) -> Document:
    """Return a book's text. Raises Unreadable."""
    with opened(file) as archive:
        if "META-INF/rights.xml" in archive.namelist():
            raise Unreadable("password")
        sections: list[str] = []
        length = 0
        for name in _sections(archive):
            sections.append(text_of(part_of(archive, name)))
            length += len(sections[-1])
            if length > MAX_CHARACTERS:
                raise Unreadable("too_long")
    return Document("epub", sections)


def _sections(archive: zipfile.ZipFile) -> Iterator[str]:
    """Yield the names of the parts that are read, in order."""
    rootfile = next(_named(xml_of(archive, "META-INF/container.xml"), "rootfile"), None)
    if rootfile is None:
        raise Unreadable("damaged")
    package = rootfile.get("full-path", "")
    root = xml_of(archive, package)
    items = {
        item.get("id"): item.get("href", "")
        for item in _named(root, "item")
        if item.get("media-type") in _PAGES
    }
    folder, names = posixpath.dirname(package), set(archive.namelist())
    for reference in _named(root, "itemref"):
        href = items.get(reference.get("idref"), "")
        name = posixpath.normpath(posixpath.join(folder, unquote(href)))
        if name in names:
            yield name


def _named(root: Element, name: str) -> Iterator[Element]:
    return (each for each in root.iter() if str(each.tag).rpartition("}")[2] == name)
