"""The form that a race begins with: the question, who runs, how long the answers may be."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QPlainTextEdit,
    QRadioButton,
    QSizePolicy,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app.header.local_models import LocalModel
from app.widgets.flow import Flow
from app.widgets.form_parts import button, label

QUESTION_LINES = 8
SHORTEST, USUAL, LONGEST = 16, 128, 4096  # tokens of an answer


class RaceStart(QWidget):
    """Form for the question and the kind of race.

    Attributes:
        question: the field with the question.
        against_plain, against_model: the two kinds of race.
        rivals: the models that may answer second.
        tokens: the greatest length of an answer.
        start, open: the buttons.

    Signals:
        start_asked: the user wants to run the race
        open_asked: the user wants to open a recording
    """

    start_asked = Signal()
    open_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.question = QPlainTextEdit(self)
        self.question.setAccessibleName(self.tr("Question"))
        self.question.setPlaceholderText(self.tr("A question for both answers"))
        self.question.setTabChangesFocus(True)
        self.question.setFixedHeight(QUESTION_LINES * self.question.fontMetrics().lineSpacing())
        self.question.textChanged.connect(self._allow)
        self.against_plain = QRadioButton(self.tr("SpecExec against plain decoding"), self)
        self.against_plain.setChecked(True)
        self.against_model = QRadioButton(self.tr("The loaded model against another one:"), self)
        self.rivals = QComboBox(self)
        self.rivals.setAccessibleName(self.tr("Second model"))
        self.rivals.setMinimumContentsLength(24)
        self.rivals.activated.connect(lambda: self.against_model.setChecked(True))
        self.tokens = QSpinBox(self)
        self.tokens.setAccessibleName(self.tr("Tokens of an answer, at most"))
        self.tokens.setMinimumWidth(110)
        self.tokens.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.tokens.setRange(SHORTEST, LONGEST)
        self.tokens.setValue(USUAL)
        self.state = label("", "caption", self)
        self.start = button(self.tr("Start the race"), parent=self)
        self.start.setProperty("role", "main")
        self.start.clicked.connect(self.start_asked)
        self.open = button(self.tr("Open a recording…"), parent=self)
        self.open.clicked.connect(self.open_asked)
        self._is_ready = False
        self._build()

    def _build(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(10)
        layout.addWidget(label(self.tr("Race"), "title", self))
        layout.addWidget(
            label(
                self.tr(
                    "One question, two answers. Each runs alone, since together they would halve each other; "
                    "then both are shown on one clock, from the first token of each."
                ),
                "muted",
                self,
            )
        )
        layout.addWidget(self.question)
        layout.addWidget(self.against_plain)
        second = Flow()
        second.addWidget(self.against_model)
        second.addWidget(self.rivals)
        second.addStretch()
        layout.addLayout(second)
        form = QFormLayout()
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.addRow(self.tr("Tokens of an answer, at most"), self.tokens)
        layout.addLayout(form)
        layout.addStretch(1)
        layout.addWidget(self.state)
        buttons = Flow()
        buttons.addWidget(self.open)
        buttons.addStretch()
        buttons.addWidget(self.start)
        layout.addLayout(buttons)

    def offer(self, models: Sequence[LocalModel]) -> None:
        """Set which models may answer second; without any, that kind of race is not offered."""
        self.rivals.clear()
        for model in models:
            self.rivals.addItem(model.text, model.name)
        self.against_model.setEnabled(bool(models))
        self.rivals.setEnabled(bool(models))
        if not models:
            self.against_plain.setChecked(True)

    @property
    def rival(self) -> str | None:
        """The name of the second model; None: the race is against plain decoding."""
        return self.rivals.currentData() if self.against_model.isChecked() else None

    def allow(self, is_ready: bool) -> None:
        """Set whether the engine can answer now."""
        self._is_ready = is_ready
        self._allow()

    def _allow(self) -> None:
        self.state.setText("" if self._is_ready else self.tr("The model cannot answer now."))
        self.start.setEnabled(self._is_ready and bool(self.question.toPlainText().strip()))
