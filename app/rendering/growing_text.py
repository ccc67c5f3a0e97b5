"""Markdown that grows, read a piece at a time: only the block at its end is read anew. Knows no Qt."""

import re

from app.rendering.pieces import Block, Fence, Part, Table
from app.rendering.reading import Reader, Section

# Characters of a block that is read anew as long as it grows; what is longer is settled bit by bit, so that
# a piece of text never costs more than this much to show. A table cannot be parted.
MAX_GROWING = 5_000
MAX_GROWING_TABLE = 15_000

_APART = re.compile(r"\n\n(?=[^\s`~])")
_LINE_START = re.compile(r"\n(?=[^\s`~])")
_FENCE = re.compile(r"[ >]*(?:```|~~~)")


class GrowingText:
    """Attributes:
    text: the Markdown so far.
    settled: how many of its parts will not change any more.
    """

    def __init__(self, reader: Reader) -> None:
        self.text = ""
        self.settled = 0
        self._reader = reader
        self._known_definitions = reader.definitions
        self._read_to = 0  # characters of the settled parts
        self._open: Fence | None = None  # code that goes on there
        self._opening = ""  # its first line
        self._in_list = False  # a list goes on there

    @property
    def has_late_definitions(self) -> bool:
        """Links were defined that may have been used before."""
        return self._reader.definitions > self._known_definitions

    def append(self, text: str) -> list[Part]:
        """The parts that stand after the first `settled` ones, as that was before."""
        self.text += text
        sections = self._read(self.text[self._read_to :])
        parts = _parts(sections)
        kept = self._settle(sections)
        limit = MAX_GROWING_TABLE if parts and isinstance(parts[-1], Table) else MAX_GROWING
        if len(self.text) - self._read_to > limit:
            return parts[:kept] + self._settle_by_force()
        return parts

    def _read(self, source: str) -> list[Section]:
        """Sections of `source`, which stands where the settled text ends."""
        if self._open is None:
            sections = self._reader.read(source, self._read_to)
            return _joined(sections) if self._in_list else sections
        opening = self._opening + "\n"
        first, *others = self._reader.read(opening + source, self._read_to - len(opening))
        parts: list[Part] = []
        for part in first.parts:
            assert isinstance(part, Block)
            parts.append(Block(part.layout._replace(fence=self._open, is_first=False), part.pieces))
        return [Section(self._read_to, True, parts), *others]

    def _settle(self, sections: list[Section]) -> int:
        """A block is over when another one has surely begun. How many parts that settles."""
        for number in range(len(sections) - 1, 0, -1):
            if sections[number].is_sure:
                self._read_to = sections[number].start
                self._reader.keep_definitions(self._read_to)
                self._open = None
                self._in_list = False
                kept = len(_parts(sections[:number]))
                self.settled += kept
                return kept
        return 0

    def _settle_by_force(self) -> list[Part]:
        """Settle up to an empty line, a line at the left edge, or the end; all parts from where it began."""
        source = self.text[self._read_to :]
        breaks = [*_LINE_START.finditer(source)][-1:] + [*_APART.finditer(source)][-1:]
        cut = breaks[-1].end() if breaks else len(source)
        parts = _parts(self._read(source[:cut]))
        fence = self._open_fence(source[:cut])
        last = parts[-1] if parts else None
        if fence and isinstance(last, Block):
            parts[-1] = Block(last.layout._replace(is_last=False), last.pieces)
        if fence != self._open:
            self._opening = self.text[fence.start :].partition("\n")[0] if fence else ""
        self._open = fence
        self._in_list = last is not None and last.containers.startswith("l")
        self._read_to += cut
        self._reader.keep_definitions(self._read_to)
        self.settled += len(parts)
        return parts + _parts(self._read(source[cut:]))

    def _open_fence(self, source: str) -> Fence | None:
        """The fence that `source` leaves open, outside of lists."""
        parts = _parts(self._read(source + "x"))
        last = parts[-1] if parts else None
        if not isinstance(last, Block) or last.layout.fence is None or "l" in last.containers:
            return None
        fence = last.layout.fence
        return fence if _FENCE.match(self.text, fence.start) else None


def _parts(sections: list[Section]) -> list[Part]:
    return [part for section in sections for part in section.parts]


def _joined(sections: list[Section]) -> list[Section]:
    """A list that was parted has no more space there than elsewhere."""
    first = sections[0].parts[0] if sections and sections[0].parts else None
    if not isinstance(first, Block) or not first.layout.is_hanging:
        return sections
    tight = Block(first.layout._replace(is_tight=True), first.pieces)
    return [sections[0]._replace(parts=[tight, *sections[0].parts[1:]]), *sections[1:]]
