"""Markdown as an inert document: no raw HTML, no image, nothing fetched. Code is highlighted."""

from functools import lru_cache

from PySide6.QtCore import QByteArray, QCoreApplication, QObject, QUrl
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrame,
    QTextTable,
)

from app.theme import Tokens

FEATURES = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML

# Lexing takes about 1 ms per KB; longer code stays plain so that streaming keeps its pace.
MAX_HIGHLIGHTED = 20_000

BLOCK_LINE_HEIGHT_PERCENT = 118


class InertDocument(QTextDocument):
    """A document that loads nothing, whatever its text refers to."""

    def loadResource(self, kind: int, name: QUrl | str) -> QByteArray:
        return QByteArray()


def render(text: str, colours: Tokens, font: QFont, parent: QObject | None = None) -> QTextDocument:
    """Parse `text`. Without a layout nothing looks up an image; they are removed before there is one."""
    document = InertDocument(parent)
    document.setUndoRedoEnabled(False)
    document.setDefaultFont(font)
    document.setDocumentMargin(0)
    document.setMarkdown(text, FEATURES)
    _replace_images(document)
    _dress_blocks(document, colours, font)
    _dress_tables(document.rootFrame(), colours)
    return document


def _replace_images(document: QTextDocument) -> None:
    """Each image becomes its address in words."""
    images: list[tuple[int, int, str]] = []
    block = document.begin()
    while block.isValid():
        iterator = block.begin()
        while not iterator.atEnd():
            fragment = iterator.fragment()
            if fragment.charFormat().isImageFormat():
                name = fragment.charFormat().toImageFormat().name()
                images.append((fragment.position(), fragment.length(), name))
            iterator += 1
        block = block.next()
    cursor = QTextCursor(document)
    for position, length, name in reversed(images):
        cursor.setPosition(position)
        cursor.setPosition(position + length, QTextCursor.MoveMode.KeepAnchor)
        shown = QCoreApplication.translate("markdown", "[image not loaded: {}]").format(name)
        cursor.insertText(shown, QTextCharFormat())


def _dress_blocks(document: QTextDocument, colours: Tokens, font: QFont) -> None:
    mono = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    mono.setPointSizeF(font.pointSizeF() * 0.95)
    code: list[QTextBlock] = []
    block = document.begin()
    while block.isValid():
        if _is_code(block):
            code.append(block)
        else:
            _dress_prose(block, colours, mono)
        following = block.next()
        if code and not (following.isValid() and _is_code(following) and _same_fence(code[-1], following)):
            _dress_code(code, colours, mono)
            code = []
        block = following


def _is_code(block: QTextBlock) -> bool:
    return block.blockFormat().hasProperty(QTextFormat.Property.BlockCodeLanguage)


def _same_fence(block: QTextBlock, following: QTextBlock) -> bool:
    return _language(block) == _language(following)


def _language(block: QTextBlock) -> str:
    return block.blockFormat().stringProperty(QTextFormat.Property.BlockCodeLanguage)


def _dress_prose(block: QTextBlock, colours: Tokens, mono: QFont) -> None:
    cursor = QTextCursor(block)
    spaced = QTextBlockFormat()
    spaced.setLineHeight(BLOCK_LINE_HEIGHT_PERCENT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    cursor.mergeBlockFormat(spaced)
    inline = QTextCharFormat()
    inline.setFont(mono)
    inline.setBackground(QColor(colours.raised))
    spans: list[tuple[int, int]] = []
    iterator = block.begin()
    while not iterator.atEnd():
        fragment = iterator.fragment()
        if fragment.charFormat().fontFixedPitch():
            spans.append((fragment.position(), fragment.length()))
        iterator += 1
    for position, length in spans:
        cursor.setPosition(position)
        cursor.setPosition(position + length, QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(inline)


def _dress_code(blocks: list[QTextBlock], colours: Tokens, mono: QFont) -> None:
    cursor = QTextCursor(blocks[0])
    start = cursor.position()
    cursor.setPosition(blocks[-1].position() + blocks[-1].length() - 1, QTextCursor.MoveMode.KeepAnchor)
    dress = QTextBlockFormat()
    dress.setBackground(QColor(colours.raised))
    dress.setNonBreakableLines(False)
    dress.setLeftMargin(0)
    dress.setTopMargin(0)
    dress.setBottomMargin(0)
    cursor.mergeBlockFormat(dress)
    plain = QTextCharFormat()
    plain.setFont(mono)
    cursor.mergeCharFormat(plain)
    text = "\n".join(block.text() for block in blocks)
    for offset, length, kind in highlight(text, _language(blocks[0])):
        cursor.setPosition(start + offset)
        cursor.setPosition(start + offset + length, QTextCursor.MoveMode.KeepAnchor)
        coloured = QTextCharFormat()
        coloured.setForeground(QColor(getattr(colours, f"code_{kind}")))
        cursor.mergeCharFormat(coloured)


def _dress_tables(frame: QTextFrame, colours: Tokens) -> None:
    for child in frame.childFrames():
        if isinstance(child, QTextTable):
            dress = child.format().toTableFormat()
            dress.setBorderBrush(QColor(colours.outline))
            dress.setBorderCollapse(True)
            dress.setCellPadding(5)
            dress.setTopMargin(8)
            dress.setBottomMargin(8)
            child.setFormat(dress)
        _dress_tables(child, colours)


@lru_cache(maxsize=64)
def highlight(code: str, language: str) -> list[tuple[int, int, str]]:
    """(offset, length, keyword | string | number | comment) of what is worth a colour.

    Nothing for unknown languages. Offsets count UTF-16 units, as Qt does.
    """
    if not language or len(code) > MAX_HIGHLIGHTED:
        return []
    from pygments.lexers import get_lexer_by_name
    from pygments.token import Comment, Keyword, Number, String
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return []
    kinds = ((Keyword, "keyword"), (String, "string"), (Number, "number"), (Comment, "comment"))
    spans: list[tuple[int, int, str]] = []
    offset = 0
    for token, piece in lexer.get_tokens(code):
        length = len(piece.encode("utf-16-le")) // 2
        kind = next((name for parent, name in kinds if token in parent), None)
        if kind:
            spans.append((offset, length, kind))
        offset += length
    return spans
