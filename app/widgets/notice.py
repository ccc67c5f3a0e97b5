"""Notices: what happened, and what to do next."""

from typing import Literal

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QPushButton, QVBoxLayout, QWidget

from app.widgets.fault_words import in_words
from app.widgets.flow import Flow
from app.widgets.form_parts import label
from app.widgets.wrapped_button import AS_OTHERS, WrappedButton
from engine.errors import SpecExecError


class Notice(QFrame):
    """A frame with a message, a hint, and a button if there is an action to offer.

    Attributes:
        button: the button for the action; None if there is no action.

    Signals:
        pressed: `button` was pressed
    """

    pressed = Signal()

    def __init__(
        self,
        message: str,
        hint: str,
        action: str = "",
        parent: QWidget | None = None,
        tone: Literal["problem", "offer"] = "problem",
    ) -> None:
        """tone: whether something went wrong, or the user has a choice."""
        super().__init__(parent)
        self.setObjectName("notice")
        self.setProperty("tone", tone)
        is_problem = tone == "problem"
        self.setAccessibleName(self.tr("Problem: {}").format(message) if is_problem else message)
        self.setAccessibleDescription(hint)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 10, 14, 12)
        layout.setSpacing(6)
        layout.addWidget(label(message, "danger" if is_problem else "name", self))
        if hint:
            layout.addWidget(label(hint, "body", self))
        self._buttons = Flow()
        layout.addLayout(self._buttons)
        self.button = self.offer(action) if action else None
        if self.button:
            self.button.clicked.connect(self.pressed)

    def offer(self, action: str) -> QPushButton:
        """Add another button and return it for the caller to connect."""
        button = WrappedButton(self, above=AS_OTHERS)
        button.setText(action)
        button.setAccessibleName(action)
        self._buttons.addWidget(button)
        return button


class Problem(QWidget):
    """A place for one error notice; hidden while there is no error."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._notice: Notice | None = None
        self.hide()

    def show_error(self, error: SpecExecError, action: str = "") -> Notice:
        """Show an error and return its notice. With an `action`, the caller connects `Notice.pressed`."""
        self.clear()
        self._notice = Notice(*in_words(error), action, self)
        self._column.addWidget(self._notice)
        self.show()
        return self._notice

    def clear(self) -> None:
        if self._notice is not None:
            self._notice.hide()
            self._notice.deleteLater()
            self._notice = None
        self.hide()

    @property
    def message(self) -> str:
        return self._notice.accessibleName() if self._notice else ""
