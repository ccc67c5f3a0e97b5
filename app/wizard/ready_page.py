"""Last: it is here."""

from PySide6.QtWidgets import QWidget

from app.wizard.downloads import Entry
from app.wizard.page import Page
from app.wizard.parts import Card, label


class ReadyPage(Page):
    """
    Attributes:
        entry: what is ready.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Ready"), self.tr("It is ready"), parent)
        self.entry: Entry | None = None
        card = Card(self)
        self._name = label(role="heading", parent=card)
        self._text = label(
            self.tr(
                "Every byte arrived as its authors published it: its checksums were compared. Loading takes "
                "a few seconds to a few minutes; then you can chat, also without the Internet."
            ),
            "muted",
            card,
        )
        card.column.addWidget(self._name)
        card.column.addWidget(self._text)
        self.column.addWidget(card)
        self.column.addStretch(1)

    @property
    def can_go_on(self) -> bool:
        return self.entry is not None

    @property
    def main_text(self) -> str:
        return self.tr("Load it now")

    def show_entry(self, entry: Entry) -> None:
        self.entry = entry
        self._name.setText(entry.shown.title)
        self.changed.emit()
