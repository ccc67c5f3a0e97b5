"""Header of the sidebar: buttons for a new chat and for search, and a menu."""

from PySide6.QtCore import QSize, Qt, QUrl
from PySide6.QtGui import QAction, QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QToolButton, QWidget

from app.widgets.icons import icon
from app.widgets.plain_text import plain
from engine.protocol.engine_process import log_path


class SidebarHeader(QWidget):
    """Row of buttons above the list of chats.

    Attributes:
        new_chat, search: buttons; the owner connects them.
        new_folder, import_chats, import_backup, export_all, keys: actions of the menu; the owner connects
            them.
        logs: action of the menu; it opens the log folder.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.new_chat = QPushButton(" " + self.tr("New chat"), self)
        self.new_chat.setIcon(icon("add"))
        self.new_chat.setAccessibleName(self.tr("New chat"))
        self.new_chat.setToolTip(self.tr("New chat (Ctrl+N)"))
        self.search = self._button("search", self.tr("Search"), self.tr("Search all chats (Ctrl+K)"))
        self.more = self._button(
            "more", self.tr("More"), self.tr("Folders, import, export, keyboard shortcuts, logs")
        )
        menu = QMenu(self.more)
        self.new_folder: QAction = menu.addAction(self.tr("New folder"))
        menu.addSeparator()
        self.import_chats: QAction = menu.addAction(self.tr("Import chats…"))
        self.import_backup: QAction = menu.addAction(self.tr("Bring back chats from a backup…"))
        self.export_all: QAction = menu.addAction(self.tr("Export all chats…"))
        menu.addSeparator()
        self.keys: QAction = menu.addAction(self.tr("Keyboard shortcuts…"))
        self.logs: QAction = menu.addAction(self.tr("Open log folder"))
        self.logs.triggered.connect(lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(log_path().parent)))
        self.more.setMenu(menu)
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 10, 10, 6)
        layout.setSpacing(4)
        layout.addWidget(self.new_chat, 1)
        layout.addWidget(self.search)
        layout.addWidget(self.more)
        side = self.fontMetrics().height() + 2
        for button in (self.new_chat, self.search, self.more):
            button.setIconSize(QSize(side, side))

    def _button(self, drawn: str, name: str, tip: str) -> QToolButton:
        button = QToolButton(self)
        button.setIcon(icon(drawn))
        button.setAccessibleName(name)
        button.setToolTip(plain(tip))
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        return button
