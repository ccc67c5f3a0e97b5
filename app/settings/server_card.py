"""The card with the switch of the local server, its address and its key."""

from PySide6.QtCore import QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QHideEvent, QShowEvent
from PySide6.QtWidgets import QCheckBox, QFormLayout, QWidget

from app import formatting
from app.background import Work
from app.local_server.local_server import LocalServer, ServerState
from app.local_server.server_figures import answered
from app.local_server.server_key import KeyringStaysLocked
from app.widgets.copy_row import CopyRow
from app.widgets.flow import Flow
from app.widgets.form_parts import Card, button, label, set_role
from app.widgets.notice import Problem
from engine.errors import SpecExecError

LOOK_MS = 2_000


class ServerCard(Card):
    """Shows the local server's state, and starts and ends it.

    Attributes:
        switch: starts and ends the server.
        state: says what the server does, and how many requests it has answered.
        address, key: to be copied; shown while they apply.
        in_file: says that the key is not in the keyring; shown while that is so.
        renew: the button that makes another key.
        restart: the button that starts the server again; shown while other preferences wait for that.
        open_log: the button that opens the log.
        problem: shows why the server failed.
    """

    def __init__(self, server: LocalServer, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._server = server
        self._work = Work(self)
        self._answered = 0
        self._is_outdated = False
        self.switch = QCheckBox(self.tr("Local server"), self)
        self.switch.clicked.connect(self._switch)
        self.state = label(role="muted", parent=self)
        self.address = CopyRow(self.tr("Address"), self)
        self.key = CopyRow(self.tr("Key"), self, is_secret=True)
        self.renew = button(self.tr("New key"), self.tr("Make another key; the present one ends"), self)
        self.renew.clicked.connect(server.renew_key)
        in_file = self.tr(
            "This system has no keyring, or it stays locked: "
            "the key is kept in a file that only you can read."
        )
        self.in_file = label(in_file, "muted", self)
        self.restart = button(self.tr("Restart the server"), parent=self)
        self.restart.clicked.connect(server.restart)
        self.open_log = button(self.tr("Open log"), parent=self)
        self.open_log.clicked.connect(
            lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(LocalServer.log())))
        )
        self.problem = Problem(self)
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self._count)
        self._build()
        server.changed.connect(self._show)
        server.not_renewed.connect(self._say_not_renewed)
        self._show()

    def _build(self) -> None:
        about = self.tr(
            "Lets editors, agents and scripts use the model that is loaded here, through OpenAI's and "
            "Anthropic's interfaces. It ends with the window."
        )
        self._rows = QFormLayout()
        self._rows.setContentsMargins(0, 8, 0, 0)
        self._rows.setHorizontalSpacing(12)
        self._rows.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        self._rows.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for name, row in ((self.tr("Address"), self.address), (self.tr("Key"), self.key)):
            self._rows.addRow(label(name, parent=self), row)
        lower = Flow()
        for each in (self.restart, self.renew, self.open_log):
            lower.addWidget(each)
        self.column.addWidget(self.switch)
        self.column.addWidget(label(about, "muted", self))
        self.column.addSpacing(4)
        self.column.addWidget(self.state)
        self.column.addLayout(self._rows)
        self.column.addWidget(self.in_file)
        self.column.addWidget(self.problem)
        self.column.addSpacing(4)
        self.column.addLayout(lower)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._timer.start()
        self._count()

    def hideEvent(self, event: QHideEvent) -> None:
        self._timer.stop()
        self._work.forget("answered")
        super().hideEvent(event)

    def show_outdated(self, is_outdated: bool) -> None:
        """Say whether the server runs with other preferences than the present ones."""
        self._is_outdated = is_outdated
        self._show()

    def _switch(self) -> None:
        if self.switch.isChecked():
            self._server.start()
        else:
            self._server.stop()
        self._show()

    # -- the server ------------------------------------------------------------------------------------------

    def _show(self) -> None:
        server = self._server
        runs = server.state is ServerState.RUNNING
        self.switch.setChecked(server.is_on)
        self.state.setText(self._words())
        set_role(self.state, "name" if runs else "muted")
        self.address.show_text(server.address)
        self.key.show_text(server.key)
        self._rows.setRowVisible(self.address, runs)
        self._rows.setRowVisible(self.key, runs and bool(server.key))
        self.in_file.setVisible(runs and server.is_key_in_file)
        # A new key is also the way out if the keyring with the present one stays locked.
        self.renew.setVisible((runs and bool(server.key)) or isinstance(server.error, KeyringStaysLocked))
        self.renew.setEnabled(not server.renews_key)
        self.restart.setVisible(runs and self._is_outdated)
        if not runs:
            self._answered = 0
        self.problem.clear()
        if server.error is not None:
            self.problem.show_error(server.error, self.tr("Start again")).pressed.connect(server.start)

    def _say_not_renewed(self, error: SpecExecError) -> None:
        self.problem.show_error(error)

    def _words(self) -> str:
        match self._server.state:
            case ServerState.STARTING if self._server.asks_keyring:
                return self.tr("Starting… Waiting for the key from the system's keyring.")
            case ServerState.STARTING:
                return self.tr("Starting… Requests are answered once the model is loaded.")
            case ServerState.RUNNING:
                running = self.tr("● Running. Requests answered: {}").format(
                    formatting.number(self._answered)
                )
                if self._is_outdated:
                    return "\n".join((running, self.tr("Changes apply once the server is started again.")))
                return running
            case ServerState.ENDING:
                return self.tr("Ending…")
            case ServerState.FAILED:
                return self.tr("✕ Not running")
        return self.tr("○ Off")

    def _count(self) -> None:
        """Ask the server how many requests it has answered."""
        server = self._server
        if server.state is ServerState.RUNNING and not self._work.is_running("answered"):
            address, key = server.address, server.key
            self._work.run(
                "answered", lambda stop: answered(address, key), self._show_answered, lambda error: None
            )

    def _show_answered(self, count: int) -> None:
        self._answered = count
        self.state.setText(self._words())
