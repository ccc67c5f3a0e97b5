"""The page of the prompt library: prompts to write, change, delete, import and export."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QSignalBlocker
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app import formatting
from app.store import StoreError
from app.store.prompts import Prompts, SavedPrompt, from_file, to_file
from app.widgets.fault_words import in_one
from app.widgets.flow import Flow
from app.widgets.form_parts import LINE_HEIGHT, button, label, set_role

FILE = "prompts.json"


class PromptsPage(QWidget):
    """The page. What was written is saved when another prompt is chosen or the page is left, too.

    Attributes:
        names: the list of the prompts' names.
        name, text: the fields of the chosen prompt, or of a new one.
        save, new, delete, import_, export: the buttons.
        note: says what the last action did.
        undo: brings back the prompts that the last action deleted or replaced; hidden if there are none.
    """

    def __init__(self, prompts: Prompts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._prompts = prompts
        self._kept: list[SavedPrompt] = []
        self._row = -1  # of the prompt in the fields; -1: a new one
        self._before: list[SavedPrompt] = []  # the library that `undo` restores
        self.names = QListWidget(self)
        self.names.setObjectName("choices")
        self.names.setAccessibleName(self.tr("Prompts"))
        self.names.currentRowChanged.connect(self._choose)
        self.name = QLineEdit(self)
        self.name.setMinimumHeight(LINE_HEIGHT)
        self.name.setAccessibleName(self.tr("Name"))
        self.name.setPlaceholderText(self.tr("Name"))
        self.text = QPlainTextEdit(self)
        self.text.setAccessibleName(self.tr("Text"))
        self.text.setPlaceholderText(self.tr("Translate into {{language}}:"))
        self.text.setTabChangesFocus(True)
        self.save = self._button(self.tr("Save"), self._save)
        self.new = self._button(self.tr("New"), self._begin)
        self.delete = self._button(self.tr("Delete"), self._delete)
        self.import_ = self._button(self.tr("Import…"), self._ask_import)
        self.export = self._button(self.tr("Export all…"), self._ask_export)
        self.note = label(role="muted", parent=self)
        self.undo = self._button(self.tr("Undo"), self._restore)
        self.undo.hide()
        for field in (self.name.textChanged, self.text.textChanged):
            field.connect(self._allow)
        self._build()
        self.refresh()

    def _build(self) -> None:
        about = self.tr(
            "Type / at the beginning of a message to insert a prompt. Names between double braces, such as "
            "{{language}}, are asked for."
        )
        buttons, lower = Flow(), Flow()
        for each in (self.save, self.new, self.delete):
            buttons.addWidget(each)
        for each in (self.import_, self.export):
            lower.addWidget(each)
        right = QVBoxLayout()
        right.addWidget(self.name)
        right.addWidget(self.text, 1)
        right.addLayout(buttons)
        columns = QHBoxLayout()
        columns.setSpacing(16)
        columns.addWidget(self.names, 2)
        columns.addLayout(right, 3)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(label(about, "muted", self))
        layout.addLayout(columns, 1)
        said = QHBoxLayout()
        said.addWidget(self.note, 1)
        said.addWidget(self.undo)
        layout.addLayout(said)
        layout.addLayout(lower)

    def _button(self, text: str, pressed: Callable[[], object]) -> QPushButton:
        made = button(text, parent=self)
        made.clicked.connect(lambda: pressed())
        return made

    def refresh(self, chosen: str = "") -> None:
        """Read the prompts again. chosen: the name of the prompt to select, or "" for none."""
        try:
            self._kept = self._prompts.all()
        except StoreError as error:
            self._say_error(error)
            return
        known = [prompt.name for prompt in self._kept]
        with QSignalBlocker(self.names):
            self.names.clear()
            self.names.addItems(known)
            self.names.setCurrentRow(known.index(chosen) if chosen in known else -1)
        self._show(self.names.currentRow())

    def import_from(self, path: Path) -> None:
        """Import a library. Prompts of the same names are replaced."""
        self._keep()
        self._do(lambda: self._imported(path))

    def export_to(self, path: Path) -> None:
        try:
            path.write_bytes(to_file(self._kept))
        except OSError as error:
            self._say(self.tr("{} could not be written: {}").format(path, error.strerror), "danger")
        else:
            self._say(self.tr("Exported to {}").format(path))

    def _imported(self, path: Path) -> str:
        found = from_file(path)
        self._prompts.save(found)
        self._say(self.tr("Prompts imported: {}").format(formatting.number(len(found))))
        return found[0].name if found else ""

    def hideEvent(self, event: QHideEvent) -> None:
        self._keep()
        super().hideEvent(event)

    def _choose(self, row: int) -> None:
        name = self._kept[row].name if row >= 0 else ""
        if self._keep():
            self.refresh(name)
        else:
            self._show(row)

    def _keep(self) -> bool:
        """Save what the user has written; return whether there was anything to save."""
        is_changed = self.name.isModified() or self.text.document().isModified()
        if is_changed and self.save.isEnabled():
            self._save()
            return True
        return False

    def _show(self, row: int) -> None:
        self._row = row
        chosen = self._kept[row] if row >= 0 else None
        self.name.setText(chosen.name if chosen else "")
        self.text.setPlainText(chosen.text if chosen else "")
        self.delete.setEnabled(chosen is not None)
        self.export.setEnabled(bool(self._kept))
        self._allow()

    def _allow(self) -> None:
        self.save.setEnabled(bool(self.name.text().strip() and self.text.toPlainText().strip()))

    def _begin(self) -> None:
        self.names.setCurrentRow(-1)
        self._choose(-1)
        self.name.setFocus()

    def _save(self) -> None:
        """Save the fields; a prompt that gets another name loses its old one."""
        prompt = SavedPrompt(" ".join(self.name.text().split())[:200], self.text.toPlainText())
        before = self._kept[self._row].name if self._row >= 0 else prompt.name

        def save() -> str:
            self._prompts.save([prompt])
            if before != prompt.name:
                self._prompts.delete(before)
            self._say(self.tr("{} was saved.").format(prompt.name))
            return prompt.name

        self._do(save)

    def _delete(self) -> None:
        name = self._kept[self.names.currentRow()].name

        def delete() -> str:
            self._prompts.delete(name)
            self._say(self.tr("{} was deleted.").format(name))
            return ""

        self._do(delete)

    def _do(self, work: Callable[[], str]) -> None:
        """Change the library; `work` returns the name of the prompt to select."""
        before = self._kept
        try:
            chosen = work()
        except StoreError as error:
            self._say_error(error)
        else:
            self.refresh(chosen)
            self._before = before
            self.undo.setVisible(any(prompt not in self._kept for prompt in before))

    def _restore(self) -> None:
        """Bring back the library as it was before the last action."""
        before = self._before
        names = {prompt.name for prompt in before}

        def restore() -> str:
            for prompt in self._kept:
                if prompt.name not in names:
                    self._prompts.delete(prompt.name)
            self._prompts.save(before)
            self._say(self.tr("The prompts are as they were before."))
            return ""

        self._do(restore)
        self.undo.hide()

    def _say_error(self, error: StoreError) -> None:
        self._say(in_one(error), "danger")

    def _say(self, text: str, role: str = "muted") -> None:
        self.note.setText(text)
        set_role(self.note, role)

    def _ask_import(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, self.tr("Import prompts"), "", "JSON (*.json)")
        if path:
            self.import_from(Path(path))

    def _ask_export(self) -> None:
        path, _ = QFileDialog.getSaveFileName(self, self.tr("Export prompts"), FILE, "JSON (*.json)")
        if path:
            self.export_to(Path(path))
