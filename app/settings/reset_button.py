"""The button that resets a form, and undoes that."""

from typing import Generic

from PySide6.QtWidgets import QPushButton, QWidget

from app.settings.form import Form
from app.settings.options import Record


class ResetButton(QPushButton, Generic[Record]):
    """Resets all options of a form; then, until one of them is changed, brings back what was set."""

    def __init__(self, form: Form[Record], text: str, parent: QWidget | None = None) -> None:
        """text: of the button while it resets."""
        super().__init__(text, parent)
        self._form, self._text = form, text
        self._before: Record | None = None  # what a reset has replaced
        self.setAutoDefault(False)
        self.clicked.connect(self._press)
        form.changed.connect(self._forget)

    def _press(self) -> None:
        before, now = self._before, self._form.value
        if before is not None:
            self._form.put(before)
            return
        self._form.reset_all()
        if self._form.value != now:
            self._before = now
            self.setText(self.tr("Undo the reset"))

    def _forget(self) -> None:
        self._before = None
        self.setText(self._text)
