"""The button that resets a form, and undoes that."""

from typing import Generic

from PySide6.QtWidgets import QPushButton, QWidget

from app.settings.form import Form
from app.settings.options import Record


class ResetButton(QPushButton, Generic[Record]):
    """Resets all options of a form; then, as long as the form shows what that gave, brings back what was
    set."""

    def __init__(self, form: Form[Record], text: str, parent: QWidget | None = None) -> None:
        """text: of the button while it resets."""
        super().__init__(text, parent)
        self._form, self._text = form, text
        self._before: Record | None = None  # what a reset has replaced
        self._after: Record | None = None  # by what
        self.setAutoDefault(False)
        self.clicked.connect(self._press)
        for changed in (form.changed, form.shown):
            changed.connect(self._forget)

    def _press(self) -> None:
        if self._before is not None:
            self._form.put(self._before)
            return
        now, values = self._form.value, self._form.values()
        self._form.reset_all()
        if self._form.values() != values:
            self._before, self._after = now, self._form.value
            self.setText(self.tr("Undo the reset"))

    def _forget(self) -> None:
        if self._form.value != self._after:
            self._before = None
            self.setText(self._text)
