"""Qt text formats for the styles of pieces and the layouts of blocks."""

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QFontInfo,
    QTextBlockFormat,
    QTextCharFormat,
    QTextFormat,
    QTextOption,
    QTextTableCellFormat,
    QTextTableFormat,
)

from app.rendering.pieces import Layout, Style
from app.widgets.palettes import Palette
from app.widgets.plain_text import plain

FORMULA = QTextFormat.ObjectTypes.UserObject + 1
LATEX = QTextFormat.Property.UserProperty + 1
IS_DISPLAY = QTextFormat.Property.UserProperty + 2

_HEADINGS = (1.5, 1.28, 1.12, 1.0, 1.0, 1.0)
_ALIGNMENTS = {
    "left": Qt.AlignmentFlag.AlignLeft,
    "center": Qt.AlignmentFlag.AlignHCenter,
    "right": Qt.AlignmentFlag.AlignRight,
}
_PROPORTIONAL = QTextBlockFormat.LineHeightTypes.ProportionalHeight.value
_FIXED = QTextBlockFormat.LineHeightTypes.FixedHeight.value


class TextStyle:
    """Formats in the colours and the font of a widget. All lengths are in pixels.

    Attributes:
        colours, font, mono: colours, font and monospaced font of the formats.
        caption: a smaller font.
        em: size of the font, to which all lengths are proportional.
        container: indent of a quote ("q") and of a list ("l").
        code_header: height of the background above the first line of code: header and `code_gap` together.
        code_gap: space between the header and the first line of code.
        code_padding, code_bottom: extent of the background beside code, and below its last line.
        wraps_code: whether long lines of code are broken.
    """

    def __init__(
        self, colours: Palette, font: QFont, code_font: str = "", *, wraps_code: bool = True
    ) -> None:
        """code_font: the family of the monospaced font; "" is the system's."""
        self.colours, self.wraps_code = colours, wraps_code
        self.em = QFontInfo(font).pixelSize()
        self.font = QFont(font)
        self.font.setPixelSize(self.em)
        self.caption = QFont(self.font)
        self.caption.setPixelSize(round(self.em * 0.88))
        self.mono = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        if code_font:
            self.mono.setFamily(code_font)
        self.mono.setPixelSize(round(self.em * 0.94))
        self.container = {"q": round(1.2 * self.em), "l": round(1.9 * self.em)}
        self.code_header = round(2.9 * self.em)
        self.code_gap = round(0.65 * self.em)
        self.code_padding = round(0.95 * self.em)
        self.code_bottom = round(0.75 * self.em)
        self._styles: dict[tuple[Style, str, int], QTextCharFormat] = {}

    def text(self, style: Style, layout: Layout) -> QTextCharFormat:
        """Return the character format of a style in a layout."""
        key = (style, layout.kind, layout.level)
        if key not in self._styles:
            self._styles[key] = self._text(style, layout)
        return self._styles[key]

    def indent(self, containers: str) -> int:
        """Return the indent of text inside `containers` (quotes and lists), in pixels: on the left, or on the
        right of text that is written from right to left."""
        return sum(self.container[container] for container in containers)

    def _text(self, style: Style, layout: Layout) -> QTextCharFormat:
        made = QTextCharFormat()
        is_block_code = layout.kind == "code"
        font = QFont(self.mono if style.is_code else self.font)
        if layout.kind == "heading":
            font.setPixelSize(round(font.pixelSize() * _HEADINGS[layout.level - 1]))
        if style.bold:
            font.setWeight(QFont.Weight.DemiBold)
        font.setItalic(style.italic)
        font.setStrikeOut(style.struck)
        made.setFont(font)
        made.setForeground(QColor(getattr(self.colours, style.colour or "text")))
        if style.is_code and not is_block_code:
            made.setBackground(QColor(self.colours.raised))
        if style.link:
            made.setAnchor(True)
            made.setAnchorHref(style.link)
            made.setForeground(QColor(self.colours.accent))
            made.setFontUnderline(True)
            made.setToolTip(plain(style.link))
        if style.formula:
            made.setObjectType(FORMULA)
            made.setToolTip(plain(style.formula))
            made.setProperty(LATEX, style.formula)
            made.setProperty(IS_DISPLAY, style.is_display)
            made.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignMiddle)
        return made

    def block(self, layout: Layout, is_first: bool) -> QTextBlockFormat:
        """Return the block format of a layout. is_first: whether the block is the first of the document."""
        made = QTextBlockFormat()
        above, below, line = self._space(layout)
        made.setTopMargin(round((0 if is_first else above) * self.em))
        made.setBottomMargin(round(below * self.em))
        if layout.is_rtl:
            made.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
            made.setRightMargin(self.indent(layout.containers))
        else:
            made.setLeftMargin(self.indent(layout.containers))
        made.setLineHeight(line, _PROPORTIONAL)
        if layout.kind == "heading":
            made.setHeadingLevel(layout.level)
        if layout.is_hanging:
            width = self.container["l"]
            made.setTextIndent(-width)
            # Where text runs from right to left, Qt turns the types of tabs round.
            kind = QTextOption.TabType.RightTab if layout.is_rtl else QTextOption.TabType.LeftTab
            made.setTabPositions([QTextOption.Tab(width, kind)])
        if layout.kind == "formula":
            made.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        elif layout.kind == "rule":
            made.setLineHeight(2, _FIXED)
        elif layout.kind == "code":
            made.setLeftMargin(made.leftMargin() + self.code_padding)
            made.setRightMargin(self.code_padding)
            made.setNonBreakableLines(not self.wraps_code and not layout.is_long)
            if layout.is_first:
                made.setTopMargin(made.topMargin() + self.code_header)
            if layout.is_last:
                made.setBottomMargin(made.bottomMargin() + self.code_bottom)
        return made

    def _space(self, layout: Layout) -> tuple[float, float, int]:
        """Return the space above and below in em, and the line height in percent."""
        match layout.kind:
            case "heading":
                return (1.5 if layout.level < 3 else 1.2), 0.45, 112
            case "code":
                return (0.8 if layout.is_first else 0), (0.8 if layout.is_last else 0), 125
            case "formula":
                return 0.9, 0.9, 100
            case "rule":
                return 1.4, 1.4, 100
            case _:
                return (0.3 if layout.is_tight else 0.8), 0, 132

    def gap(self) -> QTextBlockFormat:
        """Return the format of the empty block that Qt requires beside a table."""
        made = QTextBlockFormat()
        made.setLineHeight(1, _FIXED)
        return made

    def table(self, containers: str, is_rtl: bool) -> QTextTableFormat:
        made = QTextTableFormat()
        if is_rtl:
            made.setAlignment(Qt.AlignmentFlag.AlignRight)
        made.setHeaderRowCount(1)
        made.setBorder(0)
        made.setBorderCollapse(True)
        made.setCellPadding(0)
        made.setCellSpacing(0)
        indent = self.indent(containers)
        made.setRightMargin(indent) if is_rtl else made.setLeftMargin(indent)
        made.setTopMargin(round(0.9 * self.em))
        return made

    def cell(self, is_heading: bool) -> QTextTableCellFormat:
        made = QTextTableCellFormat()
        made.setTopPadding(0.42 * self.em)
        made.setBottomPadding(0.42 * self.em)
        made.setLeftPadding(0.7 * self.em)
        made.setRightPadding(0.7 * self.em)
        made.setBottomBorder(1)
        made.setBottomBorderStyle(QTextTableFormat.BorderStyle.BorderStyle_Solid)
        made.setBottomBorderBrush(QColor(self.colours.outline if is_heading else self.colours.border))
        return made

    def cell_block(self, alignment: str) -> QTextBlockFormat:
        made = QTextBlockFormat()
        made.setLineHeight(125, _PROPORTIONAL)
        if alignment:
            made.setAlignment(_ALIGNMENTS[alignment])
        return made
