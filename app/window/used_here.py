"""Offers to load the models that gave the answers of the chat shown."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.header import model_choice
from app.preferences import RecentPair
from app.rendering.quiet_button import QuietButton
from app.widgets.elided_label import ElidedLabel
from app.widgets.plain_text import plain


class UsedHere(QWidget):
    """A line with a button; hidden while the models of the chat are loaded.

    Signals:
        load_asked: RecentPair to load
    """

    load_asked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pair = RecentPair()
        self._text = ElidedLabel(self)
        self._text.setProperty("role", "caption")
        self._text.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.button = QuietButton(self.tr("Load"), "", self)
        self.button.clicked.connect(lambda: self.load_asked.emit(self._pair))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 0, 0, 0)
        layout.addWidget(self._text, 1)
        layout.addWidget(self.button)
        self.hide()

    def offer(self, pair: RecentPair | None) -> None:
        """Offer these models; None offers nothing."""
        self.setVisible(pair is not None)
        if pair is not None and (pair != self._pair or not self._text.text()):
            self._pair = pair
            name = model_choice.text_of(pair)
            self._text.setText(self.tr("This chat was answered by {}.").format(name))
            self.button.setAccessibleName(self.tr("Load {}").format(name))
            self.button.setToolTip(plain(self.button.accessibleName()))
