"""The card in which a tool server is added or changed."""

from msgspec import structs
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QFormLayout, QLineEdit, QPlainTextEdit, QWidget

from app.background import Work
from app.preferences import KnownTool, ToolServer
from app.settings.tool_list import ToolList
from app.tools.server_links import ServerLinks
from app.widgets.flow import Flow
from app.widgets.form_parts import Card, add_line, button, label
from app.widgets.notice import Problem
from app.widgets.plain_text import plain
from engine.errors import SpecExecError

VARIABLE_LINES = 2


class ToolServerEditor(Card):
    """The fields of one server. It can be turned on only after the user has looked at its tools.

    Attributes:
        name, command, address, key, variables: the input fields; the key is for the address.
        look, save, leave: the buttons; `look` connects and lists the tools.
        tools: the tools that the server has.
        is_on: whether answers may call them.
        outcome: says what `look` has found.
        problem: shows why it failed.

    Signals:
        saved: ToolServer, and a new key for its address, or ""
        left: the user does not want to save
    """

    saved = Signal(object, str)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._work = Work(self)
        self._links = ServerLinks()
        self._edited = ToolServer("")
        self._title = label(role="name", parent=self)
        self._form = QFormLayout()
        self._form.setContentsMargins(0, 8, 0, 0)
        self._form.setHorizontalSpacing(18)
        self._form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.name = add_line(self._form, self.tr("Name"), self.tr("How you want to call it"), self)
        self.command = add_line(self._form, self.tr("Command"), self.tr("A program and its arguments"), self)
        self.address = add_line(self._form, self.tr("Or address"), "https://host/mcp", self)
        self.key = add_line(self._form, self.tr("Key"), "", self)
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.variables = QPlainTextEdit(self)
        self.variables.setAccessibleName(self.tr("Variables"))
        self.variables.setPlaceholderText(self.tr("One NAME=value per line"))
        self.variables.setTabChangesFocus(True)
        self.variables.setFixedHeight(VARIABLE_LINES * self.fontMetrics().lineSpacing() + 14)
        self._form.addRow(label(self.tr("Variables"), parent=self), self.variables)
        self.tools = ToolList(self)
        self.is_on = QCheckBox(self.tr("Answers may call these tools, after asking you"), self)
        self.look = button(self.tr("Connect and list its tools"), parent=self)
        self.save = button(self.tr("Save"), parent=self)
        self.leave = button(self.tr("Cancel"), parent=self)
        self.outcome = label(role="muted", parent=self)
        self.problem = Problem(self)
        self._build()
        for line in (self.name, self.command, self.address):
            line.textChanged.connect(self._allow)
        for line in (self.command, self.address, self.key):
            line.textChanged.connect(self._forget)
        self.variables.textChanged.connect(self._forget)
        self.look.clicked.connect(self._look)
        self.save.clicked.connect(lambda: self.saved.emit(self._server, self.key.text().strip()))
        self.leave.clicked.connect(self.left)

    def _build(self) -> None:
        about = self.tr(
            "A command runs with your rights, as any program that you start: add only servers that you "
            "trust. It gets none of your environment variables but those it needs to start, and those you "
            "write here. An address receives what its tools are called with. Its key is stored in this "
            "system's keyring, and is sent only there."
        )
        buttons = Flow()
        for each in (self.look, self.save, self.leave):
            buttons.addWidget(each)
        self.column.addWidget(self._title)
        self.column.addWidget(label(about, "muted", self))
        self.column.addLayout(self._form)
        for widget in (self.outcome, self.tools, self.is_on, self.problem):
            self.column.addWidget(widget)
        self.column.addSpacing(6)
        self.column.addLayout(buttons)

    def edit(self, server: ToolServer | None) -> None:
        """Show the fields of a server; None: of a new one."""
        shown = self._edited = server or ToolServer("")
        self._title.setText(shown.name if server else self.tr("Add a tool server"))
        for line, text in ((self.name, shown.name), (self.command, shown.command)):
            line.setText(text)
        self.address.setText(shown.address)
        self.key.clear()
        kept = self.tr("Unchanged") if shown.has_key else self.tr("None, if it asks for none")
        self.key.setPlaceholderText(kept)
        self.key.setToolTip(plain(kept))
        self.variables.setPlainText("\n".join(shown.variables))
        self._show_tools(shown.tools)
        self.is_on.setChecked(shown.is_on)
        self.outcome.hide()
        self.problem.clear()
        self._allow()

    def stop(self) -> None:
        """End what `look` has started."""
        self._work.close()

    @property
    def _server(self) -> ToolServer:
        return ToolServer(
            self.name.text().strip(),
            self.command.text().strip(),
            self.address.text().strip(),
            [line.strip() for line in self.variables.toPlainText().splitlines() if line.strip()],
            self.is_on.isChecked() and self.is_on.isEnabled(),
            self.tools.tools,
            has_key=self._edited.has_key and self.address.text().strip() == self._edited.address,
        )

    def _allow(self) -> None:
        where = bool(self.command.text().strip()) != bool(self.address.text().strip())
        self.look.setEnabled(where)
        self.save.setEnabled(where and bool(self.name.text().strip()))
        self.key.setEnabled(bool(self.address.text().strip()))

    def _forget(self) -> None:
        """Forget the tools: they were those of another server."""
        self._show_tools([])

    def _look(self) -> None:
        self.problem.clear()
        self.look.setEnabled(False)
        self.outcome.setText(self.tr("Asking for its tools…"))
        self.outcome.show()
        server, key = self._server, self.key.text().strip()
        if server.has_key and not key:  # stored under the name that it had
            server = structs.replace(server, name=self._edited.name)
        self._work.run("tools", lambda stop: self._links.tools(server, stop, key), self._take, self._fail)

    def _take(self, found: list[KnownTool]) -> None:
        before = {tool.name: tool for tool in self.tools.tools if tool.always}
        kept = [
            before[tool.name] if tool.name in before and _same(before[tool.name], tool) else tool
            for tool in found
        ]
        self._show_tools(kept)
        self.outcome.setText(
            self.tr("Look at what it offers. Tick what may be called without asking:")
            if found
            else self.tr("It offers no tools that can be used.")
        )
        self._allow()

    def _show_tools(self, tools: list[KnownTool]) -> None:
        self.tools.show_tools(tools)
        self.is_on.setEnabled(bool(tools))
        if not tools:
            self.is_on.setChecked(False)

    def _fail(self, error: SpecExecError) -> None:
        self.outcome.hide()
        self._allow()
        self.problem.show_error(error)


def _same(before: KnownTool, now: KnownTool) -> bool:
    return (before.description, before.schema) == (now.description, now.schema)
