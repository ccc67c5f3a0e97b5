"""The list of backends that this build of the program can set up."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from app.runtime_setup import wording
from engine.runtime import Backend, Proposal

BACKEND = Qt.ItemDataRole.UserRole


class BackendsView(QListWidget):
    """A list of backends, as high as its items.

    A backend that cannot run here is listed with the reason, and cannot be chosen.

    Signals:
        changed: another backend was chosen
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("choices")
        self.setAccessibleName(self.tr("Compute device"))
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
        """Add all proposals and choose the one named `current`, or else the first. Call only once."""
        for proposal in proposals:
            self._add(proposal)
        self.choose(current)

    def choose(self, name: str) -> None:
        """Choose the backend of this name, or else the first."""
        items = [self.item(row) for row in range(self.count())]
        self.setCurrentItem(next((item for item in items if item.data(BACKEND).name == name), items[0]))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.doItemsLayout()  # wraps the lines at the new width
        self.setFixedHeight(self.contentsSize().height() + 2 * self.frameWidth())

    def _add(self, proposal: Proposal) -> None:
        backend = proposal.backend
        about = f"{proposal.reason} {wording.size(backend)}."
        item = QListWidgetItem(f"{wording.name(backend.name)}\n{about}", self)
        item.setData(BACKEND, backend)
        if not proposal.usable:
            item.setFlags(Qt.ItemFlag.NoItemFlags)
