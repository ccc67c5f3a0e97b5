"""The page of tools: the program's own, how many calls an answer may make, and tool servers."""

from collections.abc import Sequence

from msgspec import structs
from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QCheckBox, QListWidget, QListWidgetItem, QSpinBox, QVBoxLayout, QWidget

from app.background import Work
from app.preferences import KnownTool, ToolPreferences, ToolServer
from app.settings.tool_list import ToolList
from app.settings.tool_server_editor import ToolServerEditor
from app.tools.keys import forget_key, with_key
from app.widgets.flow import Flow
from app.widgets.form_parts import button, label
from app.widgets.plain_text import PlainLabel, plain
from engine.errors import SpecExecError

MOST_CALLS = 50
ROWS_SHOWN = 4


class ToolsPage(QWidget):
    """The page.

    Attributes:
        built_in: whether answers may call the program's own tools.
        own: the program's own tools.
        most_calls: how many calls are made for one question at most.
        servers: the tool servers.
        add, change, remove: the buttons for servers.
        note: says that a key could not be stored.
        editor: the card with a server's fields; hidden unless one is added or changed.

    Signals:
        changed: ToolPreferences
    """

    changed = Signal(object)

    def __init__(self, now: ToolPreferences, own: Sequence[KnownTool], parent: QWidget | None = None) -> None:
        """own: the program's own tools."""
        super().__init__(parent)
        self._now = now
        self._work = Work(self)
        self._edited: ToolServer | None = None
        self.built_in = QCheckBox(self.tr("Answers may call the program's own tools"), self)
        self.built_in.setChecked(now.built_in)
        self.own = ToolList(self)
        ticked = [structs.replace(tool, always=tool.name in now.always) for tool in own]
        self.own.show_tools(ticked, self._about_own())
        self.own.setEnabled(now.built_in)
        self.most_calls = QSpinBox(self)
        self.most_calls.setRange(1, MOST_CALLS)
        self.most_calls.setValue(now.most_calls)
        self.most_calls.setAccessibleName(self.tr("Calls for one question, at most"))
        self.servers = QListWidget(self)
        self.servers.setObjectName("choices")
        self.servers.setAccessibleName(self.tr("Tool servers"))
        self.add = button(self.tr("Add a tool server…"), parent=self)
        self.change = button(self.tr("Change…"), self.tr("Change the tool server"), self)
        self.remove = button(self.tr("Remove"), self.tr("Remove the tool server"), self)
        self.note = label(role="muted", parent=self)
        self.note.hide()
        self.editor = ToolServerEditor(self)
        self.editor.hide()
        self._build()
        self._connect()
        self._show_servers()

    def _about_own(self) -> dict[str, str]:
        """Return what the user reads of the program's own tools; their descriptions are for the model."""
        return {
            "calculator": self.tr("Calculates the value of an expression, such as (2 + 3) * sqrt(7)."),
            "date": self.tr("Tells the date, the weekday and the time."),
            "search_chats": self.tr("Searches your chats for messages that contain all of some words."),
        }

    def _build(self) -> None:
        about = self.tr(
            "With tools, an answer can calculate, look something up or act. Each call is shown with its "
            "arguments, and you are asked before it is made, unless the tool is ticked. What a tool "
            "answers is not checked: it may be wrong or try to mislead."
        )
        calls = Flow()
        calls.addWidget(PlainLabel(self.most_calls.accessibleName(), self))
        calls.addWidget(self.most_calls)
        buttons = Flow()
        for each in (self.add, self.change, self.remove):
            buttons.addWidget(each)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(10)
        layout.addWidget(label(about, "muted", self))
        layout.addWidget(self.built_in)
        layout.addWidget(self.own)
        layout.addLayout(calls)
        layout.addWidget(label(self.tr("Tool servers (MCP)"), "section", self))
        layout.addWidget(self.servers)
        layout.addLayout(buttons)
        layout.addWidget(self.note)
        layout.addWidget(self.editor)
        layout.addStretch(1)

    def _connect(self) -> None:
        self.built_in.toggled.connect(lambda is_on: self._keep(built_in=is_on))
        self.built_in.toggled.connect(self.own.setEnabled)
        self.own.changed.connect(
            lambda: self._keep(always=[tool.name for tool in self.own.tools if tool.always])
        )
        self.most_calls.valueChanged.connect(lambda most: self._keep(most_calls=most))
        self.add.clicked.connect(lambda: self.edit(None))
        self.change.clicked.connect(lambda: self.edit(self._chosen))
        self.remove.clicked.connect(self._remove)
        self.servers.currentRowChanged.connect(self._allow)
        self.servers.itemActivated.connect(lambda _: self.edit(self._chosen))
        self.editor.saved.connect(self._save)
        self.editor.left.connect(self._leave)

    def hideEvent(self, event: QHideEvent) -> None:
        self.editor.stop()
        super().hideEvent(event)

    def edit(self, server: ToolServer | None) -> None:
        """Show the fields of a server; None: of a new one."""
        self._edited = server
        self.editor.edit(server)
        self.editor.show()
        self.editor.name.setFocus()

    @property
    def _chosen(self) -> ToolServer | None:
        row = self.servers.currentRow()
        return self._now.servers[row] if 0 <= row < len(self._now.servers) else None

    def _show_servers(self) -> None:
        self.servers.clear()
        for server in self._now.servers:
            state = self.tr("on") if server.is_on else self.tr("off")
            item = QListWidgetItem(f"{server.name} · {state}\n{server.address or server.command}")
            item.setToolTip(plain(server.address or server.command))
            self.servers.addItem(item)
        height = sum(self.servers.sizeHintForRow(row) for row in range(min(ROWS_SHOWN, self.servers.count())))
        self.servers.setFixedHeight(height + 2 * self.servers.frameWidth() + 4)
        self.servers.setVisible(bool(self._now.servers))
        self._allow()

    def _allow(self) -> None:
        for each in (self.change, self.remove):
            each.setVisible(bool(self._now.servers))
            each.setEnabled(self._chosen is not None)

    def _save(self, server: ToolServer, key: str) -> None:
        before = self._edited
        others = [each for each in self._now.servers if each is not before]
        if any(each.name == server.name for each in others):
            self.editor.name.setFocus()
            self.editor.outcome.setText(self.tr("Another server has this name."))
            self.editor.outcome.show()
        elif key or (before is not None and before.has_key):
            self._work.run("key", lambda stop: with_key(server, key, before), self._store, self._fail)
        else:
            self._store((server, True))

    def _store(self, made: tuple[ToolServer, bool]) -> None:
        server, is_kept = made
        servers = [server if each is self._edited else each for each in self._now.servers]
        self._keep(servers=servers if self._edited else [*servers, server])
        if not is_kept:
            self.note.setText(
                self.tr("This system has no keyring: the key is kept in memory until the program ends.")
            )
        self._leave()
        self.note.setVisible(not is_kept)

    def _fail(self, error: SpecExecError) -> None:
        self.editor.problem.show_error(error)

    def _remove(self) -> None:
        removed = self._chosen
        self._keep(servers=[each for each in self._now.servers if each is not removed])
        if removed is not None and removed.has_key:
            self._work.run("forget", lambda stop: forget_key(removed), lambda _: None, self._fail)
        self._leave()

    def _leave(self) -> None:
        self.editor.hide()
        self.note.hide()
        self._show_servers()
        self.add.setFocus()

    def _keep(self, **fields: object) -> None:
        self._now = structs.replace(self._now, **fields)
        self.changed.emit(self._now)
