"""The list of saved prompts that opens when a message begins with “/”."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from app.formatting import excerpt
from app.store.prompts import SavedPrompt, matching
from app.widgets.plain_text import plain

ROWS_SHOWN = 6
SHOWN = 70  # characters of a prompt's text
STEPS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
CHOOSING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab)


class PromptOffer(QListWidget):
    """A list above the field of a message, which keeps the focus and passes keys on to the list.

    Signals:
        chosen: SavedPrompt
    """

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("presets")
        self.setAccessibleName(self.tr("Saved prompts"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._shown: list[SavedPrompt] = []
        self.itemClicked.connect(lambda _: self._choose())
        self.hide()

    def offer(self, prompts: Sequence[SavedPrompt], typed: str) -> None:
        """Show the prompts that match what is typed after the “/”; hide if there are none."""
        self._shown = matching(prompts, typed)
        self.clear()
        for prompt in self._shown:
            item = QListWidgetItem(f"/{prompt.name}   {excerpt(prompt.text, SHOWN)}", self)
            item.setToolTip(plain(prompt.text[:1000]))
        if not prompts and not typed:
            hint = QListWidgetItem(self.tr("No prompts yet. You can save some in the settings."), self)
            hint.setFlags(Qt.ItemFlag.NoItemFlags)
        self.setCurrentRow(0 if self._shown else -1)
        rows = min(ROWS_SHOWN, self.count())
        self.setFixedHeight(rows * max(0, self.sizeHintForRow(0)) + 4)
        self.setVisible(self.count() > 0)

    def takes(self, key: int) -> bool:
        """Use a key that was pressed in the field; return whether it was of use."""
        if self.isHidden():
            return False
        if key == Qt.Key.Key_Escape:
            self.hide()
            return True
        if not self._shown:
            return False
        if key in STEPS:
            self.setCurrentRow((self.currentRow() + STEPS[Qt.Key(key)]) % len(self._shown))
            return True
        if key in CHOOSING:
            self._choose()
            return True
        return False

    def _choose(self) -> None:
        if 0 <= self.currentRow() < len(self._shown):
            prompt = self._shown[self.currentRow()]
            self.hide()
            self.chosen.emit(prompt)
