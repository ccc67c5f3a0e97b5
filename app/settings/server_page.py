"""The page of the local server: its switch, an example, and its options."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QComboBox, QPlainTextEdit, QVBoxLayout, QWidget

from app.local_server.local_server import LocalServer, ServerState
from app.local_server.server_command import LOOPBACK, differs, needs_key
from app.preferences import Preferences
from app.settings.editors import WholeEditor
from app.settings.form import Form
from app.settings.server_card import ServerCard
from app.settings.server_examples import curl_example, python_example
from app.settings.server_options import server_sections
from app.widgets.flow import Flow
from app.widgets.form_parts import Card, button, label

LINES_SHOWN = 8


class ServerPage(QWidget):
    """The page of the local server.

    Attributes:
        card: the card with the switch.
        example, language: the example, and the choice among several.
        form: the options.

    Signals:
        changed: Preferences after the user changed an option
    """

    changed = Signal(object)

    def __init__(self, server: LocalServer, now: Preferences, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._server = server
        above = QWidget(self)
        self.card = ServerCard(server, above)
        self._example = Card(above)
        self.language = QComboBox(self._example)
        self.language.addItems(["Python", "curl"])
        self.language.setAccessibleName(self.tr("Example"))
        self.language.currentIndexChanged.connect(self._show_example)
        self.example = QPlainTextEdit(self._example)
        self.example.setReadOnly(True)
        self.example.setTabChangesFocus(True)
        self.example.setAccessibleName(self.tr("Example"))
        self.example.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.example.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.copy = button(self.tr("Copy"), self.tr("Copy the example, with the key"), self._example)
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self._text(self._server.key)))
        self._build(above)
        self.form: Form[Preferences] = Form(server_sections(), now, Preferences(), self, above)
        port = self.form.rows["server.port"].editor
        assert isinstance(port, WholeEditor)
        port.box.setGroupSeparatorShown(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.form)
        self.form.changed.connect(self._take)
        server.changed.connect(self._show_example)
        self._take(now)
        self._show_example()

    def _build(self, above: QWidget) -> None:
        head = Flow()
        head.addWidget(label(self.tr("Example"), "caption", self._example))
        head.addStretch()
        head.addWidget(self.language)
        head.addWidget(self.copy)
        self._example.column.addLayout(head)
        self._example.column.addWidget(self.example)
        self.example.setFixedHeight(self.example.fontMetrics().lineSpacing() * LINES_SHOWN + 24)
        column = QVBoxLayout(above)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addWidget(self.card)
        column.addWidget(self._example)

    def _take(self, now: Preferences) -> None:
        """Follow the options, and pass them on."""
        row = self.form.rows["server.needs_key"]
        row.editor.setEnabled(now.server.address in LOOPBACK)  # elsewhere, a key is always required
        row.editor.show_value(needs_key(now.server))
        self.changed.emit(now)
        self._follow(now)

    def _follow(self, now: Preferences) -> None:
        runs = self._server.state is ServerState.RUNNING
        self.card.show_outdated(runs and differs(self._server.running_with, now.server))

    def _show_example(self) -> None:
        self._example.setVisible(self._server.state is ServerState.RUNNING)
        shown = self._text("•" * 12 if self._server.key else "")
        if shown != self.example.toPlainText():
            self.example.setPlainText(shown)
        self._follow(self.form.value)

    def _text(self, key: str) -> str:
        """Return the example with a key."""
        if self.language.currentText() == "curl":
            return curl_example(self._server.address, key, self._server.model)
        return python_example(self._server.address, key)
