"""The writer that adds the parts of a message to the end of a document and removes them from there."""

from collections.abc import Iterable, Iterator, Sequence

from PySide6.QtGui import QTextCursor, QTextDocument, QTextTable

from app.rendering.look import TextStyle
from app.rendering.pieces import Block, Layout, Part, Piece, Style, Table
from app.rendering.source_map import SourceRun, runs, units

_CELL = Layout("text")


class DocumentWriter:
    """Writes parts at the end of one document. Positions are those of `QTextCursor`."""

    def __init__(self, document: QTextDocument) -> None:
        self._document = document

    def end(self) -> int:
        """Return the last position of the document."""
        return self._document.characterCount() - 1

    def add(self, part: Part, before: Part | None, look: TextStyle) -> list[SourceRun]:
        """Write `part` after `before`, the last part. Return the runs of `part`."""
        cursor = self._select_from(self.end())
        if isinstance(part, Table):
            return self._add_table(cursor, part, before, look)
        if before is not None:  # keeps the gap below a table, where Qt itself leaves no space
            cursor.insertBlock()
        self._dress(cursor, part.layout, look)
        position = cursor.position()
        _write(cursor, part.pieces, part.layout, look)
        return list(runs(part.pieces, position))

    def change(self, old: Block, new: Block, look: TextStyle) -> list[SourceRun]:
        """Replace the last block, `old`, with `new`. Return the runs of `new`.

        The beginning that both have in common is left as it is, so that Qt has less text to lay out again.
        """
        position = self._document.lastBlock().position()
        looks_alike = (old.layout.kind, old.layout.level) == (new.layout.kind, new.layout.level)
        kept = common(old.pieces, new.pieces) if looks_alike else 0
        rest = list(new.pieces[kept:])
        begin = position + sum(units(piece.text) for piece in new.pieces[:kept])
        if looks_alike and rest and kept < len(old.pieces) and rest[0].style == old.pieces[kept].style:
            same = common(rest[0].text, old.pieces[kept].text)
            begin += units(rest[0].text[:same])
            rest[0] = rest[0]._replace(text=rest[0].text[same:])
        cursor = self._select_from(begin)
        cursor.removeSelectedText()
        if old.layout != new.layout:
            self._dress(cursor, new.layout, look)
        _write(cursor, rest, new.layout, look)
        return list(runs(new.pieces, position))

    def grow(self, old: Table, new: Table, look: TextStyle) -> list[SourceRun]:
        """Replace the rows of the last part, a table, with those of `new`. Return the runs of `new`."""
        table = self._document.rootFrame().childFrames()[-1]
        assert isinstance(table, QTextTable)
        kept = common(old.rows, new.rows)
        if len(old.rows) > kept:
            table.removeRows(kept, len(old.rows) - kept)
        if len(new.rows) > kept:
            table.appendRows(len(new.rows) - kept)
        _fill(table, new, kept, look)
        return list(_table_runs(table, new))

    def cut(self, begin: int, before: Part | None, look: TextStyle) -> None:
        """Remove everything from `begin` on; `before` is the last part that stays."""
        cursor = self._select_from(begin)
        cursor.removeSelectedText()
        if isinstance(before, Block):
            self._dress(cursor, before.layout, look)
        else:
            cursor.setBlockFormat(look.gap())
        if before is None:
            self._make_room(0)

    def _dress(self, cursor: QTextCursor, layout: Layout, look: TextStyle) -> None:
        is_first = cursor.block().position() == 0
        made = look.block(layout, is_first)
        cursor.setBlockFormat(made)
        cursor.setBlockCharFormat(look.text(Style(is_code=layout.kind == "code"), layout))
        if is_first:
            self._make_room(made.topMargin())

    def _make_room(self, above: float) -> None:
        """Set the space above the document in pixels, since Qt omits the margin above its first block."""
        root = self._document.rootFrame()
        made = root.frameFormat()
        if made.topMargin() != above:
            made.setTopMargin(above)
            root.setFrameFormat(made)

    def _select_from(self, position: int) -> QTextCursor:
        cursor = QTextCursor(self._document)
        cursor.setPosition(position)
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def _add_table(
        self, cursor: QTextCursor, part: Table, before: Part | None, look: TextStyle
    ) -> list[SourceRun]:
        if not isinstance(before, Block):
            cursor.setBlockFormat(look.gap())
        columns = len(part.alignments)
        table = cursor.insertTable(len(part.rows), columns, look.table(part.containers, part.is_rtl))
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.setBlockFormat(look.gap())
        _fill(table, part, 0, look)
        return list(_table_runs(table, part))


def common(one: Sequence[object], other: Sequence[object]) -> int:
    """Return the length of the common beginning of two sequences."""
    shorter = min(len(one), len(other))
    return next((i for i in range(shorter) if one[i] != other[i]), shorter)


def _write(cursor: QTextCursor, pieces: Iterable[Piece], layout: Layout, look: TextStyle) -> None:
    for piece in pieces:
        cursor.insertText(piece.text, look.text(piece.style, layout))


def _fill(table: QTextTable, part: Table, first_row: int, look: TextStyle) -> None:
    for number in range(first_row, len(part.rows)):
        for column, pieces in enumerate(part.rows[number]):
            cell = table.cellAt(number, column)
            cell.setFormat(look.cell(is_heading=number == 0))
            cursor = cell.firstCursorPosition()
            cursor.setBlockFormat(look.cell_block(part.alignments[column]))
            _write(cursor, pieces, _CELL, look)


def _table_runs(table: QTextTable, part: Table) -> Iterator[SourceRun]:
    for number, row in enumerate(part.rows):
        for column, pieces in enumerate(row):
            yield from runs(pieces, table.cellAt(number, column).firstPosition())
