"""Notices: what happened, and what to do next."""

from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.widgets.fault_words import FaultWords, words_of
from app.widgets.flow import Flow
from app.widgets.form_parts import button, label
from app.widgets.wrapped_button import AS_OTHERS, WrappedButton
from engine.errors import SpecExecError


class Notice(QFrame):
    """A frame with a message, a hint, and a button if there is an action to offer.

    Attributes:
        button: the button for the action; None if there is no action.
        details: the button that shows the details, or hides them; None if there are none.

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
        details: str = "",
    ) -> None:
        """tone: whether something went wrong, or the user has a choice. details: more about it, which is
        shown when the user asks for it."""
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
        self.details: QPushButton | None = None
        if details:
            self._add_details(details, layout)
        else:
            layout.addLayout(self._buttons)
        self.button = self.offer(action) if action else None
        if self.button:
            self.button.clicked.connect(self.pressed)

    def _add_details(self, details: str, layout: QVBoxLayout) -> None:
        """Add the details, and a button for them beside the others."""
        more = label(details, "muted", self)
        by_keyboard = Qt.TextInteractionFlag.TextSelectableByKeyboard
        more.setTextInteractionFlags(more.textInteractionFlags() | by_keyboard)
        more.hide()
        layout.addWidget(more)
        self.details = button(self.tr("Details"), parent=self)
        self.details.setCheckable(True)
        self.details.toggled.connect(more.setVisible)
        row = QHBoxLayout()
        row.addLayout(self._buttons, 1)
        row.addWidget(self.details, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(row)

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
        return self.show_words(words_of(error), action)

    def show_words(self, words: FaultWords, action: str = "") -> Notice:
        """Show what failed, as `show_error` does."""
        self.clear()
        self._notice = Notice(words.message, words.hint, action, self, details=words.details)
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
