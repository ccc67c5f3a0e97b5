"""What a message is made of once it is read: blocks of pieces that know their source. Knows no Qt."""

from typing import NamedTuple


class Style(NamedTuple):
    """How a piece looks."""

    bold: bool = False
    italic: bool = False
    struck: bool = False
    is_code: bool = False
    colour: str = ""  # a name of `theme.Tokens`; "" is the text's own
    link: str = ""
    formula: str = ""  # LaTeX; the piece is one object character
    is_display: bool = False


class Piece(NamedTuple):
    """Text in one style and the characters [start, stop) of the source that say it.

    Where the lengths differ (an entity, a formula), all of one stands for all of the other;
    where start equals stop, nothing in the source says it.
    """

    text: str
    style: Style
    start: int
    stop: int


class Fence(NamedTuple):
    """A block of code. Attributes: its place in the source, its language."""

    start: int
    language: str


class Layout(NamedTuple):
    """How a block stands.

    Attributes:
        kind: text, heading, code, formula or rule.
        containers: what it is in, outermost first: q for a quote, l for a list.
        is_hanging: it begins with a list marker and a tab.
        is_tight: no space between it and the block before.
        level: of a heading, 1 to 6.
        fence, is_first, is_last: of a line of code.
    """

    kind: str
    containers: str = ""
    is_hanging: bool = False
    is_tight: bool = False
    level: int = 0
    fence: Fence | None = None
    is_first: bool = False
    is_last: bool = False


class Block(NamedTuple):
    layout: Layout
    pieces: tuple[Piece, ...] = ()

    @property
    def containers(self) -> str:
        return self.layout.containers


Cell = tuple[Piece, ...]


class Table(NamedTuple):
    """Attributes: rows of cells, the first is the heading; "", left, center or right for each column."""

    containers: str
    alignments: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def heading(self) -> tuple[object, ...]:
        """What a table is that only grows."""
        return self.containers, self.alignments, self.rows[0]


Part = Block | Table
