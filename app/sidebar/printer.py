"""Printing of a chat, on paper or as PDF."""

from pathlib import Path

from PySide6.QtCore import QMarginsF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QPageLayout, QPageSize, QPainter
from PySide6.QtPrintSupport import QPrinter
from shiboken6 import Shiboken

from app.rendering import decoration
from app.rendering.formula_picture import Picture, draw
from app.rendering.formulas import Formula, FormulaRenderer
from app.rendering.look import TextStyle
from app.rendering.message_document import MessageDocument
from app.store import WholeChat
from app.store.exchange.text import to_markdown
from app.widgets import palettes
from engine.errors import DiskProblem
from engine.files import replacing

MARGIN_MM = 18
DOTS_PER_INCH = 96  # resolution of the document, whose unit is the pixel
FONT_PIXELS = 14  # 10.5 points
FOOTER = 28  # height of the footer in pixels


def printer(title: str) -> QPrinter:
    """Return a printer for a document with this title."""
    device = QPrinter(QPrinter.PrinterMode.HighResolution)
    device.setDocName(title)
    device.setPageMargins(QMarginsF(*[MARGIN_MM] * 4), QPageLayout.Unit.Millimeter)
    return device


def print_chat(chat: WholeChat, printer: QPrinter) -> None:
    """Print the shown version of a chat in light colours with page numbers. May run on any Qt thread."""
    font = QFont()
    font.setPixelSize(FONT_PIXELS)
    formulas = _ImmediateFormulas()
    document = MessageDocument(TextStyle(palettes.LIGHT, font), formulas)
    document.append(to_markdown(chat))
    try:
        _print(document, printer)
    finally:
        for owned in (document, formulas):
            Shiboken.delete(owned)  # on this thread; the garbage collector may run on another


def _print(document: MessageDocument, printer: QPrinter) -> None:
    scale = printer.resolution() / DOTS_PER_INCH
    paper = printer.pageRect(QPrinter.Unit.DevicePixel).size() / scale
    page = QSizeF(paper.width(), paper.height() - FOOTER)
    document.setPageSize(page)
    painter = QPainter(printer)
    painter.scale(scale, scale)
    for number in range(document.pageCount()):
        if number:
            printer.newPage()
        _paint_page(painter, document, number)
    painter.end()


def save_pdf(chat: WholeChat, path: Path, title: str) -> None:
    """Write a chat as a PDF file. May run on any Qt thread.

    Raises DiskProblem if the file cannot be written; the file at `path` is then unchanged.
    """
    to_file = printer(title)
    to_file.setOutputFormat(QPrinter.OutputFormat.PdfFormat)
    to_file.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    try:
        with replacing(path) as temporary:
            temporary.touch()
            to_file.setOutputFileName(str(temporary))
            print_chat(chat, to_file)
    except OSError as error:
        raise DiskProblem(
            f"{path} cannot be written: {error.strerror}.", "Check the disk and the folder's permissions."
        ) from error


def _paint_page(painter: QPainter, document: MessageDocument, number: int) -> None:
    page = document.pageSize()
    shown = QRectF(0, number * page.height(), page.width(), page.height())
    painter.save()
    painter.translate(0, -shown.top())
    painter.setClipRect(shown)
    decoration.paint(painter, document, shown)
    document.drawContents(painter, shown)
    painter.restore()
    painter.setFont(document.look.caption)
    painter.setPen(QColor(document.look.colours.muted))
    footer = QRectF(0, page.height(), page.width(), FOOTER)
    centred = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom
    painter.drawText(footer, centred, f"{number + 1} / {document.pageCount()}")


class _ImmediateFormulas(FormulaRenderer):
    """Draws formulas immediately, on the calling thread."""

    def __init__(self) -> None:
        super().__init__()
        self._drawn: dict[Formula, Picture | None] = {}

    def is_drawable(self, latex: str, is_display: bool) -> bool:
        formula = Formula(latex, is_display)
        if formula not in self._drawn:
            self._drawn[formula] = draw(*formula)
        return self._drawn[formula] is not None

    def picture(self, formula: Formula) -> Picture | None:
        return self._drawn.get(formula)
