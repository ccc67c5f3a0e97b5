"""The text of DOCX files (ECMA-376, part 1, chapter 17): paragraphs, headings, lists and tables."""

from collections.abc import Iterator
from typing import BinaryIO
from xml.etree.ElementTree import Element

from app.documents.archive import opened, xml_of
from app.documents.records import Document

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_W_STRICT = "{http://purl.oclc.org/ooxml/wordprocessingml/main}"
_BREAKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}


def read(file: BinaryIO) -> Document:
    """Return a document's text. Raises Unreadable."""
    with opened(file) as archive:
        root = xml_of(archive, "word/document.xml")
    return Document("docx", ["\n\n".join(filter(None, _blocks(root)))])


def _blocks(parent: Element) -> Iterator[str]:
    """Yield the paragraphs and tables below an element, in order."""
    for child in parent:
        match _name(child):
            case "p":
                yield _paragraph(child)
            case "tbl":
                yield "\n".join(_rows(child))
            case _:
                yield from _blocks(child)


def _paragraph(paragraph: Element) -> str:
    style = next((_value(each) for each in paragraph.iter() if _name(each) == "pStyle"), "")
    level = style.removeprefix("Heading")
    is_heading = level != style and level.isdigit()
    is_item = any(_name(each) == "numPr" for each in paragraph.iter())
    text = "".join(_texts(paragraph))
    return "#" * min(6, int(level)) + " " + text if is_heading and text else "- " * is_item + text


def _texts(paragraph: Element) -> Iterator[str]:
    """Yield the text of a paragraph. Text that a tracked change deletes is another element, `delText`."""
    for each in paragraph.iter():
        name = _name(each)
        if name == "t":
            yield each.text or ""
        elif name in _BREAKS and each.tag[0] == "{":
            yield _BREAKS[name]


def _rows(table: Element) -> Iterator[str]:
    for row in table.iter():
        if _name(row) == "tr":
            cells = (" ".join(_blocks(cell)) for cell in row if _name(cell) == "tc")
            yield " | ".join(cells)


def _name(element: Element) -> str:
    """Return an element's name without its namespace, if it is WordprocessingML's; else ""."""
    tag = str(element.tag)
    for space in (_W, _W_STRICT):
        if tag.startswith(space):
            return tag[len(space) :]
    return ""


def _value(element: Element) -> str:
    return element.get(f"{_W}val") or element.get(f"{_W_STRICT}val") or ""
