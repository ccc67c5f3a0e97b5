"""The page of the prompt library: prompts to write, change, delete, import and export."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, QTimer
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
from app.widgets.form_parts import button, label, set_role
from app.widgets.save_dialog import ask_where_to_save
from app.widgets.theme import LINE_HEIGHT
from engine.files import write_whole

NAME = "prompts"  # of the file of exported prompts, as suggested
MOST_NAME = 200  # characters, as in SavedPrompt
MADE_NAME = 40  # characters of a name that is made of the text


class PromptsPage(QWidget):
    """The page. What was written is saved when another prompt is chosen or the page is left, too: without a
    name, under its first words, and never in place of another prompt.

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

    def refresh(self, chosen: str = "", *, keeps_fields: bool = False) -> None:
        """Read the prompts again. chosen: the name of the prompt to select, or "" for none. keeps_fields:
        whether the fields stay as they are."""
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
        self.export.setEnabled(bool(self._kept))
        self._show(self.names.currentRow(), keeps_fields=keeps_fields)

    def import_from(self, path: Path) -> None:
        """Import a library. Prompts of the same names are replaced."""
        if self._keep():
            self._do(lambda: self._imported(path))

    def export_to(self, path: Path) -> None:
        try:
            write_whole(path, to_file(self._kept))
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
        if self._is_changed():
            name = self._name_at(row)
            # Later: if the list changed while it handles a click, it would select what then lies there.
            QTimer.singleShot(0, self, lambda: self._go_to(name))
        else:
            self._show(row)

    def _go_to(self, name: str) -> None:
        """Show a prompt, or the empty fields of a new one for "", unless what was written cannot be saved."""
        if self._keep():
            self.refresh(name)
        else:
            with QSignalBlocker(self.names):
                self.names.setCurrentRow(self._row)

    def _name_at(self, row: int) -> str:
        return self._kept[row].name if row >= 0 else ""

    def _is_changed(self) -> bool:
        """Whether the fields hold a text that the user has changed."""
        is_changed = self.name.isModified() or self.text.document().isModified()
        return is_changed and bool(self.text.toPlainText().strip())

    def _keep(self) -> bool:
        """Save what the user has written; return False if that fails."""
        if not self._is_changed():
            return True
        text = self.text.toPlainText()
        name = self._written_name() or self._name_at(self._row) or formatting.excerpt(text, MADE_NAME)
        return self._save_as(self._unused(name), text)

    def _unused(self, name: str) -> str:
        """Return the name, with a number behind it if another prompt has it."""
        taken = {prompt.name for prompt in self._kept} - {self._name_at(self._row)}
        number, unused = 1, name
        while unused in taken:
            number += 1
            end = f" {number}"
            unused = name[: MOST_NAME - len(end)] + end
        return unused

    def _show(self, row: int, *, keeps_fields: bool = False) -> None:
        self._row = row
        chosen = self._kept[row] if row >= 0 else None
        self.delete.setEnabled(chosen is not None)
        if not keeps_fields:
            self.name.setText(chosen.name if chosen else "")
            self.text.setPlainText(chosen.text if chosen else "")
            self._allow()

    def _allow(self) -> None:
        self.save.setEnabled(bool(self.name.text().strip() and self.text.toPlainText().strip()))

    def _begin(self) -> None:
        self._go_to("")
        self.name.setFocus()

    def _written_name(self) -> str:
        return " ".join(self.name.text().split())[:MOST_NAME]

    def _save(self) -> None:
        """Save the fields, in place of a prompt that has the name."""
        self._save_as(self._written_name(), self.text.toPlainText())

    def _save_as(self, name: str, text: str) -> bool:
        """Save a prompt, which loses its old name; return whether that worked."""
        before = self._name_at(self._row) or name

        def save() -> str:
            self._prompts.save([SavedPrompt(name, text)])
            if before != name:
                self._prompts.delete(before)
            self._say(self.tr("{} was saved.").format(name))
            return name

        return self._do(save)

    def _delete(self) -> None:
        name = self._name_at(self._row)

        def delete() -> str:
            self._prompts.delete(name)
            self._say(self.tr("{} was deleted.").format(name))
            return ""

        self._do(delete)

    def _do(self, work: Callable[[], str], *, keeps_fields: bool = False) -> bool:
        """Change the library; return whether that worked. `work` returns the name of the prompt to select."""
        before = self._kept
        try:
            chosen = work()
        except StoreError as error:
            self._say_error(error)
            return False
        self.refresh(chosen, keeps_fields=keeps_fields)
        self._before = before
        self.undo.setVisible(any(prompt not in self._kept for prompt in before))
        return True

    def _restore(self) -> None:
        """Bring back the library as it was before the last action; what is being written stays."""
        before, shown = self._before, self._name_at(self._row)
        names = {prompt.name for prompt in before}

        def restore() -> str:
            for prompt in self._kept:
                if prompt.name not in names:
                    self._prompts.delete(prompt.name)
            self._prompts.save(before)
            self._say(self.tr("The prompts are as they were before."))
            return shown

        self._do(restore, keeps_fields=self._is_changed())
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
        path = ask_where_to_save(self, self.tr("Export prompts"), NAME, {"JSON (*.json)": "json"})
        if path is not None:
            self.export_to(path)
