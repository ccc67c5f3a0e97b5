"""What the model says, rendered as Markdown while it comes."""

from PySide6.QtCore import QElapsedTimer, QEvent, Qt, QTimer, QUrl, Signal
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app.engine_link import FRAME_MS
from app.text_body import TextBody

# Rendering takes at most a quarter of the window's time, so a very long answer is drawn less often.
PAUSE_PER_RENDER = 3


class AnswerView(QWidget):
    """One answer: its text, a line that says what goes on until there is text, a line of figures after it.

    Attributes:
        text: the answer so far, as it was said.

    Signals:
        link_clicked: QUrl
    """

    link_clicked = Signal(QUrl)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = ""
        self._body = TextBody(self)
        self._body.setAccessibleName(self.tr("Answer"))
        self._body.link_clicked.connect(self.link_clicked)
        self._body.hide()
        self._status = self._line(self.tr("Waiting for the model…"))
        self._summary = self._line("")
        self._summary.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 4)
        for widget in (self._body, self._status, self._summary):
            layout.addWidget(widget)
        self._pause_ms = FRAME_MS
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._render)

    def _line(self, text: str) -> QLabel:
        line = QLabel(text, self)
        line.setProperty("role", "caption")
        line.setWordWrap(True)
        line.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return line

    def append(self, text: str) -> None:
        """Add text; it is on the screen within a frame or a few."""
        self.text += text
        if not self._timer.isActive():
            self._timer.start(self._pause_ms)

    def set_status(self, text: str) -> None:
        """Say what the model does, as long as there is no text."""
        if not self.text:
            self._status.setText(text)

    def finish(self, summary: str, text: str | None = None) -> None:
        """The answer is whole: show it now, with `summary` below; `text` replaces what was streamed."""
        if text is not None:
            self.text = text
        self._timer.stop()
        self._render()
        self._status.hide()
        self._summary.setText(summary)
        self._summary.setVisible(bool(summary))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self.text and not self._timer.isActive():
            self._timer.start(0)  # its colours are in the document

    def _render(self) -> None:
        if not self.text:
            return
        clock = QElapsedTimer()
        clock.start()
        self._status.hide()
        self._body.show()
        self._body.show_markdown(self.text)
        self._pause_ms = max(FRAME_MS, PAUSE_PER_RENDER * clock.elapsed())
