"""The chip below the composer that says whether the model thinks before it answers, and for how long."""

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QComboBox, QFrame, QSpinBox, QVBoxLayout, QWidget

from app import formatting
from app.conversation.setting_chip import SettingChip
from app.widgets.form_parts import label, set_role
from app.widgets.plain_text import plain
from engine.protocol.thought_control import ThoughtChoice

MOST = 1_000_000  # tokens of the budget
STEP = 256


class ThoughtChip(SettingChip):
    """A chip with what is set for thoughts; a click opens a popup that changes it. Hidden for models that do
    not think.

    Attributes:
        button: opens the popup.
        popup: the popup.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.popup = ThoughtPopup(self)
        self.button.clicked.connect(self._open)
        self.hide()

    def show_set(self, thinks: ThoughtChoice, budget: int | None, choices: tuple[ThoughtChoice, ...]) -> None:
        """Show what is set. thinks: one of the choices that the model's chat template leaves; budget: maximum
        number of tokens, or None."""
        text = self.tr("Thinking")
        if thinks is not None:
            text = self.tr("Thinking: {}").format(formatting.thought_choice(thinks).lower())
        if budget is not None and thinks is not False:
            text = self.tr("{}, at most {} tokens").format(text, formatting.number(budget))
        name = self.tr("Change how long the model thinks")
        self.button.setText(text)
        self.button.setAccessibleName(f"{text}. {name}")
        self.button.setToolTip(plain(name))
        self.button.updateGeometry()
        set_role(self, "set" if thinks is not None or budget is not None else "")
        self.popup.show_set(thinks, budget, choices)

    def _open(self) -> None:
        self.open_above(self.popup)
        self.popup.first.setFocus()


class ThoughtPopup(QFrame):
    """Popup with the switch and the budget of thoughts. It closes with Esc or a click elsewhere.

    Attributes:
        way: the list from which to choose whether, or how hard, the model thinks.
        choices: what the list offers, in its order.
        budget: the field with the maximum number of tokens; its lowest value stands for no limit.

    Signals:
        changed: ThoughtChoice, int or None: how much the model thinks, and the budget
        closed: the popup is closed
    """

    changed = Signal(object, object)
    closed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("instructions")
        self.setAccessibleName(self.tr("Thinking"))
        self.choices: tuple[ThoughtChoice, ...] = ()
        self.way = QComboBox(self)
        self.way.setAccessibleName(self.tr("Think before answering"))
        self.way.currentIndexChanged.connect(self._change)
        self.budget = QSpinBox(self)
        self.budget.setRange(0, MOST)
        self.budget.setSingleStep(STEP)
        self.budget.setGroupSeparatorShown(True)
        self.budget.setSpecialValueText(self.tr("No limit"))
        self.budget.setSuffix(" " + self.tr("tokens"))
        self.budget.setAccessibleName(self.tr("At most"))
        self.budget.setKeyboardTracking(False)
        self.budget.valueChanged.connect(self._change)
        self._about_way = label(self.tr("Think before answering"), "name", self)
        note = self.tr("At its limit, the thought is closed and the answer begins.")
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 12, 14, 12)
        column.setSpacing(6)
        for widget in (self._about_way, self.way, label(self.tr("At most"), "name", self), self.budget):
            column.addWidget(widget)
        column.addWidget(label(note, "caption", self))

    @property
    def first(self) -> QWidget:
        """The field that gets the focus."""
        return self.budget if self.way.isHidden() else self.way

    def show_set(self, thinks: ThoughtChoice, budget: int | None, choices: tuple[ThoughtChoice, ...]) -> None:
        """Show what is set; the arguments are those of `ThoughtChip.show_set`."""
        with QSignalBlocker(self), QSignalBlocker(self.way), QSignalBlocker(self.budget):
            if choices != self.choices:
                self.choices = choices
                self.way.clear()
                self.way.addItems([formatting.thought_choice(choice) for choice in choices])
            self.way.setCurrentIndex(choices.index(thinks))
            self.budget.setValue(budget or 0)
        self.way.setVisible(len(choices) > 1)
        self._about_way.setVisible(len(choices) > 1)
        self.budget.setEnabled(thinks is not False)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.budget.interpretText()
        self.closed.emit()

    def _change(self) -> None:
        self.changed.emit(self.choices[self.way.currentIndex()], self.budget.value() or None)
