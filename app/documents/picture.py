"""Pictures, made small enough to be kept with a chat."""

from typing import BinaryIO

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt
from PySide6.QtGui import QImage, QImageReader, QImageWriter

from app.documents.records import MAX_POINTS, MAX_SIDE, Document, Unreadable

_FORMATS = (b"png", b"jpeg", b"gif", b"bmp", b"webp")


def read(file: BinaryIO) -> Document:
    """Return a picture, turned as its camera was. Raises Unreadable."""
    content = QBuffer()
    content.setData(QByteArray(file.read()))
    content.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(content)
    reader.setDecideFormatFromContent(True)
    reader.setAutoTransform(True)
    if bytes(reader.format().data()) not in _FORMATS:
        raise Unreadable("damaged")
    size = reader.size()
    if size.width() * size.height() > MAX_POINTS:
        raise Unreadable("too_large")
    if max(size.width(), size.height()) > MAX_SIDE:
        reader.setScaledSize(size.scaled(QSize(MAX_SIDE, MAX_SIDE), Qt.AspectRatioMode.KeepAspectRatio))
    image = reader.read()
    if image.isNull():
        raise Unreadable("damaged")
    return document_of(image)


def document_of(image: QImage) -> Document:
    """Return a picture as it is kept: PNG, or JPEG where that is much smaller and nothing shines through."""
    if max(image.width(), image.height()) > MAX_SIDE:
        keep, smooth = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
        image = image.scaled(MAX_SIDE, MAX_SIDE, keep, smooth)
    png = _encoded(image, b"PNG", -1)
    jpeg = b"" if image.hasAlphaChannel() else _encoded(image, b"JPEG", 90)
    return Document("picture", picture=jpeg if jpeg and 2 * len(jpeg) < len(png) else png)


def _encoded(image: QImage, format: bytes, quality: int) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QImageWriter(buffer, QByteArray(format))
    writer.setQuality(quality)
    writer.write(image)
    return bytes(buffer.data().data())
