"""Sizes of windows on small screens."""

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget

FRAME = QSize(16, 40)  # what a window's frame and title take of the screen, about


def resize_on_screen(window: QWidget, width: int, height: int) -> None:
    """Give a window this size, or as much of it as its screen has room for, the frame included."""
    window.resize(QSize(width, height).boundedTo(window.screen().availableSize() - FRAME))
