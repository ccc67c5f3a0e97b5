"""Widget with the thought of a model, collapsed until the user expands it."""

from PySide6.QtCore import QRect, QUrl, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.rendering.decoration import BAR
from app.rendering.quiet_button import QuietButton
from app.rendering.text_body import TextBody
from app.widgets import theme


class ThoughtView(QWidget):
    """Widget with a line that expands and collapses the thought below it.

    Attributes:
        switch: the line.
        body: the thought; empty until it is first expanded, so that it costs no rendering time.

    Signals:
        unfolded: the user expanded the thought
        link_clicked: QUrl
    """

    unfolded = Signal()
    link_clicked = Signal(QUrl)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_open = True
        self.switch = QuietButton("", "", self)
        self.switch.setCheckable(True)
        self.switch.toggled.connect(self._toggle)
        self.body = TextBody(self)
        self.body.setAccessibleName(self.tr("Thought"))
        self.body.link_clicked.connect(self.link_clicked)
        self.body.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 6)
        layout.setSpacing(4)
        layout.addWidget(self.switch)
        inset = QVBoxLayout()
        inset.setContentsMargins(14, 0, 0, 0)
        inset.addWidget(self.body)
        layout.addLayout(inset)
        self._name()

    def set_open(self, is_open: bool) -> None:
        """Show whether the model is still thinking."""
        self._is_open = is_open
        self._name()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint a bar beside the thought, as beside a quote."""
        if self.body.isVisible():
            beside = self.body.geometry()
            colour = QColor(theme.current().border)
            QPainter(self).fillRect(QRect(0, beside.top(), BAR, beside.height()), colour)

    def _toggle(self, is_shown: bool) -> None:
        self.body.setVisible(is_shown)
        self._name()
        if is_shown:
            self.unfolded.emit()

    def _name(self) -> None:
        name = self.tr("Thinking…") if self._is_open else self.tr("Thought")
        is_shown = self.switch.isChecked()
        self.switch.setText(f"{'▾' if is_shown else '▸'} {name}")
        self.switch.setAccessibleName(name)
        self.switch.setAccessibleDescription(self.tr("expanded") if is_shown else self.tr("collapsed"))
        self.switch.setToolTip(self.tr("Hide the thought") if is_shown else self.tr("Show the thought"))
