"""The page of engines elsewhere: which ones were added, and the card that adds or changes one."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QMessageBox, QVBoxLayout, QWidget

from app.background import Work
from app.settings.engine_editor import EngineEditor
from app.widgets.flow import Flow
from app.widgets.form_parts import button, label
from app.widgets.notice import Problem
from app.widgets.plain_text import NO_BUTTON, PlainMessageBox, plain
from engine.remote import engines
from engine.remote.engines import AddedEngine

ENGINE = Qt.ItemDataRole.UserRole
ROWS_SHOWN = 5


class EnginesPage(QWidget):
    """The page that lists engines elsewhere.

    Attributes:
        list: the added engines.
        add, change, remove: the buttons.
        editor: the card with an engine's fields; hidden unless one is added or changed.
        note: what there is to say after an engine was saved.
        problem: shows why the list cannot be read or changed.

    Signals:
        changed: an engine was added, changed or removed
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._work = Work(self)
        self._wanted = ""  # the engine to show once the list has been read
        self.list = QListWidget(self)
        self.list.setObjectName("choices")
        self.list.setAccessibleName(self.tr("Engines elsewhere"))
        self.add = button(self.tr("Add an engine…"), parent=self)
        self.change = button(self.tr("Change…"), self.tr("Change the engine"), self)
        self.remove = button(self.tr("Remove…"), self.tr("Remove the engine"), self)
        self.editor = EngineEditor(self)
        self.editor.hide()
        self.note = label(role="muted", parent=self)
        self.note.hide()
        self.problem = Problem(self)
        self._build()
        self.add.clicked.connect(lambda: self.edit(None))
        self.change.clicked.connect(lambda: self.edit(self._chosen))
        self.remove.clicked.connect(self._ask_removal)
        self.list.currentRowChanged.connect(self._allow)
        self.list.itemActivated.connect(lambda item: self.edit(item.data(ENGINE)))
        self.editor.saved.connect(self._saved)
        self.editor.left.connect(self._leave_editor)
        self._show([])

    def _build(self) -> None:
        about = self.tr(
            "Models of another machine or service can answer here, too: a server that speaks OpenAI's "
            "interface, such as vLLM, SGLang, llama.cpp or another SpecExec. What you write in chats with "
            "them is sent there; the header says so."
        )
        buttons = Flow()
        for each in (self.add, self.change, self.remove):
            buttons.addWidget(each)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(10)
        layout.addWidget(label(about, "muted", self))
        for widget in (self.problem, self.list, self.note):
            layout.addWidget(widget)
        layout.addLayout(buttons)
        layout.addWidget(self.editor)
        layout.addStretch(1)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        self.editor.stop()
        super().hideEvent(event)

    def refresh(self) -> None:
        """Read the list again."""
        self._work.run("engines", lambda stop: engines.added(), self._show, self.problem.show_error)

    def open(self, name: str) -> None:
        """Show the fields of an engine once the list has been read; "": of a new one."""
        self._wanted = name
        if not name:
            self.edit(None)

    def edit(self, engine: AddedEngine | None) -> None:
        """Show the fields of an engine; None: of a new one."""
        self.problem.clear()
        self.note.hide()
        self.editor.edit(engine)
        self.editor.show()
        (self.editor.key if engine else self.editor.name).setFocus()

    @property
    def _chosen(self) -> AddedEngine | None:
        item = self.list.currentItem()
        return item.data(ENGINE) if item else None

    def _show(self, added: list[AddedEngine]) -> None:
        chosen = self._wanted or (self._chosen.name if self._chosen else "")
        self.list.clear()
        for engine in added:
            item = QListWidgetItem(f"{engine.name}\n{engine.address}", self.list)
            item.setToolTip(plain(engine.address))
            item.setData(ENGINE, engine)
            if engine.name == chosen:
                self.list.setCurrentItem(item)
        height = sum(self.list.sizeHintForRow(row) for row in range(min(ROWS_SHOWN, len(added))))
        self.list.setFixedHeight(height + 2 * self.list.frameWidth() + 4)
        self.list.setVisible(bool(added))
        self._allow()
        if self._wanted and self._chosen is not None:
            self.edit(self._chosen)
        self._wanted = ""

    def _allow(self) -> None:
        for each in (self.change, self.remove):
            each.setVisible(self.list.count() > 0)
            each.setEnabled(self._chosen is not None)

    def _saved(self, name: str, notice: str) -> None:
        self._leave_editor()
        self.note.setText(notice or self.tr("{} was saved. Choose its models in the header.").format(name))
        self.note.show()
        self.refresh()
        self.changed.emit()

    def _leave_editor(self) -> None:
        self.editor.hide()
        self.add.setFocus()

    def _ask_removal(self) -> None:
        engine = self._chosen
        if engine is None:
            return
        question = self.tr("Remove {}?").format(engine.name)
        box = PlainMessageBox(QMessageBox.Icon.NoIcon, "", question, self, NO_BUTTON)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setInformativeText(
            self.tr("Its key is deleted, too. Chats stay; nothing changes at {}.").format(engine.place)
        )
        keep = box.addButton(self.tr("Keep"), QMessageBox.ButtonRole.RejectRole)
        remove = box.addButton(self.tr("Remove"), QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(keep)
        box.setEscapeButton(keep)
        remove.clicked.connect(lambda: self._remove(engine.name))
        box.open()

    def _remove(self, name: str) -> None:
        self.problem.clear()
        self.note.hide()
        self.editor.hide()
        self._work.run(
            "remove", lambda stop: engines.remove(name), lambda _: self._removed(), self.problem.show_error
        )

    def _removed(self) -> None:
        self.refresh()
        self.changed.emit()
