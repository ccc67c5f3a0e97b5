"""The Markdown parser, which turns source text into the parts of a message. Imports no Qt."""

from typing import Any, NamedTuple

from markdown_it.token import Token

from app.rendering import dialect
from app.rendering.blocks import BlockParser, as_written
from app.rendering.code_colours import Growing
from app.rendering.pieces import Lines, Part
from app.rendering.spans import IsDrawable, NameImage


class MarkdownSection(NamedTuple):
    """A top-level block of a message.

    Attributes:
        start: index in the message at which its first line starts.
        tail: index in the message at which its last line starts.
        is_sure: whether a block of this kind begins here, whatever text is added.
        parts: its parts.
    """

    start: int
    tail: int
    is_sure: bool
    parts: list[Part]


class MarkdownParser:
    """Parses Markdown sources; each may use the link definitions that were kept from earlier ones."""

    def __init__(self, is_drawable: IsDrawable, name_image: NameImage) -> None:
        self._kept: dict[str, Any] = {}
        self._found: dict[str, Any] = {}  # definitions known after the last `read`
        self._found_stops: dict[str, int] = {}
        self._is_drawable = is_drawable
        self._name_image = name_image
        self._growing = Growing()

    @property
    def definitions(self) -> int:
        """Number of known link definitions."""
        return len(self._found)

    def keep_definitions(self, stop: int | None = None) -> None:
        """Keep the definitions that the last `read` found before `stop` (None: all) for later reads."""
        for name, end in self._found_stops.items():
            if stop is None or end <= stop:
                self._kept[name] = self._found[name]

    def read(self, source: str, base: int = 0, *, rows: int = 0) -> list[MarkdownSection]:
        """Parse `source`, which starts at index `base` of the message.

        rows: number of rows that a table at the start of `source` has had before.
        """
        source = dialect.inert(source)
        lines = Lines(source, base)
        self._found = dict(self._kept)
        tokens = dialect.parse(source, self._found)
        added = self._found.keys() - self._kept.keys()
        self._found_stops = {name: lines.start(self._found[name]["map"][1]) for name in added}
        sections: list[MarkdownSection] = []
        begin = 0
        for end, token in enumerate(tokens, 1):
            if token.level == 0 and token.nesting <= 0:
                sections.append(self._section(tokens[begin:end], lines, 0 if sections else rows))
                begin = end
        return sections

    def _section(self, tokens: list[Token], lines: Lines, rows: int) -> MarkdownSection:
        first, last = tokens[0].map or [0, 0]
        if max(token.level for token in tokens) >= dialect.MAX_NESTING - 1:
            parts: list[Part] = [as_written(lines, number) for number in range(first, last)]
        else:
            reader = BlockParser(tokens, lines, self._growing, self._is_drawable, self._name_image, rows)
            parts = list(reader.parts())
        match tokens[0].type:
            case "formula_open":
                is_sure = False
            case "formula_block":
                is_sure = lines.is_ended(last - 1)
            case "table_open":
                is_sure = lines.is_ended(first + 1)
            case _:
                is_sure = lines.is_ended(first)
        return MarkdownSection(lines.start(first), lines.start(last - 1), is_sure, parts)
