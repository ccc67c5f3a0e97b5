"""Page that explains the speed of an answer in sentences, with a button that measures plain decoding."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.panel import calibration, run_figures
from app.widgets import remark_words
from app.widgets.plain_text import PlainLabel, plain
from engine.protocol.messages import Answer, Loaded


class SpeedPage(QWidget):
    """Page that explains the speed of an answer.

    Attributes:
        text: label with the sentences.
        measure: button that asks for a measurement.
        race: button that asks for a race.

    Signals:
        race_asked: the user wants to see plain decoding beside SpecExec
        calibration_asked: the user wants plain decoding to be measured
    """

    race_asked = Signal()
    calibration_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._loaded: Loaded | None = None
        self._answer: Answer | None = None
        self.text = PlainLabel(parent=self)
        self.text.setWordWrap(True)
        self.text.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.text.setAccessibleName(self.tr("Speed"))
        self.measure = QPushButton(self.tr("Measure plain decoding"), self)
        self.measure.setAccessibleName(self.measure.text())
        self.measure.setToolTip(
            plain(
                self.tr(
                    "Generates a short answer ({} tokens) without a drafter, as a reference. "
                    "The result is kept."
                ).format(calibration.TOKENS)
            )
        )
        self.measure.clicked.connect(self.calibration_asked)
        self.race = QPushButton(self.tr("Race against plain decoding…"), self)
        self.race.setAccessibleName(self.race.text())
        self.race.setToolTip(self.tr("Answers one question twice and shows both answers on one clock"))
        self.race.clicked.connect(lambda: self.race_asked.emit())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 12, 0, 0)
        layout.setSpacing(12)
        layout.addWidget(self.text)
        for button in (self.measure, self.race):
            layout.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addStretch(1)
        self._update()

    def show_loaded(self, loaded: Loaded) -> None:
        self._loaded = loaded
        for button in (self.measure, self.race):  # both are about models on this machine
            button.setVisible(not loaded.place)
        self._update()

    def begin(self) -> None:
        self._answer = None
        self._update()

    def show_answer(self, answer: Answer) -> None:
        self._answer = answer
        self._update()

    def show_calibrating(self, is_running: bool) -> None:
        """Disable the button while plain decoding is being measured."""
        self.measure.setEnabled(not is_running)
        self._update(self.tr("Measuring plain decoding…") if is_running else "")

    def _update(self, last: str = "") -> None:
        if self._loaded is None or self._answer is None:
            sentences = [self.tr("When an answer is complete, this page explains its speed.")]
        else:
            plain = calibration.plain_speed(self._loaded)
            sentences = run_figures.why(self._answer, self._loaded, plain)
            sentences += remark_words.paragraphs(self._answer.remarks)
        self.text.setText("\n\n".join([*sentences, *([last] if last else [])]))
