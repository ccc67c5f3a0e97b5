"""The parts of a top-level block, made from its tokens. Imports no Qt."""

import re
from collections.abc import Iterator
from itertools import chain

from markdown_it.token import Token

from app.rendering import spans as inline_spans
from app.rendering.code_colours import Growing, Span, highlight
from app.rendering.pieces import (
    Block,
    Cell,
    Fence,
    Layout,
    Lines,
    Offsets,
    Part,
    Piece,
    Style,
    Table,
    is_rtl,
    split,
)
from app.rendering.spans import IsDrawable, NameImage

# Maximum number of cells of a table. The remaining rows of a larger one, which would take long to lay out,
# are shown as source.
MAX_CELLS = 1_000

# Maximum number of characters of a line of code that is shown without breaks: Qt paints all of a line, also
# where it is not in view.
MAX_UNBROKEN = 2_000

_TASK = re.compile(r"\[([ xX])\] ")


def as_written(lines: Lines, number: int) -> Block:
    """Return a line of the source as a block of plain text."""
    places = range(lines.start(number), lines.stop(number))
    return Block(Layout("text", is_tight=True), tuple(split(lines.text(number), Style(), places)))


class BlockParser:
    """Turns the tokens of a block into parts, in one pass."""

    def __init__(
        self,
        tokens: list[Token],
        lines: Lines,
        growing: Growing,
        is_drawable: IsDrawable,
        name_image: NameImage,
        rows: int = 0,
    ) -> None:
        """rows: number of rows that a first table has had before."""
        self._tokens = iter(tokens)
        self._lines = lines
        self._growing = growing
        self._is_drawable = is_drawable
        self._name_image = name_image
        self._rows_before = rows
        self._containers = ""
        self._begins_list = False  # the next block is the first of an outermost list
        self._marker: Piece | None = None  # marker of a list item whose first block is not read yet
        self._marker_end = (-1, 0)  # line and column after the marker read last

    def parts(self) -> Iterator[Part]:
        for token in self._tokens:
            kind, _, edge = token.type.rpartition("_")
            if edge == "close" and kind in ("blockquote", "bullet_list", "ordered_list"):
                self._containers = self._containers[:-1]
            elif token.type == "list_item_open":
                self._read_marker(token)
            elif token.type == "paragraph_open":
                is_tight = token.hidden and not self._begins_list
                yield self._prose(next(self._tokens), Layout("text", is_tight=is_tight), Style())
            elif token.type == "heading_open":
                level = int(token.tag.removeprefix("h"))
                yield self._prose(next(self._tokens), Layout("heading", level=level), Style(bold=True))
            elif token.type not in ("paragraph_close", "heading_close"):
                yield from self._bare_marker()
                yield from self._other(token)

    def _other(self, token: Token) -> Iterator[Part]:
        """Read a block that cannot share its line with a list item's marker."""
        match token.type:
            case "blockquote_open":
                self._containers += "q"
            case "bullet_list_open" | "ordered_list_open":
                self._begins_list = "l" not in self._containers
                self._containers += "l"
            case "fence" | "code_block":
                yield from self._code(token)
            case "formula_block" | "formula_open":
                yield from self._formula(token)
            case "table_open":
                yield from self._table()
            case "hr":
                yield Block(Layout("rule", self._containers))

    def _read_marker(self, item: Token) -> None:
        line = _lines_of(item)[0]
        written = item.info + item.markup
        seen, column = self._marker_end
        column = self._lines.text(line).find(written, column if seen == line else 0)
        start = self._lines.start(line) + column
        self._marker_end = (line, column + len(written))
        shown = f"{written}\t" if item.info else "•\t"
        self._marker = Piece(shown, Style(colour="muted"), start, start + len(written))

    def _take_marker(self) -> list[Piece]:
        marker, self._marker = self._marker, None
        self._begins_list = False
        return [marker] if marker else []

    def _bare_marker(self) -> Iterator[Block]:
        """Yield the marker of an item that does not begin with a paragraph, on its own line."""
        if self._marker:
            layout = Layout("text", self._containers, is_hanging=True, is_tight=not self._begins_list)
            yield Block(layout, tuple(self._take_marker()))

    def _prose(self, inline: Token, layout: Layout, style: Style) -> Block:
        offsets = self._lines.offsets(inline.content, _lines_of(inline)[0])
        pieces = self._spans(inline, offsets, style)
        marker = self._take_marker()
        if marker and pieces and (task := _TASK.match(pieces[0].text)):
            box = "☐\t" if task[1] == " " else "☑\t"
            first = pieces[0]
            marker = [Piece(box, marker[0].style, first.start, first.start + len("[ ]"))]
            pieces[0] = first._replace(text=first.text[task.end() :], start=first.start + task.end())
        layout = layout._replace(containers=self._containers, is_hanging=bool(marker), is_rtl=is_rtl(pieces))
        return Block(layout, tuple(marker + pieces))

    def _spans(self, inline: Token, offsets: Offsets, style: Style) -> list[Piece]:
        return list(inline_spans.read(inline, offsets, style, self._is_drawable, self._name_image))

    def _code(self, token: Token) -> Iterator[Block]:
        first, last = _lines_of(token)
        language = token.info.split()[0] if token.info.strip() else ""
        fence = Fence(self._lines.start(first), language)
        content = token.content.removesuffix("\n")
        offsets = self._lines.offsets(content, first + (token.type == "fence")) if content else []
        is_closed = token.type == "code_block" or last - first > content.count("\n") + 2
        coloured = (highlight if is_closed else self._growing.highlight)(content, language)
        lines = list(_pieces(content, coloured, offsets))
        for number, pieces in enumerate(lines):
            yield Block(
                Layout(
                    "code",
                    self._containers,
                    is_tight=True,
                    fence=fence,
                    is_first=number == 0,
                    is_last=number == len(lines) - 1,
                    is_long=sum(len(piece.text) for piece in pieces) > MAX_UNBROKEN,
                ),
                pieces,
            )

    def _formula(self, token: Token) -> Iterator[Block]:
        offsets = self._lines.offsets(token.markup, _lines_of(token)[0])
        if token.type == "formula_block" and self._is_drawable(token.content, True):
            style = Style(formula=token.content, is_display=True)
            yield Block(
                Layout("formula", self._containers),
                (inline_spans.whole(inline_spans.OBJECT, style, offsets),),
            )
            return
        begin = 0
        style = Style(is_code=True, colour="muted")
        for text in token.markup.split("\n"):
            layout = Layout("text", self._containers, is_tight=begin > 0)
            yield Block(layout, tuple(split(text, style, offsets[begin : begin + len(text)])))
            begin += len(text) + 1

    def _table(self) -> Iterator[Part]:
        rows: list[tuple[Cell, ...]] = []
        row: list[Cell] = []
        alignments: list[str] = []
        unread: list[int] = []  # numbers of the source lines beyond MAX_CELLS
        line = column = 0
        for token in self._tokens:
            match token.type:
                case "tr_open":
                    row, line, column = [], _lines_of(token)[0], 0
                    if (self._rows_before + len(rows)) * len(alignments) >= MAX_CELLS:
                        unread.append(line)
                case "th_open":
                    alignments.append(str(token.attrs.get("style", "")).removeprefix("text-align:"))
                case "inline" if not unread:
                    offsets, column = self._lines.cell_offsets(token.content, line, column)
                    row.append(tuple(self._spans(token, offsets, Style(bold=not rows))))
                case "tr_close" if not unread:
                    rows.append(tuple(row))
                case "table_close":
                    break
        heading = chain.from_iterable(rows[0]) if rows else ()
        yield Table(self._containers, tuple(alignments), tuple(rows), is_rtl(heading))
        for number in unread:
            yield as_written(self._lines, number)


def _lines_of(token: Token) -> tuple[int, int]:
    assert token.map is not None
    return token.map[0], token.map[1]


def _pieces(content: str, spans: list[Span], offsets: Offsets) -> Iterator[tuple[Piece, ...]]:
    """Yield the pieces of each line of code; a piece has one colour."""
    coloured = iter([*spans, (len(content), len(content), "")])
    start, stop, kind = next(coloured)
    begin = 0
    for text in content.split("\n"):
        pieces: list[Piece] = []
        at, end = begin, begin + len(text)
        while at < end:
            while stop <= at:
                start, stop, kind = next(coloured)
            until = min(end, stop) if start <= at else min(end, start)
            style = Style(is_code=True, colour=f"code_{kind}" if start <= at else "")
            pieces += split(content[at:until], style, offsets[at:until])
            at = until
        yield tuple(pieces)
        begin = end + 1
