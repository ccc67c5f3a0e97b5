"""The chip below the composer with the chat's preset or system prompt, and the popup that changes them."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.conversation.setting_chip import SettingChip
from app.formatting import excerpt
from app.rendering.quiet_button import QuietButton
from app.widgets.form_parts import keep_place, label, set_role
from app.widgets.plain_text import plain

SHOWN = 60  # characters of a system prompt
WIDTH = 440
MOST_PRESETS = 5  # rows of the list; more are scrolled
PROMPT_LINES = 5


class Instructions(SettingChip):
    """A chip with the preset's name or the system prompt; where neither is set, a quiet button offers them.

    Attributes:
        button: opens the popup.
        remove: the button that removes what the chip shows.
        popup: the popup.

    Signals:
        asked: the popup is about to be opened, and needs its content
        removed: the user removed the preset or the system prompt
    """

    asked = Signal()
    removed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.popup = InstructionsPopup(self)
        self.button.clicked.connect(self._open)
        self.remove = QuietButton("", self.tr("Remove"), self, icon_name="close")
        self.remove.clicked.connect(self.removed)
        keep_place(self.remove)
        self.row.addWidget(self.remove)
        self.show_set("", "")

    def show_set(self, preset: str, system: str) -> None:
        """Show what is set: a preset's name, else the system prompt, else an offer of both."""
        if preset:
            text, name = preset, self.tr("Preset {}: change").format(preset)
        elif system:
            text = self.tr("System prompt: {}").format(excerpt(system, SHOWN))
            name = self.tr("Change the system prompt")
        else:
            text = name = self.tr("System prompt or preset")
        self.button.setText(text)
        self.button.setAccessibleName(name)
        self.button.setToolTip(plain("\n".join(filter(None, [name, system]))))
        self.button.updateGeometry()
        is_set = bool(preset or system)
        self.remove.setVisible(is_set)
        set_role(self, "set" if is_set else "")

    def _open(self) -> None:
        self.asked.emit()
        self.open_above(self.popup)
        self.popup.prompt.setFocus()


class InstructionsPopup(QFrame):
    """Popup with the presets to choose from and the chat's system prompt. It closes with Esc or a click
    elsewhere, and keeps what was written.

    Attributes:
        presets: the list of the presets' names.
        prompt: the field with the system prompt.
        settings: the button that leads to all settings.

    Signals:
        preset_chosen: int, the preset's index
        prompt_changed: str, the new system prompt
        settings_asked: the user wants to see all settings
        closed: the popup is closed
    """

    preset_chosen = Signal(int)
    prompt_changed = Signal(str)
    settings_asked = Signal()
    closed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("instructions")
        self.setAccessibleName(self.tr("System prompt and presets"))
        self._before = ""
        self._no_presets = label(self.tr("No presets yet. You can save one in the settings."), "muted", self)
        self.presets = QListWidget(self)
        self.presets.setObjectName("presets")
        self.presets.setAccessibleName(self.tr("Presets"))
        self.presets.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.presets.itemClicked.connect(self._choose)
        self.presets.itemActivated.connect(self._choose)
        self.prompt = QPlainTextEdit(self)
        self.prompt.setAccessibleName(self.tr("System prompt"))
        self.prompt.setPlaceholderText(
            self.tr("What the model should know and how it should answer, in this chat")
        )
        self.prompt.setTabChangesFocus(True)
        self.prompt.setFixedHeight(PROMPT_LINES * self.fontMetrics().lineSpacing() + 14)
        self.settings = QPushButton(self.tr("All settings…"), self)
        self.settings.clicked.connect(self.hide)
        self.settings.clicked.connect(self.settings_asked)
        done = QPushButton(self.tr("Done"), self)
        done.setProperty("role", "main")
        done.clicked.connect(self.hide)
        lower = QHBoxLayout()
        lower.addWidget(self.settings)
        lower.addStretch(1)
        lower.addWidget(done)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 12, 14, 12)
        column.setSpacing(6)
        column.addWidget(label(self.tr("System prompt"), "name", self))
        column.addWidget(self.prompt)
        column.addSpacing(6)
        column.addWidget(label(self.tr("Presets"), "name", self))
        column.addWidget(self.presets)
        column.addWidget(self._no_presets)
        column.addSpacing(6)
        column.addLayout(lower)
        self.setFixedWidth(WIDTH)

    def offer(self, presets: Sequence[str], current: str, system: str) -> None:
        """Fill the popup. current: the preset in use, or ""."""
        self._before = system
        self.prompt.setPlainText(system)
        self.presets.clear()
        for name in presets:
            item = QListWidgetItem(name, self.presets)
            if name == current:
                self.presets.setCurrentItem(item)
        rows = min(len(presets), MOST_PRESETS)
        self.presets.setFixedHeight(rows * max(0, self.presets.sizeHintForRow(0)) + 4)
        self.presets.setVisible(bool(presets))
        self._no_presets.setVisible(not presets)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        written = self.prompt.toPlainText()
        if written != self._before:
            self._before = written
            self.prompt_changed.emit(written)
        self.closed.emit()

    def _choose(self, item: QListWidgetItem) -> None:
        self.hide()  # keeps what was written, which can be brought back in place of the preset's prompt
        self.preset_chosen.emit(self.presets.row(item))
