"""What is going on, in words, and a bar where it is known how far."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QProgressBar, QVBoxLayout, QWidget

from app import words
from app.engine import State
from app.header.elided import ElidedLabel
from app.header.expected_end import ExpectedEnd, expected_end
from engine.protocol.messages import IterationDone, LoadProgress, PassProgress, PrefillProgress, TreeGrown

BAR_STEPS = 1000
SLOW_S = 1.0  # of an iteration; where it takes longer, its phases can be read


class StatusLine(QWidget):
    """
    Attributes:
        state: the words.
        progress: the bar.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._most: int | None = None
        self._usual: int | None = None
        self._end = ""
        self._is_slow = True
        self.state = ElidedLabel(self)
        self.state.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.state.setAccessibleName(self.tr("State"))
        self.progress = QProgressBar(self)
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName(self.tr("Progress"))
        self.progress.setFixedSize(180, 4)
        keep = self.progress.sizePolicy()
        keep.setRetainSizeWhenHidden(True)
        self.progress.setSizePolicy(keep)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(5)
        layout.addStretch(1)
        layout.addWidget(self.state)
        layout.addWidget(self.progress)
        layout.setAlignment(self.progress, Qt.AlignmentFlag.AlignRight)
        layout.addStretch(1)

    def expect(self, most: int | None, usual: int | None) -> None:
        """most: tokens the next answer may have; usual: tokens answers here have; None: unknown."""
        self._most, self._usual = most, usual
        self._end, self._is_slow = "", True

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

    def show_load_progress(self, progress: LoadProgress) -> None:
        self._say(words.load_stage(progress), busy=True)
        self._advance(progress.done, progress.total)

    def show_prefill(self, progress: PrefillProgress) -> None:
        text = self.tr("Reading the prompt: {} of {} tokens ({}%)")
        share = 100 * progress.done // progress.total if progress.total else 100
        figures = words.number(progress.done), words.number(progress.total), share
        self._say(text.format(*figures), busy=True)
        self._advance(progress.done, progress.total)

    def show_answering(self) -> None:
        self._say(self.tr("Answering…"))

    def show_iteration(self, event: TreeGrown | IterationDone) -> None:
        if isinstance(event, IterationDone):
            spent = event.seconds
            self._is_slow = spent.draft + spent.target + spent.stream_wait + spent.other > SLOW_S
            end = expected_end(event.tokens, event.tokens_per_second, self._most, self._usual)
            self._end = self._said(end) if end else ""
            speed = self.tr("{} tokens/s").format(words.decimal(event.tokens_per_second))
            self._say(self._line(event.iteration, speed))
        elif self._is_slow:
            nodes = self.tr("drafting, {} nodes").format(words.number(len(event.tree.tokens)))
            self._say(self._line(event.iteration, nodes))

    def show_pass(self, progress: PassProgress) -> None:
        """How far the target's pass over a tree has come; of a fast one nothing could be read."""
        if self._is_slow:
            layer = self.tr("verifying, layer {} of {}").format(progress.done, progress.total)
            self._say(self._line(progress.iteration, layer), busy=True)
            self._advance(progress.done, progress.total)

    def _line(self, iteration: int, what: str) -> str:
        parts = [self.tr("Iteration {}").format(words.number(iteration)), what, self._end]
        return " · ".join(filter(None, parts))

    def _said(self, end: ExpectedEnd) -> str:
        minutes = round(end.seconds / 60)
        if end.seconds < 60:
            time = self.tr("{} s").format(max(1, round(end.seconds)))
        elif minutes < 60:
            time = self.tr("{} min").format(minutes)
        else:
            time = self.tr("{} h {} min").format(minutes // 60, minutes % 60)
        return (self.tr("at most {} more") if end.is_bound else self.tr("usually about {} more")).format(time)

    def _say(self, text: str, *, busy: bool = False) -> None:
        self.state.setText(text)
        self.progress.setVisible(busy)
        self.progress.setRange(0, BAR_STEPS)
        self.progress.setValue(0)

    def _advance(self, done: int, total: int) -> None:
        if total > 0:
            self.progress.setValue(min(BAR_STEPS, BAR_STEPS * done // total))
