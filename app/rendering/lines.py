"""Where the content of a block stands in the source. Knows no Qt."""

import re
from collections.abc import Iterator, Sequence

from app.rendering.pieces import Piece, Style

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")

Offsets = Sequence[int]  # for each character of a content, its place in the source; -1 where it has none


class Lines:
    """The lines of a source, by number.

    Attributes:
        base: what is added to every place: the source may be the end of a longer one.
    """

    def __init__(self, source: str, base: int) -> None:
        self.base = base
        self._source = source
        self._starts = [found.start() for found in _LINE.finditer(source)]
        self._starts.append(len(source))

    def text(self, line: int) -> str:
        """Line `line` without its end."""
        return self._source[self._starts[line] : self._starts[line + 1]].rstrip("\r\n")

    def start(self, line: int) -> int:
        return self.base + self._starts[line]

    def stop(self, line: int) -> int:
        return self.start(line) + len(self.text(line))

    def is_ended(self, line: int) -> bool:
        """Nothing can be added to it."""
        return self.stop(line) < self.start(line + 1)

    def offsets(self, content: str, first: int) -> list[int]:
        """Places of `content`, whose lines are the ends of the lines from `first` on."""
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
        """Places of a table cell that stands in `line` at or after column `begin`; the column after it."""
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


def split(text: str, style: Style, offsets: Offsets) -> Iterator[Piece]:
    """`text` as pieces that are whole in the source."""
    begin = 0
    for i in range(1, len(text) + 1):
        if i == len(text) or offsets[i] != offsets[i - 1] + 1 or offsets[begin] < 0:
            start = max(0, offsets[begin])
            stop = start + i - begin if offsets[begin] >= 0 else start
            yield Piece(text[begin:i], style, start, stop)
            begin = i
