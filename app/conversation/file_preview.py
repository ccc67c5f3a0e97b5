"""The dialog that shows what was read of a file: its text, a passage of it, or the picture."""

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
from PySide6.QtGui import QImage, QImageReader, QPixmap
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app import formatting
from app.documents.records import MAX_SIDE
from app.widgets.plain_text import PlainLabel
from app.widgets.window_size import resize_on_screen

FORMATS = (b"png", b"jpeg")  # those in which pictures are kept
MAX_SHOWN = 200_000  # characters; laying out more would block the window


class FilePreview(QDialog):
    """Shows a text or a picture.

    Attributes:
        text: the field with the text, or None.
        picture: the label with the picture, or None.
    """

    def __init__(self, name: str, details: str, content: str | bytes, parent: QWidget | None = None) -> None:
        """content: a text, or a picture as PNG or JPEG."""
        super().__init__(parent)
        self.setObjectName("file_preview")
        self.setWindowTitle(name)
        resize_on_screen(self, 720, 640)
        self.text: QPlainTextEdit | None = None
        self.picture: PlainLabel | None = None
        caption = PlainLabel(details, self)
        caption.setProperty("role", "caption")
        caption.setWordWrap(True)
        close = QPushButton(self.tr("Close"), self)
        close.clicked.connect(self.accept)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 12, 12, 12)
        layout.addWidget(caption)
        layout.addWidget(self._text(content) if isinstance(content, str) else self._picture(content), 1)
        if isinstance(content, str) and len(content) > MAX_SHOWN:
            counts = formatting.number(MAX_SHOWN), formatting.number(len(content))
            layout.addWidget(PlainLabel(self.tr("The first {} of {} characters are shown.").format(*counts)))
        layout.addWidget(close, alignment=Qt.AlignmentFlag.AlignRight)

    def _text(self, content: str) -> QWidget:
        self.text = QPlainTextEdit(self)
        self.text.setPlainText(content[:MAX_SHOWN])
        self.text.setReadOnly(True)
        self.text.setAccessibleName(self.windowTitle())
        return self.text

    def _picture(self, content: bytes) -> QWidget:
        self.picture = PlainLabel(parent=self)
        self.picture.setPixmap(QPixmap.fromImage(_image(content)))
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.picture.setAccessibleName(self.windowTitle())
        area = QScrollArea(self)
        area.setWidgetResizable(True)
        area.setWidget(self.picture)
        area.setAccessibleName(self.windowTitle())
        return area


def _image(content: bytes) -> QImage:
    """Return a kept picture; an empty one if it is of another format or size, as one of an imported chat may
    be."""
    buffer = QBuffer()
    buffer.setData(QByteArray(content))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    size = reader.size()
    is_kept = reader.format().data() in FORMATS and max(size.width(), size.height()) <= MAX_SIDE
    return reader.read() if is_kept else QImage()
