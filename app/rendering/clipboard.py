"""The plain text of a selection, as it would be typed: LaTeX formulas, tabs between cells, blank lines."""

from PySide6.QtGui import QTextBlock, QTextCursor

from app.rendering.dialect import inert
from app.rendering.message_document import MessageDocument
from app.rendering.spans import OBJECT


def plain(document: MessageDocument, start: int, stop: int) -> str:
    """Return the text between two positions of `document`."""
    copied = ""
    before: QTextBlock | None = None
    block = document.findBlock(start)
    while block.isValid() and block.position() <= stop:
        if not (block.text() == "" and _is_gap(block)):
            if before is not None:
                copied += _break(before, block)
            copied += _text(document, block, start, stop)
            before = block
        block = block.next()
    return copied.replace("\u2028", "\n")


def _text(document: MessageDocument, block: QTextBlock, start: int, stop: int) -> str:
    cursor = QTextCursor(document)
    cursor.setPosition(max(start, block.position()))
    cursor.setPosition(min(stop, block.position() + block.length() - 1), QTextCursor.MoveMode.KeepAnchor)
    text = cursor.selectedText()
    first, *others = text.split(OBJECT)
    at = cursor.selectionStart()
    for part in others:
        at = block.position() + block.text().index(OBJECT, at - block.position())
        place = document.source_map.source(at)
        first += inert(document.text[slice(*place)]) if place else ""
        first += part
        at += 1
    if block.blockFormat().textIndent() < 0 and cursor.selectionStart() == block.position():
        marker, _, rest = first.partition("\t")
        first = f"{'-' if marker == '•' else marker} {rest}"
    return first


def _break(before: QTextBlock, block: QTextBlock) -> str:
    cursor = QTextCursor(block)
    table = cursor.currentTable()
    if table is not None and QTextCursor(before).currentTable() == table:
        row = table.cellAt(before.position()).row()
        return "\t" if table.cellAt(block.position()).row() == row else "\n"
    is_apart = block.blockFormat().topMargin() > 0.5 * block.charFormat().font().pixelSize()
    return "\n\n" if is_apart or table is not None else "\n"


def _is_gap(block: QTextBlock) -> bool:
    """Whether this is the empty block beside a table."""
    return block.blockFormat().lineHeight() == 1
