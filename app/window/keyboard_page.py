"""The dialog that lists all keyboard shortcuts."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.widgets import shortcuts
from app.widgets.plain_text import PlainLabel
from app.widgets.shortcuts import Scope, Shortcut
from app.widgets.window_size import resize_on_screen


class KeyboardPage(QDialog):
    """A dialog that lists all keyboard shortcuts (`shortcuts.shortcuts`), grouped by scope."""

    def __init__(self, send_key: str = "enter", parent: QWidget | None = None) -> None:
        """send_key: as in `Preferences`."""
        super().__init__(parent)
        self.setWindowTitle(self.tr("Keyboard shortcuts"))
        resize_on_screen(self, 520, 620)
        page = QWidget(self)
        page.setObjectName("column")
        table = QGridLayout(page)
        table.setContentsMargins(8, 0, 8, 8)
        table.setHorizontalSpacing(24)
        table.setVerticalSpacing(6)
        table.setColumnStretch(0, 1)
        for scope in Scope:
            title = PlainLabel(shortcuts.scope_name(scope), page)
            title.setProperty("role", "section")
            table.addWidget(title, table.rowCount(), 0, 1, 2)
            for shortcut in shortcuts.shortcuts(send_key):
                if shortcut.scope is scope:
                    self._add(table, shortcut)
        table.setRowStretch(table.rowCount(), 1)
        area = QScrollArea(self)
        area.setWidgetResizable(True)
        area.setWidget(page)
        area.setAccessibleName(self.windowTitle())
        close = QPushButton(self.tr("Close"), self)
        close.clicked.connect(self.accept)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 12)
        layout.addWidget(area, 1)
        layout.addWidget(close, alignment=Qt.AlignmentFlag.AlignRight)

    def _add(self, table: QGridLayout, shortcut: Shortcut) -> None:
        keys = QHBoxLayout()
        keys.setSpacing(6)
        keys.addStretch(1)
        for key in shortcut.keys:
            keycap = PlainLabel(shortcuts.shown(key), self)
            keycap.setProperty("role", "key")
            keys.addWidget(keycap)
        text = PlainLabel(shortcut.text, self)
        text.setWordWrap(True)
        row = table.rowCount()
        table.addWidget(text, row, 0)
        table.addLayout(keys, row, 1)
