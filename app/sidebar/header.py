"""The head of the sidebar: a new chat, search, and what is rarely needed."""

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QToolButton, QWidget

from app import theme
from app.sidebar import icons


class Header(QWidget):
    """Attributes:
    new_chat, search: buttons.
    new_folder, import_chats, export_all: actions of the menu.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.new_chat = QPushButton(" " + self.tr("New chat"), self)
        self.new_chat.setAccessibleName(self.tr("New chat"))
        self.new_chat.setToolTip(self.tr("Begin a new chat (Ctrl+N)"))
        self.search = self._button(self.tr("Search"), self.tr("Search all chats (Ctrl+K)"))
        self.more = self._button(self.tr("More"), self.tr("Folders, import and export"))
        menu = QMenu(self.more)
        self.new_folder: QAction = menu.addAction(self.tr("New folder"))
        menu.addSeparator()
        self.import_chats: QAction = menu.addAction(self.tr("Import chats…"))
        self.export_all: QAction = menu.addAction(self.tr("Export all chats…"))
        self.more.setMenu(menu)
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 10, 10, 6)
        layout.setSpacing(4)
        layout.addWidget(self.new_chat, 1)
        layout.addWidget(self.search)
        layout.addWidget(self.more)
        self._dress()

    def _button(self, name: str, tip: str) -> QToolButton:
        button = QToolButton(self)
        button.setAccessibleName(name)
        button.setToolTip(tip)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        return button

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self._dress()

    def _dress(self) -> None:
        colours = theme.current()
        side = self.fontMetrics().height() + 2
        for button, name in ((self.new_chat, "plus"), (self.search, "search"), (self.more, "more")):
            button.setIcon(icons.icon(name, colours.text))
            button.setIconSize(QSize(side, side))
