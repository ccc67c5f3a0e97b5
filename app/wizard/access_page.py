"""When needed: a licence to accept, or an access token to enter."""

from urllib.parse import urlsplit

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from app.wizard.page import Page
from app.wizard.parts import LINE_HEIGHT, Card, Problem, button, label
from engine.errors import SpecExecError
from engine.hub import Gated, LicenseNotAccepted


class AccessPage(Page):
    """
    Attributes:
        open_page, open_tokens: buttons that lead to the Hub's pages in the browser.
        token: what is pasted; "" where the account's token is known and only the licence is missing.
        problem: what is wrong with the token.

    Signals:
        checked: a person wants to try again, with `token` where there is one
    """

    checked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Access"), self.tr("This model asks for your consent"), parent)
        self._page = self._tokens = ""
        self._checking = False
        self._message = label(parent=self)
        self._hint = label(role="muted", parent=self)
        self.open_page = button(self.tr("Open the model's page"), parent=self)
        self.open_tokens = button(self.tr("Make an access token"), parent=self)
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
            self.tr("Log in on the model's page, make a free account if you have none, and accept there."),
        )
        self._accept.column.addWidget(self.open_page, alignment=Qt.AlignmentFlag.AlignLeft)
        self._enter = self._step(
            self.tr("2. Enter an access token"),
            self.tr(
                "It proves to the Hub that it is you. A token of the kind “Read” will do. It is kept in this "
                "system's keyring, and sent to the Hub only."
            ),
        )
        self._enter.column.addWidget(self.open_tokens, alignment=Qt.AlignmentFlag.AlignLeft)
        row = QHBoxLayout()
        row.addWidget(self.token, 1)
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
    def can_go_on(self) -> bool:
        return not self._checking

    @property
    def main_text(self) -> str:
        return self.tr("Checking…") if self._checking else self.tr("Check and go on")

    @property
    def first(self) -> QWidget | None:
        return self.open_page

    def show_gate(self, error: Gated) -> None:
        """What the Hub says is missing."""
        self._page = error.page
        address = urlsplit(error.page)
        self._tokens = f"{address.scheme}://{address.netloc}/settings/tokens"
        self._message.setText(error.message)
        self._hint.setText("" if error.kind == "token_needed" else error.hint)
        self._hint.setVisible(bool(self._hint.text()))
        self._enter.setVisible(not isinstance(error, LicenseNotAccepted))
        self.problem.clear()

    def show_failure(self, error: SpecExecError) -> None:
        self.problem.show_error(error)

    def check(self, checking: bool) -> None:
        """Whether the Hub is being asked."""
        self._checking = checking
        self.token.setEnabled(not checking)
        self.changed.emit()

    def _reveal(self, shown: bool) -> None:
        mode = QLineEdit.EchoMode.Normal if shown else QLineEdit.EchoMode.Password
        self.token.setEchoMode(mode)
