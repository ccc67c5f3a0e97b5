"""Small widgets shared by the wizard, the settings and the notices: labels, buttons, cards."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import (
    QFileDialog,
    QFormLayout,
    QFrame,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.widgets.plain_text import PlainLabel, plain
from app.widgets.theme import LINE_HEIGHT

BAR_STEPS = 1000


def label(text: str = "", role: str = "", parent: QWidget | None = None) -> QLabel:
    """Return a label of plain text that wraps and can be selected."""
    made = PlainLabel(parent=parent)
    made.setText(text)
    made.setWordWrap(True)
    made.setProperty("role", role)
    made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return made


def add_line(form: QFormLayout, name: str, example: str, parent: QWidget) -> QLineEdit:
    """Add a field for a line of text to a form; return it."""
    line = QLineEdit(parent)
    line.setMinimumHeight(LINE_HEIGHT)
    line.setAccessibleName(name)
    line.setPlaceholderText(example)
    line.setToolTip(plain(example))
    form.addRow(beside_line(name, parent), line)
    return line


def beside_line(name: str, parent: QWidget) -> QLabel:
    """Return the label of a field for a line, on one height with its text."""
    made = label(name, parent=parent)
    made.setMinimumHeight(LINE_HEIGHT)
    return made


def ask_for_folder(parent: QWidget, title: str, folder: Path, then: Callable[[Path], object]) -> None:
    """Open a folder dialog at `folder` and call `then` with the chosen folder."""
    dialog = QFileDialog(parent, title, str(folder))
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.fileSelected.connect(lambda path: then(Path(path)))
    dialog.open()


def button(text: str, name: str = "", parent: QWidget | None = None) -> QPushButton:
    """Return a button that the Enter key presses while it has the focus.

    Args:
        name: the name for screen readers, if `text` alone says too little.
    """
    made = QPushButton(text, parent)
    made.setAccessibleName(name or text)
    made.setAutoDefault(True)
    return made


def set_role(widget: QWidget, role: str) -> None:
    """Give a widget the style that `theme` defines for a role."""
    if widget.property("role") != role:
        widget.setProperty("role", role)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def keep_place(widget: QWidget) -> None:
    """Let a widget keep its place while it is hidden, so that nothing beside it moves."""
    policy = widget.sizePolicy()
    policy.setRetainSizeWhenHidden(True)
    widget.setSizePolicy(policy)


class Card(QFrame):
    """A frame around related widgets.

    Attributes:
        column: the layout inside the frame.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(16, 12, 16, 14)
        self.column.setSpacing(4)


class Facts(Card):
    """A table of facts: name, value, and a line of detail below the value."""

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


class Scrolling(QScrollArea):
    """A scroll area for a page that is taller than the window; it never scrolls sideways."""

    def __init__(self, page: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._page = page
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        page.setObjectName("column")
        self.setWidget(page)

    def minimumSizeHint(self) -> QSize:
        """Be wide enough for the page, since nothing scrolls sideways."""
        width = self._page.minimumSizeHint().width() + self.verticalScrollBar().sizeHint().width()
        return QSize(width, super().minimumSizeHint().height())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:  # the page may need another width
            self.updateGeometry()
        return super().eventFilter(watched, event)
