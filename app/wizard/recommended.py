"""What most people should take, above the catalogue."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app import words
from app.wizard import phrases
from app.wizard.offers import Offer
from app.wizard.parts import Card, button, label


class Recommended(Card):
    """
    Attributes:
        choose: the button.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "recommended")
        self._title = label(role="heading", parent=self)
        self._why = label(parent=self)
        self._figures = label(role="muted", parent=self)
        self.choose = button(self.tr("Take this one"), parent=self)
        text = QVBoxLayout()
        text.setSpacing(4)
        text.addWidget(label(self.tr("Recommended for this machine"), "caption", self))
        for widget in (self._title, self._why, self._figures):
            text.addWidget(widget)
        row = QHBoxLayout()
        row.setSpacing(16)
        row.addLayout(text, 1)
        row.addWidget(self.choose, alignment=Qt.AlignmentFlag.AlignVCenter)
        self.column.addLayout(row)

    def show_offer(self, offer: Offer) -> None:
        self._title.setText(phrases.name(offer))
        self._why.setText(offer.why)
        size = words.nbytes(offer.missing_nbytes)
        came = self.tr("already on this machine") if offer.is_here else self.tr("{} to download").format(size)
        self._figures.setText(f"{phrases.told_speed(offer.plan)} {came}, {phrases.licenses(offer)}.")
        self.choose.setAccessibleName(self.tr("Take the recommended model, {}").format(phrases.name(offer)))
        self.choose.setEnabled(offer.plan.runs)
