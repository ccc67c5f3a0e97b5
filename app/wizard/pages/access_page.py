"""The page for access to gated models: the user accepts a licence and enters an access token."""

from urllib.parse import urlsplit

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QLineEdit, QWidget

from app.widgets.fault_words import in_words
from app.widgets.flow import Flow
from app.widgets.form_parts import Card, button, label
from app.widgets.notice import Problem
from app.widgets.theme import LINE_HEIGHT
from app.wizard.pages.page import Page
from engine.errors import SpecExecError
from engine.hub import Gated, LicenseNotAccepted


class AccessPage(Page):
    """The page that explains what the Hub requires for access, and asks for it. Shown only if needed.

    Attributes:
        open_page, open_tokens: buttons that open pages of the Hub in the browser.
        token: the input field for an access token; hidden if only the licence is missing.
        problem: shows why the last check failed.

    Signals:
        checked: the user wants access to be checked again, with the text of `token` if it is not empty
    """

    checked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Access"), self.tr("This model requires your consent"), parent)
        self._page = self._tokens = ""
        self._checking = False
        self._message = label(parent=self)
        self._hint = label(role="muted", parent=self)
        self.open_page = button(self.tr("Open the model's page"), parent=self)
        self.open_tokens = button(self.tr("Create an access token"), parent=self)
        self.token = QLineEdit(self)
        self.token.setEchoMode(QLineEdit.EchoMode.Password)
        self.token.setPlaceholderText("hf_…")
        self.token.setMinimumHeight(LINE_HEIGHT)
        self.token.setAccessibleName(self.tr("Access token"))
        self._show = button(self.tr("Show"), self.tr("Show the access token"), self)
        self._show.setCheckable(True)
        self.problem = Problem(self)
        self.open_page.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(self._page)))
        self.open_tokens.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(self._tokens)))
        self.token.textChanged.connect(lambda text: self.changed.emit())
        self.token.returnPressed.connect(self.checked)
        self._show.toggled.connect(self._reveal)
        self._build()

    def _build(self) -> None:
        self.column.addWidget(self._message)
        self.column.addWidget(self._hint)
        self._accept = self._step(
            self.tr("1. Accept the licence"),
            self.tr("Open the model's page, log in or create a free account, and accept the licence there."),
        )
        self._accept.column.addWidget(self.open_page, alignment=Qt.AlignmentFlag.AlignLeft)
        self._enter = self._step(
            self.tr("2. Enter an access token"),
            self.tr(
                "The token identifies you to Hugging Face. A token of type “Read” is enough. It is stored in "
                "this system's keyring and sent only to Hugging Face."
            ),
        )
        self._enter.column.addWidget(self.open_tokens, alignment=Qt.AlignmentFlag.AlignLeft)
        row = Flow()
        row.addWidget(self.token)
        row.addWidget(self._show)
        self._enter.column.addLayout(row)
        self.column.addWidget(self.problem)
        self.column.addStretch(1)

    def _step(self, title: str, text: str) -> Card:
        card = Card(self)
        card.column.setSpacing(8)
        card.column.addWidget(label(title, "name", card))
        card.column.addWidget(label(text, "muted", card))
        self.column.addWidget(card)
        return card

    @property
    def can_continue(self) -> bool:
        return not self._checking

    @property
    def main_text(self) -> str:
        return self.tr("Checking…") if self._checking else self.tr("Check and continue")

    @property
    def first(self) -> QWidget | None:
        return self.open_page

    def show_gate(self, error: Gated) -> None:
        """Show what the Hub requires."""
        self._page = error.page
        address = urlsplit(error.page)
        self._tokens = f"{address.scheme}://{address.netloc}/settings/tokens"
        message, hint = in_words(error)
        self._message.setText(message)
        self._hint.setText("" if error.kind == "token_needed" else hint)
        self._hint.setVisible(bool(self._hint.text()))
        self._enter.setVisible(not isinstance(error, LicenseNotAccepted))
        self.problem.clear()

    def show_failure(self, error: SpecExecError) -> None:
        self.problem.show_error(error)

    def set_checking(self, checking: bool) -> None:
        """Show whether the Hub is being asked; input is blocked meanwhile."""
        self._checking = checking
        self.token.setEnabled(not checking)
        self.changed.emit()

    def _reveal(self, shown: bool) -> None:
        mode = QLineEdit.EchoMode.Normal if shown else QLineEdit.EchoMode.Password
        self.token.setEchoMode(mode)
