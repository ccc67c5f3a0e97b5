"""Small widgets that the wizard's pages are made of."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QGridLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.notice import Notice
from engine.errors import SpecExecError

BAR_STEPS = 1000
LINE_HEIGHT = 30  # of what is typed into, as high as a button


def label(text: str = "", role: str = "", parent: QWidget | None = None) -> QLabel:
    """Plain text that breaks its lines and can be copied."""
    made = QLabel(parent)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setText(text)
    made.setWordWrap(True)
    made.setProperty("role", role)
    made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return made


def ask_for_folder(parent: QWidget, title: str, folder: Path, then: Callable[[Path], object]) -> None:
    """Beginning at `folder`; `then` is told the one that was chosen."""
    dialog = QFileDialog(parent, title, str(folder))
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.fileSelected.connect(lambda path: then(Path(path)))
    dialog.open()


def button(text: str, name: str = "", parent: QWidget | None = None) -> QPushButton:
    """name: for screen readers, where the text alone says too little."""
    made = QPushButton(text, parent)
    made.setAccessibleName(name or text)
    made.setAutoDefault(True)  # Enter presses it
    return made


def set_role(widget: QWidget, role: str) -> None:
    """The look that `theme` gives to a role."""
    if widget.property("role") != role:
        widget.setProperty("role", role)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


class Card(QFrame):
    """A frame around what belongs together.

    Attributes:
        column: its layout.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(16, 12, 16, 14)
        self.column.setSpacing(4)


class Facts(Card):
    """What, how much, more about it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(18)
        self._grid.setVerticalSpacing(10)
        self._grid.setColumnStretch(1, 1)
        self.column.addLayout(self._grid)
        self._labels: list[QLabel] = []

    def show_rows(self, rows: list[tuple[str, str, str]]) -> None:
        for old in self._labels:
            old.hide()
            old.deleteLater()
        self._labels = []
        for row, (what, fact, more) in enumerate(rows):
            name, value = label(what, "muted", self), label(fact, "name", self)
            name.setWordWrap(False)
            name.setAlignment(Qt.AlignmentFlag.AlignTop)
            value.setAccessibleName(f"{what}: {fact}. {more}")
            self._grid.addWidget(name, 2 * row, 0)
            self._grid.addWidget(value, 2 * row, 1)
            self._labels += [name, value]
            if more:
                about = label(more, "caption", self)
                self._grid.addWidget(about, 2 * row + 1, 1)
                self._labels.append(about)


class Problem(QWidget):
    """Room for one notice; hidden while all is well."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._notice: Notice | None = None
        self.hide()

    def show_error(self, error: SpecExecError, action: str = "") -> Notice:
        """Its `pressed` is for whoever named the action."""
        self.clear()
        self._notice = Notice(error.message, error.hint, action, self)
        self._column.addWidget(self._notice)
        self.show()
        return self._notice

    def clear(self) -> None:
        if self._notice is not None:
            self._notice.hide()
            self._notice.deleteLater()
            self._notice = None
        self.hide()

    @property
    def message(self) -> str:
        return self._notice.accessibleName() if self._notice else ""


class Scrolling(QScrollArea):
    """A page that is taller than the window can be scrolled; never sideways."""

    def __init__(self, page: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        page.setObjectName("column")
        self.setWidget(page)
