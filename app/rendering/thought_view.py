"""Widget with the thought of a model, collapsed until the user expands it, and a button that ends it."""

from PySide6.QtCore import QRect, QUrl, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from app import formatting
from app.rendering.decoration import BAR
from app.rendering.quiet_button import QuietButton
from app.rendering.text_body import TextBody
from app.widgets import theme
from app.widgets.flow import Flow


class ThoughtView(QWidget):
    """Widget with a line that expands and collapses the thought below it.

    Attributes:
        switch: the line, which says how many tokens and how much time the thought has taken.
        answer_now: the button that ends the thought; shown while the model thinks.
        body: the thought; empty until it is first expanded, so that it costs no rendering time.

    Signals:
        unfolded: the user expanded the thought
        answer_asked: the user wants the answer now
        link_clicked: QUrl
    """

    unfolded = Signal()
    answer_asked = Signal()
    link_clicked = Signal(QUrl)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_open = True
        self._tokens, self._seconds = 0, 0.0
        self.switch = QuietButton("", "", self)
        self.switch.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.switch.setCheckable(True)
        self.switch.toggled.connect(self._toggle)
        self.answer_now = QuietButton(self.tr("Answer now"), self.tr("End the thought and answer now"), self)
        self.answer_now.clicked.connect(self.answer_asked)
        self.answer_now.hide()
        self.body = TextBody(self)
        self.body.setAccessibleName(self.tr("Thought"))
        self.body.link_clicked.connect(self.link_clicked)
        self.body.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 6)
        layout.setSpacing(4)
        line = Flow()
        line.setSpacing(4)
        line.addWidget(self.switch)
        line.addWidget(self.answer_now)
        layout.addLayout(line)
        inset = QVBoxLayout()
        inset.setContentsMargins(14, 0, 0, 0)
        inset.addWidget(self.body)
        layout.addLayout(inset)
        self._name()

    def set_open(self, is_open: bool) -> None:
        """Show whether the model is still thinking."""
        self._is_open = is_open
        self.answer_now.setVisible(is_open)
        self._name()

    def measure(self, tokens: int, seconds: float = 0.0) -> None:
        """Show how many tokens the thought has, and how long it took. 0: not known."""
        self._tokens, self._seconds = tokens, seconds
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
        known = [
            self.tr("{} tokens").format(formatting.number(self._tokens)) if self._tokens else "",
            formatting.duration(self._seconds) if self._seconds else "",
        ]
        name = " · ".join(
            filter(None, [self.tr("Thinking…") if self._is_open else self.tr("Thought"), *known])
        )
        is_shown = self.switch.isChecked()
        self.switch.setText(f"{'▾' if is_shown else '▸'} {name}")
        self.switch.updateGeometry()
        self.switch.setAccessibleName(name)
        self.switch.setAccessibleDescription(self.tr("expanded") if is_shown else self.tr("collapsed"))
        self.switch.setToolTip(self.tr("Hide the thought") if is_shown else self.tr("Show the thought"))
