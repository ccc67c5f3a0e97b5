"""A message as a growing text document: no raw HTML, no images, nothing is fetched."""

from typing import NamedTuple

from PySide6.QtCore import QByteArray, QCoreApplication, QObject, QUrl
from PySide6.QtGui import QTextCursor, QTextDocument, QTextOption

from app.rendering.dialect import inert
from app.rendering.formulas import Formula, FormulaObject, FormulaRenderer, formula_of
from app.rendering.growing_text import GrowingText
from app.rendering.look import FORMULA, TextStyle
from app.rendering.parser import MarkdownParser
from app.rendering.pieces import Block, Layout, Part, Style, Table
from app.rendering.source_map import SourceMap, SourceRun, units
from app.rendering.spans import OBJECT
from app.rendering.writer import DocumentWriter, common


class Placed(NamedTuple):
    """A part in the document.

    Attributes:
        begin: end of the document before the part was added.
        position: first position of the part.
        part: the part.
    """

    begin: int
    position: int
    part: Part


class MessageDocument(QTextDocument):
    """Markdown shown while it arrives: only the block that still grows is parsed and written again.

    Attributes:
        look: the formats of the text.
        source_map: maps positions in this document to indices in `text`, and back.
        parts: the parts shown, in order.
        code_heads: indices in `parts` of the first line of each block of code.
    """

    def __init__(self, look: TextStyle, formulas: FormulaRenderer, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.look = look
        self.source_map = SourceMap()
        self.parts: list[Placed] = []
        self.code_heads: list[int] = []
        self._formulas = formulas
        self._object = FormulaObject(formulas, self)
        self._writer = DocumentWriter(self)
        self._met: set[Formula] = set()
        self._reader = MarkdownParser(self._is_drawable, _name_image)
        self._growing = GrowingText(self._reader)
        self.setUndoRedoEnabled(False)
        self.setDefaultFont(look.font)
        self.setDocumentMargin(0)
        self.setDefaultTextOption(_wrapping())
        self.documentLayout().registerHandler(FORMULA, self._object)

    def loadResource(self, kind: int, name: QUrl | str) -> QByteArray:
        """Load no resource, whatever the text refers to."""
        return QByteArray()

    @property
    def text(self) -> str:
        """The Markdown so far."""
        return self._growing.text

    @property
    def settled(self) -> int:
        """Number of leading parts that no longer change."""
        return self._growing.settled

    @property
    def unsettled(self) -> str:
        """The text after the settled parts, which the next `append` parses again."""
        return self._growing.unsettled

    @property
    def has_late_definitions(self) -> bool:
        """Whether link definitions have arrived that earlier text may use."""
        return self._growing.has_late_definitions

    def append(self, text: str) -> None:
        """Add `text` at the end."""
        edit = QTextCursor(self)
        edit.beginEditBlock()
        settled = self._growing.settled
        self._show(settled, self._growing.append(text))
        edit.endEditBlock()

    def restart(self, look: TextStyle) -> None:
        """Empty the document and use `look` from now on. Link definitions are kept."""
        self.look = look
        self.setDefaultFont(look.font)
        self._reader.keep_definitions()
        self._growing = GrowingText(self._reader)
        if self.parts:
            self._cut(0)

    def height(self) -> float:
        """Return the height in pixels, including the background below a last line of code, which Qt omits."""
        last = self._last()
        ends_in_code = isinstance(last, Block) and last.layout.kind == "code"
        return self.size().height() + (self.look.code_bottom if ends_in_code else 0)

    def formulas(self) -> list[str]:
        """Return the LaTeX of the drawn formulas, in order."""
        blocks = (part for _, _, part in self.parts if isinstance(part, Block))
        styles = (piece.style for block in blocks for piece in block.pieces if piece.style.formula)
        return [s.formula for s in styles if self._formulas.is_drawable(s.formula, s.is_display)]

    def code(self, head: int) -> str:
        """Return the code whose first line is part number `head`."""
        lines: list[str] = []
        fence = None
        for _, _, part in self.parts[head:]:
            if not isinstance(part, Block) or (lines and part.layout.fence != fence):
                break
            fence = part.layout.fence
            lines.append("".join(piece.text for piece in part.pieces))
        return "\n".join(lines)

    def show_drawn(self, formula: Formula) -> bool:
        """Show the picture of a formula, or its source if it cannot be drawn.

        Return False if the formula does not occur here.
        """
        if formula not in self._met:
            return False
        picture = self._formulas.picture(formula)
        if picture is None:
            self.append("")  # writes the unsettled parts again
        found = self.find(OBJECT)
        while not found.isNull():
            if formula_of(found.charFormat()) == formula:
                if picture is None:
                    self._write_out(found)
                else:
                    self.markContentsDirty(found.selectionStart(), 1)
            found = self.find(OBJECT, found)
        return True

    def _is_drawable(self, latex: str, is_display: bool) -> bool:
        self._met.add(Formula(latex, is_display))
        return self._formulas.is_drawable(latex, is_display)

    def _show(self, settled: int, parts: list[Part]) -> None:
        """Show `parts` after the first `settled` parts, in place of what follows them now."""
        shown = [placed.part for placed in self.parts[settled:]]
        same = common(shown, parts)
        at = settled + same
        if same < len(shown):
            if same + 1 < len(shown):
                self._cut(at + 1)
            runs = self._change(shown[same], parts[same]) if same < len(parts) else None
            if runs is None:
                self._cut(at)
            else:
                self.source_map.truncate(self.parts[at].begin)
                self.source_map.extend(runs)
                begin = self.parts.pop().begin
                self._place(begin, parts[same])
                same += 1
        for part in parts[same:]:
            begin = self._writer.end()
            self.source_map.extend(self._writer.add(part, self._last(), self.look))
            self._place(begin, part)

    def _place(self, begin: int, part: Part) -> None:
        """Record the place of the part that was written last. begin: end of the document before that part."""
        number = len(self.parts)
        position = self.lastBlock().position() if isinstance(part, Block) else begin + 1
        self.parts.append(Placed(begin, position, part))
        while self.code_heads and self.code_heads[-1] >= number:
            self.code_heads.pop()
        if isinstance(part, Block) and part.layout.is_first:
            self.code_heads.append(number)

    def _change(self, old: Part, new: Part) -> list[SourceRun] | None:
        """Change the last part in place. Return its runs, or None if it cannot be changed in place."""
        if isinstance(old, Block) and isinstance(new, Block):
            return self._writer.change(old, new, self.look)
        if isinstance(old, Table) and isinstance(new, Table) and old.heading == new.heading:
            return self._writer.grow(old, new, self.look)
        return None

    def _cut(self, at: int) -> None:
        """Remove the parts from index `at` on."""
        begin = self.parts[at].begin
        del self.parts[at:]
        while self.code_heads and self.code_heads[-1] >= at:
            self.code_heads.pop()
        self._writer.cut(begin, self._last(), self.look)
        self.source_map.truncate(begin)

    def _last(self) -> Part | None:
        return self.parts[-1].part if self.parts else None

    def _write_out(self, found: QTextCursor) -> None:
        """Replace a formula in the settled text, selected by `found`, with its source."""
        position = found.selectionStart()
        place = self.source_map.source(position)
        assert place is not None
        source = inert(self.text[slice(*place)]).replace("\n", "\u2028")
        layout = Layout("text")
        found.insertText(source, self.look.text(Style(is_code=True), layout))
        grown = units(source) - 1
        self.source_map.widen(position, units(source))
        self.parts = [
            Placed(begin + grown, first + grown, part) if begin > position else Placed(begin, first, part)
            for begin, first, part in self.parts
        ]


def _name_image(image: str) -> str:
    return QCoreApplication.translate("MessageDocument", "[image not loaded: {}]").format(image)


def _wrapping() -> QTextOption:
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    return option
