"""The data of a parsed message: blocks of pieces, each with its place in the source. Imports no Qt."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from unicodedata import bidirectional

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")

_STRONG = ("L", "R", "AL")

Offsets = Sequence[int]  # for each character of a text, its index in the source, or -1 if it is unknown


class Style(NamedTuple):
    """The style of a piece."""

    bold: bool = False
    italic: bool = False
    struck: bool = False
    is_code: bool = False
    colour: str = ""  # a field of `Palette`; "" is the text colour
    link: str = ""
    formula: str = ""  # LaTeX; the piece is then one object character
    is_display: bool = False


class Piece(NamedTuple):
    """Text in one style and the characters [start, stop) of its source.

    If the lengths differ (an entity, a formula), the whole text stands for the whole source. If start equals
    stop, the text has no source.
    """

    text: str
    style: Style
    start: int
    stop: int


class Fence(NamedTuple):
    """A block of code: its index in the source and its language."""

    start: int
    language: str


class Layout(NamedTuple):
    """The layout of a block.

    Attributes:
        kind: text, heading, code, formula or rule.
        containers: containers of the block, outermost first: q for a quote, l for a list.
        is_hanging: whether the block begins with a list marker and a tab.
        is_tight: whether there is little space between it and the block before.
        level: level of a heading, 1 to 6.
        fence, is_first, is_last: for a line of code, its block, and whether it is the first or last there.
        is_long: whether a line of code is too long to be shown without breaks.
        is_rtl: whether it is written from right to left, so that its containers are on the right.
    """

    kind: str
    containers: str = ""
    is_hanging: bool = False
    is_tight: bool = False
    level: int = 0
    fence: Fence | None = None
    is_first: bool = False
    is_last: bool = False
    is_long: bool = False
    is_rtl: bool = False


class Block(NamedTuple):
    """A paragraph, a heading, a line of code, a displayed formula or a rule."""

    layout: Layout
    pieces: tuple[Piece, ...] = ()

    @property
    def containers(self) -> str:
        return self.layout.containers

    @property
    def is_rtl(self) -> bool:
        return self.layout.is_rtl


Cell = tuple[Piece, ...]


class Table(NamedTuple):
    """A table.

    Attributes:
        containers: see `Layout`.
        alignments: "", left, center or right for each column.
        rows: rows of cells; the first is the heading.
        is_rtl: whether it is written from right to left, and stands on the right.
    """

    containers: str
    alignments: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    is_rtl: bool = False

    @property
    def heading(self) -> tuple[object, ...]:
        """The properties that stay the same while a table grows."""
        return self.containers, self.alignments, self.rows[0], self.is_rtl


Part = Block | Table


class Lines:
    """The lines of a source, by number.

    Attributes:
        base: index of the source in the message, added to every index returned.
    """

    def __init__(self, source: str, base: int) -> None:
        self.base = base
        self._source = source
        self._starts = [found.start() for found in _LINE.finditer(source)]
        self._starts.append(len(source))

    def text(self, line: int) -> str:
        """Return a line without its line ending."""
        return self._source[self._starts[line] : self._starts[line + 1]].rstrip("\r\n")

    def start(self, line: int) -> int:
        """Return the index of a line's first character."""
        return self.base + self._starts[line]

    def stop(self, line: int) -> int:
        """Return the index after a line's last character, before its line ending."""
        return self.start(line) + len(self.text(line))

    def is_ended(self, line: int) -> bool:
        """Whether the line has a line ending, so that no text can be added to it."""
        return self.stop(line) < self.start(line + 1)

    def offsets(self, content: str, first: int) -> list[int]:
        """Return the offsets of `content`, the text of a block.

        Each line of it is the end of a source line; these source lines are consecutive, from number `first`.
        """
        places: list[int] = []
        for number, piece in enumerate(content.split("\n")):
            if number:
                places.append(self.stop(first + number - 1))
            line = self.text(first + number)
            at = line.rfind(piece)
            known = range(self.start(first + number) + at, self.start(first + number) + at + len(piece))
            places.extend(known if at >= 0 else [-1] * len(piece))
        return places

    def cell_offsets(self, content: str, line: int, begin: int) -> tuple[list[int], int]:
        """Return the offsets of a table cell, and the column after the cell.

        content: text of the cell, which is in `line` at or after column `begin`.
        """
        text = self.text(line)
        at = begin
        while at < len(text) and text[at] in "| \t":
            at += 1
        places: list[int] = []
        for character in content:
            if character == "|" and text[at : at + 2] == "\\|":
                at += 1
            places.append(self.start(line) + at if text[at : at + 1] == character else -1)
            at += 1
        return places, at if content else begin


def is_rtl(pieces: Iterable[Piece]) -> bool:
    """Return whether the first letter with a direction is written from right to left (Unicode's UAX 9, P2 and
    P3)."""
    letters = (letter for piece in pieces for letter in piece.text)
    directions = (direction for letter in letters if (direction := bidirectional(letter)) in _STRONG)
    return next(directions, "L") != "L"


def split(text: str, style: Style, offsets: Offsets) -> Iterator[Piece]:
    """Yield `text` in pieces, each of which is contiguous in the source."""
    begin = 0
    for i in range(1, len(text) + 1):
        if i == len(text) or offsets[i] != offsets[i - 1] + 1 or offsets[begin] < 0:
            start = max(0, offsets[begin])
            stop = start + i - begin if offsets[begin] >= 0 else start
            yield Piece(text[begin:i], style, start, stop)
            begin = i
