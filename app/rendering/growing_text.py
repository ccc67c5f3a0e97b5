"""Incremental parsing of growing Markdown: only its last block is parsed again. Imports no Qt."""

import re
from itertools import islice

from app.rendering.blocks import MAX_CELLS
from app.rendering.parser import MarkdownParser, MarkdownSection
from app.rendering.pieces import Block, Cell, Fence, Part, Table

# Maximum number of characters that are parsed again when text is added, and of those that may be markup:
# each of them takes up to 20 µs, a letter next to nothing. If the last block grows longer, its beginning is
# settled, which means that it is not parsed again. Tables have a limit of characters of their own: one in a
# list or a quote cannot be continued, and its rest is shown as text.
MAX_GROWING = 5_000
MAX_GROWING_TABLE = 15_000
MAX_GROWING_MARKS = 800

# Maximum numbers of characters and of marks that should be added at once.
SLICE = 2_000
SLICE_MARKS = 250

_MARK = re.compile(r"[^\w\s]|\n")

_APART = re.compile(r"\n\n(?=[^\s`~])")
_LINE_START = re.compile(r"\n(?=[^\s`~])")
_SENTENCE_END = re.compile(r"[.!?][\"'”’)]* +|[。！？][”’）」』]*")
_WORD_END = re.compile(r"\s+")
_TWO_LINES = re.compile(r"(?:[^\r\n]*(?:\r\n|\r|\n)){2}")
_FENCE = re.compile(r"[ >]*(?:```|~~~)")


def slice_end(text: str, begin: int) -> int:
    """Return the end of the slice of `text` that begins at `begin` and can be added at once."""
    marks = _MARK.finditer(text, begin, begin + SLICE)
    beyond = next(islice(marks, SLICE_MARKS, None), None)
    return beyond.start() if beyond else min(len(text), begin + SLICE)


def _is_longer(text: str, limit: int) -> bool:
    """Return whether a text is too long, or has too many marks, to be parsed again and again."""
    if len(text) <= MAX_GROWING_MARKS:
        return False
    return len(text) > limit or sum(1 for _ in _MARK.finditer(text)) > MAX_GROWING_MARKS


