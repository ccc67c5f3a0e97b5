"""Export of a run as JSON and of a tree as SVG or PNG."""

import math
from pathlib import Path
from typing import Literal

import msgspec
from PySide6.QtCore import QBuffer, QMarginsF, QRectF, QSize
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgGenerator

from app.panel.tree_view import TreeView
from app.widgets import theme
from app.widgets.picture_file import write_png
from engine.errors import DiskProblem
from engine.files import write_private, write_whole
from engine.protocol.messages import Answer, IterationDone, Loaded

Kind = Literal["json", "svg", "png"]
SCALE = 2.0  # pixels of a PNG per pixel of the screen, if it does not become too large
MOST_PIXELS, LONGEST = 40_000_000, 30_000  # of a PNG: all its pixels, and its width or height


class RunExport(msgspec.Struct):
    """Content of the JSON file. loaded, answer: None if not known yet."""

    loaded: Loaded | None
    iterations: list[IterationDone]
    answer: Answer | None


def save_run(path: Path, run: RunExport) -> None:
    """Write a run as JSON. Raises DiskProblem if the file cannot be written; the file at `path` is then
    unchanged."""
    try:
        write_private(path, msgspec.json.format(msgspec.json.encode(run)))
    except OSError as error:
        raise DiskProblem(f"{path}: {error.strerror}.", "Choose another folder or file name.") from None


def save_tree(path: Path, tree: TreeView, kind: Literal["svg", "png"]) -> None:
    """Write the whole tree at the zoom of the screen, with its background. Raises DiskProblem if it cannot
    be written; the file at `path` is then unchanged."""
    if kind == "png":
        write_png(path, _image(tree))
        return
    try:
        write_whole(path, _svg(tree))
    except OSError as error:
        raise DiskProblem(f"{path}: {error.strerror}.", "Choose another folder or file name.") from None


def _svg(tree: TreeView) -> bytes:
    size, written = tree.extent, QBuffer()
    picture = QSvgGenerator()
    picture.setOutputDevice(written)
    picture.setSize(size)
    picture.setViewBox(QRectF(0, 0, size.width(), size.height()))
    picture.setTitle(tree.accessibleDescription())
    painter = QPainter(picture)
    _paint(painter, tree, size)
    painter.end()
    return bytes(written.data().data())


def _image(tree: TreeView) -> QImage:
    size = tree.extent
    scale = scale_of(size)
    image = QImage(size * scale, QImage.Format.Format_ARGB32)
    image.setDevicePixelRatio(scale)
    painter = QPainter(image)
    _paint(painter, tree, size)
    painter.end()
    return image


def scale_of(size: QSize) -> float:
    """Return the scale of a PNG of a tree of this size."""
    width, height = size.width(), size.height()
    return min(SCALE, math.sqrt(MOST_PIXELS / (width * height)), LONGEST / max(width, height))


def _paint(painter: QPainter, tree: TreeView, size: QSize) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setFont(tree.font())
    background = QRectF(0, 0, size.width(), size.height()).marginsAdded(QMarginsF(1, 1, 1, 1))
    painter.fillRect(background, QColor(theme.current().surface))
    tree.paint_whole(painter)
