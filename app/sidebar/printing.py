"""A chat on paper, or as PDF."""

from pathlib import Path

from PySide6.QtCore import QMarginsF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QPageLayout, QPageSize, QPainter
from PySide6.QtPrintSupport import QPrinter
from shiboken6 import Shiboken

from app import theme
from app.rendering import decoration
from app.rendering.formula_drawing import Picture, draw
from app.rendering.formulas import Formula, Formulas
from app.rendering.look import Look
from app.rendering.message_document import MessageDocument
from app.store import Chat
from app.store.exchange.text import to_markdown
from engine.errors import DiskProblem

MARGIN_MM = 18
DOTS_PER_INCH = 96  # of the document, whose lengths are pixels
FONT_PIXELS = 14  # 10.5 points
FOOTER = 28  # pixels below the text


def printer(title: str) -> QPrinter:
    made = QPrinter(QPrinter.PrinterMode.HighResolution)
    made.setDocName(title)
    made.setPageMargins(QMarginsF(*[MARGIN_MM] * 4), QPageLayout.Unit.Millimeter)
    return made


def print_chat(chat: Chat, printer: QPrinter) -> None:
    """What is shown of the chat, in the light colours, its pages numbered. May run on any thread."""
    font = QFont()
    font.setPixelSize(FONT_PIXELS)
    formulas = _DrawnAtOnce()
    document = MessageDocument(Look(theme.LIGHT, font), formulas)
    document.append(to_markdown(chat))
    try:
        _print(document, printer)
    finally:
        for made in (document, formulas):
            Shiboken.delete(made)  # on this thread; the collector may run on another


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


def save_pdf(chat: Chat, path: Path, title: str) -> None:
    """The file is whole, or (DiskProblem) as it was before. May run on any thread."""
    growing = path.with_name(f".{path.name}.part")
    to_file = printer(title)
    to_file.setOutputFormat(QPrinter.OutputFormat.PdfFormat)
    to_file.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    to_file.setOutputFileName(str(growing))
    try:
        growing.touch()
        print_chat(chat, to_file)
        growing.replace(path)
    except OSError as error:
        raise DiskProblem(
            f"{path} cannot be written: {error.strerror}.", "Check the disk and the folder's permissions."
        ) from error
    finally:
        growing.unlink(missing_ok=True)


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


class _DrawnAtOnce(Formulas):
    """On the thread that asks."""

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
