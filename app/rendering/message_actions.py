"""The row of buttons below a message."""

from collections.abc import Callable, Collection
from enum import Enum, auto

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.rendering.quiet_button import AROUND, CopyButton, QuietButton
from app.widgets.form_parts import keep_place
from app.widgets.plain_text import PlainLabel

INSET = 14  # pixels between the edge of a message and its text


class Action(Enum):
    """Actions on a message, in the order of their buttons."""

    EDIT = auto()
    REGENERATE = auto()
    AGAIN = auto()  # with the same seed
    CONTINUE = auto()
    BRANCH = auto()
    DELETE = auto()
    RACE = auto()  # against plain decoding or another model


class MessageActions(QWidget):
    """Row of icons: one that copies, and one for each allowed action, created when it is first allowed.

    The icons are painted only while the row is revealed, or for the one with the focus. Their places stay.

    Attributes:
        copy: the button that copies the message.
        buttons: the other buttons created so far, by action; those not allowed now are hidden.
        versions: the version switch, or None as long as there has been only one version.

    Signals:
        asked: Action
        version_asked: int, number of another version, counted from 1
    """

    asked = Signal(Action)
    version_asked = Signal(int)

    def __init__(self, read: Callable[[], str], parent: QWidget | None = None, *, edit: str = "") -> None:
        """read: returns the text to copy. edit: what editing the message does; "": it is sent again."""
        super().__init__(parent)
        self._edit = edit or self.tr("Edit and send again")
        self.copy = CopyButton(self.tr("Copy message"), read, self, is_icon=True)
        self.buttons: dict[Action, QuietButton] = {}
        self.versions: VersionSwitch | None = None
        self._is_revealed = False
        self._prepare(self.copy)
        keep_place(self)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, INSET - AROUND, 0)  # aligned with the text
        self._row.setSpacing(2)
        self._row.addStretch(1)
        self._row.addWidget(self.copy)

    def reveal(self, is_revealed: bool) -> None:
        """Paint the icons, or leave their places empty."""
        self._is_revealed = is_revealed
        for button in (self.copy, *self.buttons.values()):
            button.reveal(is_revealed)

    def set_actions(self, actions: Collection[Action]) -> None:
        """Show a button for each of these actions and hide the others."""
        for action in Action:
            if action in actions and action not in self.buttons:
                self.buttons[action] = self._button(action)
                place = 2 + sum(other.value < action.value for other in self.buttons)
                self._row.insertWidget(place, self.buttons[action])
            if action in self.buttons:
                self.buttons[action].setVisible(action in actions)

    def set_versions(self, current: int, count: int) -> None:
        """Show that this is version `current` (from 1) of `count`; a single version is not mentioned."""
        if count > 1 and self.versions is None:
            self.versions = VersionSwitch(self)
            self.versions.asked.connect(self.version_asked)
            self._row.addWidget(self.versions)
        if self.versions is not None:
            self.versions.show_version(current, count)

    def _prepare(self, button: QuietButton) -> None:
        """Let a click leave the focus where it is: else the icons would stay after it."""
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.reveal(self._is_revealed)
        keep_place(button)

    def _button(self, action: Action) -> QuietButton:
        icon_name, name = {
            Action.EDIT: ("edit", self._edit),
            Action.REGENERATE: ("regenerate", self.tr("Answer again, with another seed")),
            Action.AGAIN: ("same_seed", self.tr("Answer again with the same seed")),
            Action.CONTINUE: ("continue", self.tr("Continue this answer")),
            Action.BRANCH: ("branch", self.tr("Start a new chat from here")),
            Action.DELETE: ("delete", self.tr("Delete this message and those that follow from it")),
            Action.RACE: ("race", self.tr("Answer this question twice, as a race")),
        }[action]
        button = QuietButton("", name, self, icon_name=icon_name)
        self._prepare(button)
        if action is Action.AGAIN:
            button.setToolTip(
                self.tr(
                    "Answer again with the seed, settings and budgets of this answer. With the same "
                    "models and the same arithmetic, the text is the same, except where the processor "
                    "helps a graphics card with the experts of a mixture: there, rounding may change it."
                )
            )
        button.clicked.connect(lambda: self.asked.emit(action))
        return button


class VersionSwitch(QWidget):
    """Switch between the versions of a message: ‹ 2/3 ›

    Attributes:
        before, label, after: from left to right, the button ‹, the label 2/3 and the button ›.

    Signals:
        asked: int, number of another version, counted from 1
    """

    asked = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._current = 1
        self.before = QuietButton("‹", self.tr("Previous version"), self)
        self.before.clicked.connect(lambda: self.asked.emit(self._current - 1))
        self.label = PlainLabel(parent=self)
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
