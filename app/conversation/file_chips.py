"""Chips for the files of a message: in the composer, where they can be removed, and in a question."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QSizePolicy, QToolButton, QWidget

from app.conversation import file_words
from app.rendering.quiet_button import QuietButton
from app.store import AttachedFile
from app.widgets import theme
from app.widgets.elided_label import ElidedLabel
from app.widgets.flow import Flow
from app.widgets.icons import icon
from app.widgets.plain_text import plain

NAME_WIDTH = 240  # pixels of a name at most; a longer one loses its middle
SPACING = 4


class FileChips(QScrollArea):
    """A row of chips that wraps; hidden while there is none.

    Attributes:
        files: the files shown.

    Signals:
        removed: str, id of a file, or key of one that is being read
        preview_asked: AttachedFile, whose chip was clicked
    """

    removed = Signal(str)
    preview_asked = Signal(object)

    def __init__(self, parent: QWidget | None = None, *, is_fixed: bool, most_rows: int = 50) -> None:
        """is_fixed: whether chips cannot be removed. most_rows: rows that are visible at once."""
        super().__init__(parent)
        self.files: Sequence[AttachedFile] = ()
        self._reading: Mapping[str, str] = {}
        self._is_fixed, self._most_rows = is_fixed, most_rows
        self.setObjectName("column")
        self.setAccessibleName(self.tr("Files"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)  # no share of empty space
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.hide()

    def show_files(self, files: Sequence[AttachedFile], reading: Mapping[str, str] | None = None) -> None:
        """Show these files, and by key the names of those that are being read."""
        reading = reading or {}
        if list(files) == list(self.files) and reading == self._reading:
            return
        self.files, self._reading = list(files), dict(reading)
        page = QWidget(self)
        page.setObjectName("column")
        self._flow = Flow(page)
        self._flow.setSpacing(SPACING)
        for file in files:
            self._flow.addWidget(self._chip(file, page))
        for key, name in reading.items():
            self._flow.addWidget(self._reading_chip(key, name, page))
        self.setWidget(page)
        self.setVisible(bool(files or reading))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        if self.widget() is None or not self._flow.count():
            return
        row = self._flow.sizeHint().height() + SPACING
        needed = self._flow.heightForWidth(self.viewport().width()) + SPACING
        self.setFixedHeight(min(needed, self._most_rows * row))

    def _chip(self, file: AttachedFile, page: QWidget) -> QFrame:
        name = QuietButton(file.name, self.tr("Show {}").format(file.name), page)
        name.elides = Qt.TextElideMode.ElideMiddle
        name.setToolTip(plain(file.name))
        name.clicked.connect(lambda: self.preview_asked.emit(file))
        return self._frame(name, file.name, file_words.details(file), file.id, page)

    def _reading_chip(self, key: str, name: str, page: QWidget) -> QFrame:
        title = ElidedLabel(page)
        title.setText(name)
        title.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        return self._frame(title, name, self.tr("reading…"), key, page)

    def _frame(self, title: QWidget, name: str, details: str, key: str, page: QWidget) -> QFrame:
        chip = QFrame(page)
        chip.setObjectName("chip")
        chip.setAccessibleName(name)
        title.setMaximumWidth(theme.enlarged(NAME_WIDTH))
        caption = ElidedLabel(chip)
        caption.setText(details)
        caption.setProperty("role", "caption")
        caption.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        layout = QHBoxLayout(chip)
        layout.setContentsMargins(4, 1, 8 if self._is_fixed else 2, 1)
        layout.setSpacing(4)
        layout.addWidget(title)
        layout.addWidget(caption)
        if not self._is_fixed:
            remove = QToolButton(chip)
            remove.setIcon(icon("close"))
            remove.setAccessibleName(self.tr("Remove {}").format(name))
            remove.setToolTip(plain(remove.accessibleName()))
            remove.clicked.connect(lambda: self.removed.emit(key))
            layout.addWidget(remove)
        return chip
