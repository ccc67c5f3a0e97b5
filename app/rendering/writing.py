"""Writes the parts of a message at the end of a document, and takes them back from there."""

from collections.abc import Iterable, Iterator, Sequence

from PySide6.QtGui import QTextCursor, QTextDocument, QTextTable

from app.rendering.look import Look
from app.rendering.pieces import Block, Layout, Part, Piece, Style, Table
from app.rendering.source_map import Run, runs, units

_CELL = Layout("text")


class Writer:
    """Positions are those of `QTextCursor`."""

    def __init__(self, document: QTextDocument) -> None:
        self._document = document

    def end(self) -> int:
        return self._document.characterCount() - 1

    def add(self, part: Part, before: Part | None, look: Look) -> list[Run]:
        """Write `part` after `before`; what says it."""
        cursor = self._select_from(self.end())
        if isinstance(part, Table):
            return self._add_table(cursor, part, before, look)
        if before is not None:  # below a table, the gap stays: Qt leaves out the space between it and a block
            cursor.insertBlock()
        self._dress(cursor, part.layout, look)
        position = cursor.position()
        _write(cursor, part.pieces, part.layout, look)
        return list(runs(part.pieces, position))

    def change(self, old: Block, new: Block, look: Look) -> list[Run]:
        """The last block says `new` instead of `old`; what says it.

        What both begin with stays as it is, so that little is laid out again.
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

    def grow(self, old: Table, new: Table, look: Look) -> list[Run]:
        """The last table, whose heading stays, has the rows of `new` instead of `old`; what says it."""
        table = self._document.rootFrame().childFrames()[-1]
        assert isinstance(table, QTextTable)
        kept = common(old.rows, new.rows)
        if len(old.rows) > kept:
            table.removeRows(kept, len(old.rows) - kept)
        if len(new.rows) > kept:
            table.appendRows(len(new.rows) - kept)
        _fill(table, new, kept, look)
        return list(_table_runs(table, new))

    def cut(self, begin: int, before: Part | None, look: Look) -> None:
        """Take away all that was written since the document ended at `begin`, after `before`."""
        cursor = self._select_from(begin)
        cursor.removeSelectedText()
        if isinstance(before, Block):
            self._dress(cursor, before.layout, look)
        else:
            cursor.setBlockFormat(look.gap())
        if before is None:
            self._make_room(0)

    def _dress(self, cursor: QTextCursor, layout: Layout, look: Look) -> None:
        is_first = cursor.block().position() == 0
        made = look.block(layout, is_first)
        cursor.setBlockFormat(made)
        cursor.setBlockCharFormat(look.text(Style(is_code=layout.kind == "code"), layout))
        if is_first:
            self._make_room(made.topMargin())

    def _make_room(self, above: float) -> None:
        """Pixels above all: Qt leaves out the space above a block that stands first."""
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

    def _add_table(self, cursor: QTextCursor, part: Table, before: Part | None, look: Look) -> list[Run]:
        if not isinstance(before, Block):
            cursor.setBlockFormat(look.gap())
        columns = len(part.alignments)
        table = cursor.insertTable(len(part.rows), columns, look.table(part.containers))
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.setBlockFormat(look.gap())
        _fill(table, part, 0, look)
        return list(_table_runs(table, part))


def common(one: Sequence[object], other: Sequence[object]) -> int:
    """How many the two begin with alike."""
    shorter = min(len(one), len(other))
    return next((i for i in range(shorter) if one[i] != other[i]), shorter)


def _write(cursor: QTextCursor, pieces: Iterable[Piece], layout: Layout, look: Look) -> None:
    for piece in pieces:
        cursor.insertText(piece.text, look.text(piece.style, layout))


def _fill(table: QTextTable, part: Table, first_row: int, look: Look) -> None:
    for number in range(first_row, len(part.rows)):
        for column, pieces in enumerate(part.rows[number]):
            cell = table.cellAt(number, column)
            cell.setFormat(look.cell(is_heading=number == 0))
            cursor = cell.firstCursorPosition()
            cursor.setBlockFormat(look.cell_block(part.alignments[column]))
            _write(cursor, pieces, _CELL, look)


def _table_runs(table: QTextTable, part: Table) -> Iterator[Run]:
    for number, row in enumerate(part.rows):
        for column, pieces in enumerate(row):
            yield from runs(pieces, table.cellAt(number, column).firstPosition())
