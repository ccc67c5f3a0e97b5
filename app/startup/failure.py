"""The box that says what failed while the program starts, with a way on. The traceback goes to the log."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QMessageBox

from app.widgets.fault_words import in_words
from app.widgets.plain_text import PlainMessageBox
from engine.errors import SpecExecError

T = TypeVar("T")

logger = logging.getLogger(__name__)


@contextmanager
def shown_failure(sentence: str, folder: Path) -> Iterator[None]:
    """Show an exception of the block in a box and end the program with status 1.

    sentence: what failed. folder: offered to be opened, so that the user can look.
    """
    try:
        yield
    except Exception as error:
        ask(sentence, error, folder)
        sys.exit(1)


def attempt(make: Callable[[], T], sentence: str, folder: Path, way_on: str, otherwise: Callable[[], T]) -> T:
    """Return what `make` returns. If it fails, ask: `way_on` is a button, which returns what `otherwise`
    returns; any other choice ends the program with status 1."""
    try:
        return make()
    except Exception as error:
        if not ask(sentence, error, folder, way_on):
            sys.exit(1)
    with shown_failure(sentence, folder):
        return otherwise()


def ask(sentence: str, error: Exception, folder: Path, way_on: str = "") -> bool:
    """Log an error and show it until the user chooses. Return whether the choice was `way_on`."""
    logger.error("%s", sentence, exc_info=error)
    while True:
        box = PlainMessageBox(QMessageBox.Icon.Critical, "SpecExec Desktop", sentence)
        box.setInformativeText(_explained(error))
        box.setStandardButtons(QMessageBox.StandardButton.NoButton)
        role = QMessageBox.ButtonRole
        on = box.addButton(way_on, role.AcceptRole) if way_on else None
        show = box.addButton(QApplication.translate("startup", "Show the folder"), role.ActionRole)
        leave = box.addButton(QApplication.translate("startup", "Quit"), role.RejectRole)
        box.setEscapeButton(leave)
        box.exec()
        if box.clickedButton() is not show:
            return on is not None and box.clickedButton() is on
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


def _explained(error: Exception) -> str:
    if isinstance(error, SpecExecError):
        return "\n".join(in_words(error))
    return f"{type(error).__name__}: {error}"
