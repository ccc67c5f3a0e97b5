"""Markdown to the parts of a message. Knows no Qt."""

from typing import Any, NamedTuple

from markdown_it.token import Token

from app.rendering import dialect
from app.rendering.blocks import Blocks, as_written
from app.rendering.code_colours import Growing
from app.rendering.lines import Lines
from app.rendering.pieces import Part
from app.rendering.spans import IsDrawable, NameImage


class Section(NamedTuple):
    """A block of the outermost level.

    Attributes:
        start: where in the message its first line starts.
        is_sure: whatever follows in the message, a block of this kind begins here.
        parts: what it shows.
    """

    start: int
    is_sure: bool
    parts: list[Part]


class Reader:
    """Reads sources that may refer to each other's link definitions."""

    def __init__(self, is_drawable: IsDrawable, name_image: NameImage) -> None:
        self._kept: dict[str, Any] = {}
        self._found: dict[str, Any] = {}  # in what was read last
        self._found_stops: dict[str, int] = {}
        self._is_drawable = is_drawable
        self._name_image = name_image
        self._growing = Growing()

    @property
    def definitions(self) -> int:
        """How many names of links are known."""
        return len(self._found)

    def keep_definitions(self, stop: int | None = None) -> None:
        """Those found by the last `read` before `stop` (None: all) are whole, and known from now on."""
        for name, end in self._found_stops.items():
            if stop is None or end <= stop:
                self._kept[name] = self._found[name]

    def read(self, source: str, base: int = 0) -> list[Section]:
        """Sections of `source`, which stands at `base` in the message."""
        source = dialect.inert(source)
        lines = Lines(source, base)
        self._found = dict(self._kept)
        tokens = dialect.parse(source, self._found)
        added = self._found.keys() - self._kept.keys()
        self._found_stops = {name: lines.start(self._found[name]["map"][1]) for name in added}
        sections: list[Section] = []
        begin = 0
        for end, token in enumerate(tokens, 1):
            if token.level == 0 and token.nesting <= 0:
                sections.append(self._section(tokens[begin:end], lines))
                begin = end
        return sections

    def _section(self, tokens: list[Token], lines: Lines) -> Section:
        first, last = tokens[0].map or [0, 0]
        if max(token.level for token in tokens) >= dialect.MAX_NESTING - 1:
            parts: list[Part] = [as_written(lines, number) for number in range(first, last)]
        else:
            parts = list(Blocks(tokens, lines, self._growing, self._is_drawable, self._name_image).parts())
        match tokens[0].type:
            case "formula_open":
                is_sure = False
            case "formula_block":
                is_sure = lines.is_ended(last - 1)
            case "table_open":
                is_sure = lines.is_ended(first + 1)
            case _:
                is_sure = lines.is_ended(first)
        return Section(lines.start(first), is_sure, parts)
