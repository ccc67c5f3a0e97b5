"""The model and its state, at the head of the window."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from app import words
from app.engine import State
from engine.protocol.messages import IterationDone, Loaded, LoadProgress, PrefillProgress, TreeGrown

BAR_STEPS = 1000


class ModelBar(QFrame):
    """Name of the model, what is going on in words, and a bar where it is known how far.

    Attributes:
        new_chat, panel_switch: buttons; the window connects them.
        state: the words.
        progress: the bar.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("model_bar")
        self.setMinimumHeight(46)
        self._name = QLabel("SpecExec Desktop", self)
        self._name.setProperty("role", "name")
        self._details = QLabel(self)
        self._details.setProperty("role", "caption")
        self._details.hide()
        self.state = QLabel(self)
        self.state.setAccessibleName(self.tr("State"))
        self.progress = QProgressBar(self)
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName(self.tr("Progress"))
        self.progress.setFixedSize(200, 4)
        self.new_chat = self._button(self.tr("New chat"), self.tr("Begin a new chat (Ctrl+N)"))
        self.panel_switch = self._button(
            self.tr("Token tree"), self.tr("Show or hide the token tree (Ctrl+T)")
        )
        self.panel_switch.setCheckable(True)
        self.panel_switch.setChecked(True)
        self._build()

    def _build(self) -> None:
        model = QVBoxLayout()
        model.setSpacing(1)
        model.addStretch(1)
        model.addWidget(self._name)
        model.addWidget(self._details)
        model.addStretch(1)
        now = QVBoxLayout()
        now.setSpacing(5)
        now.addStretch(1)
        now.addWidget(self.state, alignment=Qt.AlignmentFlag.AlignRight)
        now.addWidget(self.progress, alignment=Qt.AlignmentFlag.AlignRight)
        now.addStretch(1)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(20, 8, 14, 8)
        layout.setSpacing(10)
        layout.addLayout(model, 1)
        layout.addLayout(now)
        layout.addSpacing(8)
        layout.addWidget(self.new_chat)
        layout.addWidget(self.panel_switch)

    def _button(self, text: str, tip: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setToolTip(tip)
        button.setAccessibleName(text)
        return button

    def show_state(self, state: State) -> None:
        match state:
            case State.STARTING:
                self._say(self.tr("Starting the engine…"), busy=True)
            case State.LOADING:
                self._say(self.tr("Loading the model…"), busy=True)
            case State.READY:
                self._say(self.tr("● Ready"))
            case State.ANSWERING:
                self._say(self.tr("Reading the prompt…"), busy=True)
            case State.STOPPING:
                self._say(self.tr("Stopping…"), busy=True)
            case State.UNLOADED | State.LOAD_FAILED:
                self._say(self.tr("✕ No model is loaded"))
            case State.LOST:
                self._say(self.tr("✕ The engine has stopped"))

    def show_loaded(self, loaded: Loaded) -> None:
        self._name.setText(loaded.target.name)
        self._name.setToolTip(loaded.target.path)
        self._details.setText(words.model_details(loaded))
        self._details.show()

    def show_load_progress(self, progress: LoadProgress) -> None:
        self._say(words.load_stage(progress), busy=True)
        self._advance(progress.done, progress.total)

    def show_prefill(self, progress: PrefillProgress) -> None:
        text = self.tr("Reading the prompt: {} of {} tokens")
        self._say(text.format(words.number(progress.done), words.number(progress.total)), busy=True)
        self._advance(progress.done, progress.total)

    def show_iteration(self, event: TreeGrown | IterationDone) -> None:
        self._say(self.tr("Answering, iteration {}").format(words.number(event.iteration)))

    def show_answering(self) -> None:
        self._say(self.tr("Answering…"))

    def _say(self, text: str, *, busy: bool = False) -> None:
        self.state.setText(text)
        self.progress.setVisible(busy)
        self.progress.setRange(0, BAR_STEPS)
        self.progress.setValue(0)

    def _advance(self, done: int, total: int) -> None:
        if total > 0:
            self.progress.setValue(min(BAR_STEPS, BAR_STEPS * done // total))
