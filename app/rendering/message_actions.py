"""What can be done with a message: a row of buttons below it."""

from collections.abc import Callable, Collection
from enum import Enum, auto

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from app.rendering.quiet_button import BESIDE, CopyButton, QuietButton

INSET = 14  # pixels between the edge of a message and its text


class Action(Enum):
    EDIT = auto()
    REGENERATE = auto()
    AGAIN = auto()  # with the same seed
    CONTINUE = auto()
    BRANCH = auto()


class MessageActions(QWidget):
    """Copying is always there; the rest is made when the caller first allows it.

    Signals:
        asked: Action
        version_asked: int, the number of another version, from 1
    """

    asked = Signal(Action)
    version_asked = Signal(int)

    def __init__(self, read: Callable[[], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._copy = CopyButton(self.tr("Copy message"), read, self)
        self._buttons: dict[Action, QuietButton] = {}
        self._versions: _Versions | None = None
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(INSET - BESIDE, 0, 0, 0)  # below the text
        self._row.setSpacing(2)
        self._row.addWidget(self._copy)
        self._row.addStretch(1)

    def set_actions(self, actions: Collection[Action]) -> None:
        """Show a button for each of these."""
        for action in Action:
            if action in actions and action not in self._buttons:
                self._buttons[action] = self._button(action)
                place = 1 + sum(each.value < action.value for each in self._buttons)
                self._row.insertWidget(place, self._buttons[action])
            if action in self._buttons:
                self._buttons[action].setVisible(action in actions)

    def set_versions(self, current: int, count: int) -> None:
        """Show that this is version `current` of `count`, from 1; a single one needs no mention."""
        if count > 1 and self._versions is None:
            self._versions = _Versions(self)
            self._versions.asked.connect(self.version_asked)
            self._row.insertWidget(self._row.count() - 1, self._versions)
        if self._versions is not None:
            self._versions.show_version(current, count)

    def _button(self, action: Action) -> QuietButton:
        text, name = {
            Action.EDIT: (self.tr("Edit"), self.tr("Edit and send again")),
            Action.REGENERATE: (self.tr("Regenerate"), self.tr("Answer again, with another seed")),
            Action.AGAIN: (self.tr("Same seed"), self.tr("Again with the same seed")),
            Action.CONTINUE: (self.tr("Continue"), self.tr("Go on with this answer")),
            Action.BRANCH: (self.tr("Branch"), self.tr("Begin a new chat from here")),
        }[action]
        button = QuietButton(text, name, self)
        if action is Action.AGAIN:
            button.setToolTip(
                self.tr(
                    "Again with the same seed and settings, and with the recorded budgets. With the same "
                    "models the text is the same: in float32 always, in other number formats because the "
                    "budgets are replayed."
                )
            )
        button.clicked.connect(lambda: self.asked.emit(action))
        return button


class _Versions(QWidget):
    """‹ 2/3 ›

    Signals:
        asked: int, from 1
    """

    asked = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._current = 1
        self.before = QuietButton("‹", self.tr("Previous version"), self)
        self.before.clicked.connect(lambda: self.asked.emit(self._current - 1))
        self.label = QLabel(self)
        self.label.setProperty("role", "caption")
        self.after = QuietButton("›", self.tr("Next version"), self)
        self.after.clicked.connect(lambda: self.asked.emit(self._current + 1))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        for widget in (self.before, self.label, self.after):
            row.addWidget(widget)

    def show_version(self, current: int, count: int) -> None:
        self._current = current
        self.label.setText(f"{current}/{count}")
        self.label.setAccessibleName(self.tr("Version {} of {}").format(current, count))
        self.before.setEnabled(current > 1)
        self.after.setEnabled(current < count)
        self.setVisible(count > 1)
