"""The text of HTML: headings, lists, tables and code as Markdown would write them."""

import codecs
import re
from html.parser import HTMLParser
from typing import BinaryIO

from app.documents.records import MAX_CHARACTERS, Document, Unreadable

_HIDDEN = {"script", "style", "template", "noscript", "svg", "math", "iframe", "object"}
_BLOCKS = {
    "address", "article", "aside", "blockquote", "body", "dd", "div", "dl", "dt", "figcaption", "figure",
    "footer", "form", "header", "hr", "main", "nav", "ol", "p", "section", "table", "title", "ul",
}  # fmt: skip
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([\w:-]{1,40})""", re.IGNORECASE)
_HEAD_NBYTES = 1024  # a page declares its encoding in its first 1024 bytes (HTML standard, 4.2.5.4)


def read(file: BinaryIO) -> Document:
    """Return an HTML page's text. Raises Unreadable if it is too long."""
    content = file.read(8 * MAX_CHARACTERS + 1)
    if len(content) > 8 * MAX_CHARACTERS:
        raise Unreadable("too_long")
    return Document("html", [text_of(content)])


def text_of(content: bytes) -> str:
    """Return the text of an HTML page."""
    parser = _TextParser()
    parser.feed(_decoded(content))
    parser.close()
    return parser.text()


def _decoded(content: bytes) -> str:
    declared = _CHARSET.search(content[:_HEAD_NBYTES])
    names = ["utf-16"] if content[:2] in (b"\xff\xfe", b"\xfe\xff") else ["utf-8-sig"]
    if declared:
        names.append(declared[1].decode("ascii", "replace"))
    for name in names:
        try:
            return codecs.lookup(name).decode(content)[0]
        except (LookupError, UnicodeError):
            continue
    return content.decode("cp1252", "replace")


class _TextParser(HTMLParser):
    """Collects what a reader would see."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[str] = []
        self._hidden = 0  # elements open whose text is not shown
        self._kept = 0  # elements open whose spaces count

    def text(self) -> str:
        """Return the text so far, without empty lines in a row."""
        text = re.sub(r"[ \t]*\n[ \t]*\n\s*\n", "\n\n", "".join(self._parts))
        return text.strip()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _HIDDEN:
            self._hidden += 1
        elif tag == "pre":
            self._kept += 1
            self._add("\n\n```\n")
        elif tag in _HEADINGS:
            self._add(f"\n\n{_HEADINGS[tag]}")
        elif tag in _BLOCKS:
            self._add("\n\n")
        elif tag in ("br", "tr"):
            self._add("\n")
        elif tag in ("td", "th"):
            self._add(" | ")
        elif tag == "li":
            self._add("\n- ")

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        elif tag == "pre":
            self._kept = max(0, self._kept - 1)
            self._add("\n```\n\n")
        elif tag in _HEADINGS or tag in _BLOCKS:
            self._add("\n\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self._add(data if self._kept else re.sub(r"\s+", " ", data))

    def _add(self, text: str) -> None:
        if not self._hidden:
            self._parts.append(text)
