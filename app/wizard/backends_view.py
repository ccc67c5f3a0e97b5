"""Which backend: those that this build of the program can set up."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from app.wizard import engine_words
from engine.runtime import Backend, Proposal

BACKEND = Qt.ItemDataRole.UserRole


class BackendsView(QListWidget):
    """As high as what it shows. What does not run here says why, and cannot be chosen.

    Signals:
        changed: another one is chosen
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("choices")
        self.setAccessibleName(self.tr("What computes the answers"))
        self.setWordWrap(True)
        self.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.currentItemChanged.connect(lambda: self.changed.emit())

    @property
    def chosen(self) -> Backend | None:
        item = self.currentItem()
        return item.data(BACKEND) if item else None

    def show_proposals(self, proposals: Sequence[Proposal], current: str = "") -> None:
        """Once. The one whose name is `current` is chosen, or the first."""
        for proposal in proposals:
            self._add(proposal)
        self.choose(current)

    def choose(self, name: str) -> None:
        """The backend of that name; without one, the first."""
        items = [self.item(row) for row in range(self.count())]
        self.setCurrentItem(next((each for each in items if each.data(BACKEND).name == name), items[0]))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.doItemsLayout()  # lines break where the width says
        self.setFixedHeight(self.contentsSize().height() + 2 * self.frameWidth())

    def _add(self, proposal: Proposal) -> None:
        backend = proposal.backend
        about = f"{proposal.reason} {engine_words.size(backend)}."
        item = QListWidgetItem(f"{engine_words.name(backend.name)}\n{about}", self)
        item.setData(BACKEND, backend)
        if not proposal.usable:
            item.setFlags(Qt.ItemFlag.NoItemFlags)
