"""The last page, which says that the model is complete and offers to load it."""

from PySide6.QtWidgets import QWidget

from app.downloads.downloads import Entry
from app.widgets.form_parts import Card, label
from app.wizard.pages.page import Page


class ReadyPage(Page):
    """Offers to load a downloaded model.

    Attributes:
        entry: the complete download, or None.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Ready"), self.tr("Your model is ready"), parent)
        self.entry: Entry | None = None
        card = Card(self)
        self._name = label(role="heading", parent=card)
        self._text = label(
            self.tr(
                "Every file was verified with its published checksum. Loading takes a few seconds to a few "
                "minutes; then you can chat, even without an Internet connection."
            ),
            "muted",
            card,
        )
        card.column.addWidget(self._name)
        card.column.addWidget(self._text)
        self.column.addWidget(card)
        self.column.addStretch(1)

    @property
    def can_continue(self) -> bool:
        return self.entry is not None

    @property
    def main_text(self) -> str:
        return self.tr("Load now")

    def show_entry(self, entry: Entry) -> None:
        self.entry = entry
        self._name.setText(entry.progress.title)
        self.changed.emit()
