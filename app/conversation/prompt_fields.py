"""Asks for the values of a saved prompt's variables."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFormLayout, QLineEdit, QVBoxLayout, QWidget

from app.store.prompts import SavedPrompt, filled, variables
from app.widgets.form_parts import beside_line, label
from app.widgets.theme import LINE_HEIGHT

WIDTH = 420


class PromptFields(QDialog):
    """A field for each variable; Enter goes to the next one, and at the last inserts the prompt.

    Attributes:
        fields: the fields, in the order of the variables.

    Signals:
        written: str, the prompt with its values
    """

    written = Signal(str)

    def __init__(self, prompt: SavedPrompt, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("prompt_fields")
        self.setWindowTitle(self.tr("Saved prompt"))
        self.setMinimumWidth(WIDTH)
        self._prompt, self._names = prompt, variables(prompt.text)
        form = QFormLayout()
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        self.fields: Sequence[QLineEdit] = [self._field(form, name) for name in self._names]
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        insert = buttons.addButton(self.tr("Insert"), QDialogButtonBox.ButtonRole.AcceptRole)
        insert.setProperty("role", "main")
        buttons.accepted.connect(self._insert)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(label(prompt.name, "name", self))
        column.addLayout(form)
        column.addWidget(buttons)
        for field, following in zip(self.fields, self.fields[1:], strict=False):
            field.returnPressed.connect(following.setFocus)
        self.fields[-1].returnPressed.connect(self._insert)
        self.fields[0].setFocus()

    def _field(self, form: QFormLayout, name: str) -> QLineEdit:
        field = QLineEdit(self)
        field.setMinimumHeight(LINE_HEIGHT)
        field.setAccessibleName(name)
        form.addRow(beside_line(name, self), field)
        return field

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let Enter in a field do what the field says, and press no button."""
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and self.focusWidget() in self.fields:
            event.accept()
        else:
            super().keyPressEvent(event)

    def _insert(self) -> None:
        values = {name: field.text() for name, field in zip(self._names, self.fields, strict=True)}
        self.written.emit(filled(self._prompt.text, values))
        self.accept()
