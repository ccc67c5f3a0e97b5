"""The presets page: named settings, to apply, save, delete, import and export."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QInputDialog,
    QListWidget,
    QMessageBox,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app import formatting
from app.settings import chat_options
from app.settings.options import get
from app.store import BadImport, ChatSettings, Preset, StoreError
from app.store.presets import Presets, from_file, to_file
from app.widgets.fault_words import in_one
from app.widgets.flow import Flow
from app.widgets.plain_text import PlainLabel, PlainMessageBox
from app.widgets.save_dialog import ask_where_to_save, file_name
from engine.files import write_whole


class PresetsPage(QWidget):
    """The page that lists presets, applies them and manages them.

    Attributes:
        chat: the settings that `save` stores as a preset.
        names: the list of the presets' names.
        summary: the label that shows the settings of the chosen preset, or the result of the last action.

    Signals:
        used: ChatSettings, to apply to the chat that is shown
        used_for_new: ChatSettings, to apply to new chats
    """

    used = Signal(object)
    used_for_new = Signal(object)

    def __init__(self, presets: Presets, chat: ChatSettings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.chat = chat
        self._presets = presets
        self._kept: list[Preset] = []
        self.names = QListWidget(self)
        self.names.setObjectName("choices")
        self.names.setAccessibleName(self.tr("Presets"))
        self.names.currentRowChanged.connect(self._choose)
        self.summary = PlainLabel(parent=self)
        self.summary.setWordWrap(True)
        self.use = self._button(self.tr("Use in this chat"), lambda: self.used.emit(self._chosen.settings))
        self.use.setProperty("role", "main")
        self.use_for_new = self._button(
            self.tr("Use for new chats"), lambda: self.used_for_new.emit(self._chosen.settings)
        )
        self.save = self._button(self.tr("Save this chat's settings…"), self._ask_name)
        self.delete = self._button(self.tr("Delete"), self._ask_delete)
        self.import_ = self._button(self.tr("Import…"), self._ask_import)
        self.export = self._button(self.tr("Export…"), self._ask_export)
        self._build()
        self.refresh()

    def _build(self) -> None:
        buttons = Flow()
        for button in (self.use, self.use_for_new, self.delete, self.export):
            buttons.addWidget(button)
        lower = Flow()
        lower.addWidget(self.save)
        lower.addWidget(self.import_)
        right = QVBoxLayout()
        right.addWidget(self.summary, 1, Qt.AlignmentFlag.AlignTop)
        right.addLayout(buttons)
        columns = QHBoxLayout()
        columns.addWidget(self.names, 2)
        columns.addLayout(right, 3)
        columns.setSpacing(16)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(columns, 1)
        layout.addLayout(lower)

    def _button(self, text: str, pressed: Callable[[], object]) -> QPushButton:
        button = QPushButton(text, self)
        button.setAutoDefault(False)
        button.clicked.connect(pressed)
        return button

    @property
    def _chosen(self) -> Preset:
        return self._kept[self.names.currentRow()]

    def refresh(self, chosen: str = "") -> None:
        """Read the presets again. `chosen`: the name of the preset to select, or "" for the first."""
        try:
            self._kept = self._presets.all()
        except StoreError as error:
            self._show_error(error)
            return
        known = [preset.name for preset in self._kept]
        with QSignalBlocker(self.names):
            self.names.clear()
            self.names.addItems(known)
        self.names.setCurrentRow(known.index(chosen) if chosen in known else 0 if known else -1)
        self._choose(self.names.currentRow())

    def _choose(self, row: int) -> None:
        for button in (self.use, self.use_for_new, self.delete, self.export):
            button.setEnabled(row >= 0)
        empty = self.tr(
            "A preset stores a chat's settings under a name, so that you can use them in other chats."
        )
        self._show_summary(described(self._kept[row].settings) if row >= 0 else empty, "muted")

    # -- actions ---------------------------------------------------------------------------------------------

    def save_as(self, name: str) -> None:
        """Save this chat's settings as a preset."""
        self._do(lambda: self._presets.save(Preset(name, self.chat)), name)

    def delete_chosen(self) -> None:
        self._do(lambda: self._presets.delete(self._chosen.name))

    def import_from(self, path: Path) -> None:
        """Import a preset. If its name is taken, a number is added to the name."""
        try:
            preset = from_file(path)
        except BadImport as error:
            self._show_error(error)
            return
        name = _free(preset.name, {kept.name for kept in self._kept})
        self._do(lambda: self._presets.save(Preset(name, preset.settings)), name)

    def export_to(self, path: Path) -> None:
        try:
            write_whole(path, to_file(self._chosen))
        except OSError as error:
            self._show_summary(self.tr("{} could not be written: {}").format(path, error.strerror), "danger")
        else:
            self._show_summary(self.tr("Exported to {}").format(path), "muted")

    def _do(self, work: Callable[[], None], chosen: str = "") -> None:
        try:
            work()
        except StoreError as error:
            self._show_error(error)
        else:
            self.refresh(chosen)

    def _show_error(self, error: StoreError) -> None:
        self._show_summary(in_one(error), "danger")

    def _show_summary(self, text: str, role: str) -> None:
        self.summary.setText(text)
        self.summary.setProperty("role", role)
        self.summary.style().polish(self.summary)

    # -- questions -------------------------------------------------------------------------------------------

    def _ask_name(self) -> None:
        name, accepted = QInputDialog.getText(self, self.tr("Save preset"), self.tr("Name"))
        name = name.strip()
        if not accepted or not name:
            return
        is_new = name not in {kept.name for kept in self._kept}
        question = self.tr("A preset named {} already exists. Replace it?").format(name)
        if is_new or self._confirm(question, self.tr("Replace")):
            self.save_as(name)

    def _ask_delete(self) -> None:
        if self._confirm(self.tr("Delete the preset {}?").format(self._chosen.name), self.tr("Delete")):
            self.delete_chosen()

    def _ask_import(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, self.tr("Import preset"), "", "JSON (*.json)")
        if path:
            self.import_from(Path(path))

    def _ask_export(self) -> None:
        name = file_name(self._chosen.name, "preset")
        kinds = {"JSON (*.json)": "json"}
        path = ask_where_to_save(self, self.tr("Export preset"), f"{name}.preset", kinds)
        if path is not None:
            self.export_to(path)

    def _confirm(self, question: str, action: str) -> bool:
        """Ask a question, whose answers are `action` and Cancel."""
        buttons = QMessageBox.StandardButton.Yes | QMessageBox.StandardButton.Cancel
        box = PlainMessageBox(QMessageBox.Icon.NoIcon, self.tr("Presets"), question, self, buttons)
        box.button(QMessageBox.StandardButton.Yes).setText(action)
        box.setDefaultButton(QMessageBox.StandardButton.Cancel)
        return box.exec() == QMessageBox.StandardButton.Yes


def described(settings: ChatSettings) -> str:
    """Return the settings that differ from the engine's defaults, one line per option."""
    usual = ChatSettings()
    options = [option for section in chat_options.chat_sections() for option in section.options]
    lines = [
        f"{option.text}: {_shown(get(settings, option.path))}"
        for option in options
        if get(settings, option.path) != get(usual, option.path)
    ]
    return "\n".join(lines)


def _shown(value: object) -> str:
    match value:
        case float():
            return formatting.decimal(value)
        case int():
            return formatting.number(value)
        case list() | dict():
            return ", ".join(map(repr, value))
    return str(value)


def _free(name: str, taken: set[str]) -> str:
    number = 2
    free = name
    while free in taken:
        free = f"{name} ({number})"
        number += 1
    return free
