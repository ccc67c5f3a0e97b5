"""Why an answer was as fast as it was, in sentences; plain decoding is measured on request."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from app.thinking import plain_speeds, run_words
from engine.protocol.messages import Answer, Loaded


class SpeedPage(QWidget):
    """Attributes: `text`, the sentences; `measure`, the button.

    Signals:
        calibration_asked: plain decoding shall be measured
    """

    calibration_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._loaded: Loaded | None = None
        self._answer: Answer | None = None
        self.text = QLabel(self)
        self.text.setWordWrap(True)
        self.text.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.text.setAccessibleName(self.tr("Why this fast"))
        self.measure = QPushButton(self.tr("Measure plain decoding here"), self)
        self.measure.setAccessibleName(self.measure.text())
        self.measure.setToolTip(
            self.tr("A short answer without a draft: {} tokens. It is kept.").format(plain_speeds.TOKENS)
        )
        self.measure.clicked.connect(self.calibration_asked)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 12, 0, 0)
        layout.setSpacing(12)
        layout.addWidget(self.text)
        layout.addWidget(self.measure, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addStretch(1)
        self._say()

    def show_loaded(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self._say()

    def begin(self) -> None:
        self._answer = None
        self._say()

    def show_answer(self, answer: Answer) -> None:
        self._answer = answer
        self._say()

    def show_calibrating(self, is_running: bool) -> None:
        """While plain decoding is measured, it cannot be asked for again."""
        self.measure.setEnabled(not is_running)
        self._say(self.tr("Measuring plain decoding…") if is_running else "")

    def _say(self, last: str = "") -> None:
        if self._loaded is None or self._answer is None:
            sentences = [self.tr("When an answer is whole, this page says why it was as fast as it was.")]
        else:
            plain = plain_speeds.plain_speed(self._loaded)
            sentences = run_words.why(self._answer, self._loaded, plain)
        self.text.setText("\n\n".join([*sentences, *([last] if last else [])]))