class GrowingText:
    """The parsed parts of a growing text.

    Attributes:
        text: the Markdown so far.
        settled: number of leading parts that no longer change.
    """

    def __init__(self, reader: MarkdownParser) -> None:
        self.text = ""
        self.settled = 0
        self._reader = reader
        self._known_definitions = reader.definitions
        self._read_to = 0  # index in `text` of the end of the settled parts
        self._open: Fence | None = None  # block of code that continues after the settled parts
        self._rows: tuple[tuple[Cell, ...], ...] = ()  # of a table that continues after the settled text
        self._opening = ""  # first line of that code, or first two lines of that table
        self._sections: list[MarkdownSection] = []  # those of the unsettled text
        self._in_list = False  # whether a list continues after the settled parts
        self._is_long = False  # whether the unsettled text is too long to be parsed again as a whole

    @property
    def unsettled(self) -> str:
        """The text after the settled parts, which the next `append` parses again."""
        return self.text[self._read_to :]

    @property
    def has_late_definitions(self) -> bool:
        """Whether link definitions have arrived that earlier text may use."""
        return self._reader.definitions > self._known_definitions

    def append(self, text: str) -> list[Part]:
        """Add text. Return the parts of all text that was not settled before the call."""
        settled = self._settle_by_force() if self._is_long else []
        self.text += text
        self._sections = self._read(self.unsettled)
        parts = _parts(self._sections)
        self._settle()
        limit = MAX_GROWING_TABLE if parts and isinstance(parts[-1], Table) else MAX_GROWING
        self._is_long = _is_longer(self.unsettled, limit)
        return settled + parts

    def _read(self, source: str) -> list[MarkdownSection]:
        """Parse `source`, which starts where the settled text ends."""
        if self._rows:
            return self._read_rows(source)
        if self._open is None:
            sections = self._reader.read(source, self._read_to)
            return _joined(sections) if self._in_list else sections
        opening = self._opening + "\n"
        first, *others = self._reader.read(opening + source, self._read_to - len(opening))
        parts: list[Part] = []
        for part in first.parts:
            assert isinstance(part, Block)
            parts.append(Block(part.layout._replace(fence=self._open, is_first=False), part.pieces))
        return [first._replace(start=self._read_to, parts=parts), *others]

    def _read_rows(self, source: str) -> list[MarkdownSection]:
        """Parse `source`, which starts with a row of the table that continues, or with what follows it.

        The table is the first part, unless it is full: then it is settled.
        """
        base = self._read_to - len(self._opening)
        first, *others = self._reader.read(self._opening + source, base, rows=len(self._rows) - 1)
        table, *beyond = first.parts
        assert isinstance(table, Table)
        whole = table._replace(rows=self._rows + table.rows[1:])
        parts = beyond if _is_full(self._rows) else [whole, *beyond]
        return [first._replace(start=self._read_to, parts=parts), *others]

    def _settle(self) -> None:
        """Settle all before the last block whose beginning is certain."""
        for number in range(len(self._sections) - 1, 0, -1):
            if self._sections[number].is_sure:
                self._open = None
                self._rows = ()
                self._in_list = False
                self._advance(self._sections[number].start, len(_parts(self._sections[:number])))
                self._sections = self._sections[number:]
                return

    def _settle_by_force(self) -> list[Part]:
        """Settle most of the text. Return the parts that no longer change."""
        opening = self._open_table()
        return self._settle_rows(opening) if opening else self._settle_text()

    def _open_table(self) -> str:
        """Return the first two lines of the table at the end of the text, or "" if there is none, or if it
        cannot be continued: in a list or a quote, with a long heading, or with no other row to settle."""
        if not self._sections:
            return ""
        *before, last = self._sections
        if self._rows and not before:
            return self._opening if last.tail > self._read_to else ""
        if not last.parts or not isinstance(last.parts[0], Table) or last.parts[0].containers:
            return ""
        found = _TWO_LINES.match(self.text, last.start)
        is_usable = found and found.end() < last.tail and not _is_longer(found[0], MAX_GROWING)
        return found[0] if found and is_usable else ""

    def _settle_rows(self, opening: str) -> list[Part]:
        """Settle the text up to the last row of the table that it ends with. The table itself still changes,
        until it is full."""
        *before, last = self._sections
        *settled, end = last.parts
        if isinstance(end, Table):
            self._rows = end.rows[:-1]
        elif settled and isinstance(settled[0], Table):
            self._rows = settled[0].rows
        self._opening = opening
        self._open = None
        self._in_list = False
        settled = [*_parts(before), *settled]
        self._advance(last.tail, len(settled))
        return settled

    def _settle_text(self) -> list[Part]:
        """Settle the text up to its last blank line, else its last unindented line, its last sentence or its
        last word."""
        source = self.unsettled
        breaks = [*_LINE_START.finditer(source)][-1:] + [*_APART.finditer(source)][-1:]
        if not breaks:
            breaks = [*_SENTENCE_END.finditer(source)][-1:] or [*_WORD_END.finditer(source)][-1:]
        cut = breaks[-1].end() if breaks else len(source)
        parts = _parts(self._read(source[:cut]))
        last = parts[-1] if parts else None
        fence = self._open_fence(source[:cut]) if last and _fence(last) else None
        if fence and isinstance(last, Block):
            parts[-1] = Block(last.layout._replace(is_last=False), last.pieces)
        if fence != self._open:
            self._opening = self.text[fence.start :].partition("\n")[0] if fence else ""
        self._open = fence
        self._rows = ()
        self._in_list = last is not None and last.containers.startswith("l")
        self._advance(self._read_to + cut, len(parts))
        return parts

    def _advance(self, read_to: int, parts: int) -> None:
        """Count the text before `read_to`, and so many more parts, as settled."""
        self._read_to = read_to
        self._reader.keep_definitions(self._read_to)
        self.settled += parts

    def _open_fence(self, source: str) -> Fence | None:
        """Return the fence that `source` leaves open outside lists, or None."""
        parts = _parts(self._read(source + "x"))
        fence = _fence(parts[-1]) if parts else None
        return fence if fence and _FENCE.match(self.text, fence.start) else None


def _fence(part: Part) -> Fence | None:
    """Return the fence of a line of code outside lists, or None."""
    return part.layout.fence if isinstance(part, Block) and "l" not in part.containers else None


def _is_full(rows: tuple[tuple[Cell, ...], ...]) -> bool:
    """Return whether a table has as many rows as are shown as a table."""
    return len(rows) * len(rows[0]) >= MAX_CELLS if rows else False


def _parts(sections: list[MarkdownSection]) -> list[Part]:
    return [part for section in sections for part in section.parts]


def _joined(sections: list[MarkdownSection]) -> list[MarkdownSection]:
    """Reduce the space before a list item that is the first part: the list began in the settled text."""
    first = sections[0].parts[0] if sections and sections[0].parts else None
    if not isinstance(first, Block) or not first.layout.is_hanging:
        return sections
    tight = Block(first.layout._replace(is_tight=True), first.pieces)
    return [sections[0]._replace(parts=[tight, *sections[0].parts[1:]]), *sections[1:]]
