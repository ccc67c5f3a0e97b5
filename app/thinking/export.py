"""A run as JSON; a tree as SVG or PNG."""

from pathlib import Path
from typing import Literal

import msgspec
from PySide6.QtCore import QMarginsF, QRectF, QSize
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgGenerator

from app import theme
from app.thinking.tree_view import TreeView
from engine.errors import DiskProblem
from engine.protocol.messages import Answer, IterationDone, Loaded

Kind = Literal["json", "svg", "png"]
SCALE = 2  # pixels of a PNG for one of the screen


class Run(msgspec.Struct):
    """loaded, answer: None where the window was not told yet."""

    loaded: Loaded | None
    iterations: list[IterationDone]
    answer: Answer | None


def save_run(path: Path, run: Run) -> None:
    """Raises DiskProblem."""
    try:
        path.write_bytes(msgspec.json.format(msgspec.json.encode(run)))
    except OSError as error:
        raise DiskProblem(f"{path}: {error.strerror}.", "Name a file that can be written.") from None


def save_tree(path: Path, tree: TreeView, kind: Literal["svg", "png"]) -> None:
    """As it is on the screen, on the ground it has there. Raises DiskProblem."""
    size = tree.size()
    if kind == "svg":
        picture = QSvgGenerator()
        picture.setFileName(str(path))
        picture.setSize(size)
        picture.setViewBox(QRectF(0, 0, size.width(), size.height()))
        picture.setTitle(tree.accessibleDescription())
        painter = QPainter()
        done = painter.begin(picture)
        if done:
            _paint(painter, tree, size)
            painter.end()
    else:
        image = QImage(size * SCALE, QImage.Format.Format_ARGB32)
        image.setDevicePixelRatio(SCALE)
        painter = QPainter(image)
        _paint(painter, tree, size)
        painter.end()
        done = image.save(str(path))  # the name says the format
    if not done:
        raise DiskProblem(f"{path} cannot be written.", "Name another file.")


def _paint(painter: QPainter, tree: TreeView, size: QSize) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setFont(tree.font())
    ground = QRectF(0, 0, size.width(), size.height()).marginsAdded(QMarginsF(1, 1, 1, 1))
    painter.fillRect(ground, QColor(theme.current().surface))
    tree.paint(painter)
