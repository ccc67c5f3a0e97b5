"""Pictures written to files that the user names."""

from pathlib import Path

from PySide6.QtCore import QByteArray
from PySide6.QtGui import QImage, QImageWriter

from engine.errors import DiskProblem
from engine.files import replacing

NEXT = "Choose another folder or file name."


def write_png(path: Path, image: QImage) -> None:
    """Write a picture as PNG; a file of that name is replaced whole. Raises DiskProblem; the file at `path`
    is then unchanged."""
    try:
        with replacing(path) as temporary:
            temporary.touch()  # tells why it cannot be written, which Qt does not
            if not QImageWriter(str(temporary), QByteArray(b"PNG")).write(image):
                raise DiskProblem(f"{path} cannot be written.", NEXT)
    except OSError as error:
        raise DiskProblem(f"{path} cannot be written: {error.strerror}.", NEXT) from None
