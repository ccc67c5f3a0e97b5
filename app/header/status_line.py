"""Status line of the window: the current activity in words, a progress bar, the expected end of an answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QProgressBar, QVBoxLayout, QWidget

from app import formatting
from app.connection.engine import State
from app.widgets.elided_label import ElidedLabel
from app.widgets.form_parts import keep_place
from engine.protocol.messages import IterationDone, LoadProgress, PassProgress, PrefillProgress, TreeGrown

BAR_STEPS = 1000
SLOW_S = 1.0  # duration of an iteration above which the user can follow its phases
MIN_TOKENS = 8  # with fewer tokens, the speed is not meaningful
MIN_ANSWERS = 3  # fewer answers do not predict the length of the next one


@dataclass(frozen=True, slots=True)
class ExpectedEnd:
    """Expected end of an answer.

    seconds: time left. is_bound: True for the latest possible end at this speed, False for an estimate from
        the usual length of answers.
    """

    seconds: float
    is_bound: bool


def expected_end(
    tokens: int, tokens_per_second: float, most: int | None, usual: int | None
) -> ExpectedEnd | None:
    """Return when an answer will be complete; None if that cannot be predicted.

    tokens: number of tokens so far. most: maximum number of tokens of an answer. usual: usual number of
        tokens of an answer. None: unknown.
    """
    if tokens < MIN_TOKENS or tokens_per_second <= 0:
        return None
    if most is not None:
        return ExpectedEnd(max(0, most - tokens) / tokens_per_second, is_bound=True)
    if usual is not None and tokens < usual:
        return ExpectedEnd((usual - tokens) / tokens_per_second, is_bound=False)
    return None


def usual_tokens(lengths: Sequence[int]) -> int | None:
    """Return the usual number of tokens, given the lengths of earlier answers; None if there are too few."""
    return round(median(lengths)) if len(lengths) >= MIN_ANSWERS else None


class StatusLine(QWidget):
    """Label and progress bar that show the engine's state and events.

    Attributes:
        state: label with the text.
        progress: the progress bar.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._most: int | None = None
        self._usual: int | None = None
        self._end = ""
        self._is_slow = True
        self._is_silent = False  # the disk that is waited for
        self.state = ElidedLabel(self)
        self.state.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.state.setAccessibleName(self.tr("State"))
        self.progress = QProgressBar(self)
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName(self.tr("Progress"))
        self.progress.setFixedHeight(4)
        self.progress.setMinimumWidth(60)
        self.progress.setMaximumWidth(180)
        keep_place(self.progress)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(5)
        layout.addStretch(1)
        layout.addWidget(self.state)
        layout.addWidget(self.progress)
        layout.setAlignment(self.progress, Qt.AlignmentFlag.AlignRight)
        layout.addStretch(1)

    def expect(self, most: int | None, usual: int | None) -> None:
        """Set the maximum and the usual number of tokens of the next answer; None: unknown."""
        self._most, self._usual = most, usual
        self._end, self._is_slow, self._is_silent = "", True, False

    def show_state(self, state: State) -> None:
        match state:
            case State.STARTING:
                self._show(self.tr("Starting the engine…"), busy=True)
            case State.LOADING:
                self._show(self.tr("Loading the model…"), busy=True)
            case State.READY:
                self._show(self.tr("● Ready"))
            case State.ANSWERING:
                self._show(self.tr("Reading the prompt…"), busy=True)
            case State.STOPPING:
                self._show(self.tr("Stopping…"), busy=True)
            case State.IDLE:
                self._show(self.tr("○ Unloaded (idle)"))
            case State.UNLOADED | State.LOAD_FAILED:
                self._show(self.tr("✕ No model loaded"))
            case State.LOST:
                self._show(self.tr("✕ The engine has stopped"))

    def show_busy_for(self, state: State, asker: str | None) -> None:
        """Show for whom the engine works meanwhile. asker: the name of another program, which may be "";
        None: for this window, or for nobody."""
        if asker is None:
            self.show_state(state)
            return
        name = asker or self.tr("another program")
        if state is State.READY:
            self._show(self.tr("Answering {}").format(name))
        elif state is State.ANSWERING:
            self._show(self.tr("Waiting for {}").format(name), busy=True)

    def show_load_progress(self, progress: LoadProgress) -> None:
        self._show(formatting.load_stage(progress), busy=True)
        self._advance(progress.done, progress.total)

    def show_prefill(self, progress: PrefillProgress) -> None:
        text = self.tr("Reading the prompt: {} of {} tokens ({}%)")
        share = 100 * progress.done // progress.total if progress.total else 100
        figures = formatting.number(progress.done), formatting.number(progress.total), share
        self._show(text.format(*figures), busy=True)
        self._advance(progress.done, progress.total)

    def show_answering(self) -> None:
        self._show(self.tr("Answering…"))

    def show_iteration(self, event: TreeGrown | IterationDone) -> None:
        if isinstance(event, IterationDone):
            spent = event.seconds
            self._is_slow = spent.draft + spent.target + spent.stream_wait + spent.other > SLOW_S
            end = expected_end(event.tokens, event.tokens_per_second, self._most, self._usual)
            self._end = self._end_text(end) if end else ""
            speed = self.tr("{} tokens/s").format(formatting.decimal(event.tokens_per_second))
            self._show(self._line(self.tr("Answering"), speed))
        elif self._is_slow and not self._is_silent:
            self._show(self._line(self.tr("Answering"), self.tr("guessing ahead")))

    def show_pass(self, progress: PassProgress) -> None:
        """Show how far the target pass is, unless iterations are too short to follow it."""
        if self._is_slow and not self._is_silent:
            share = 100 * progress.done // progress.total if progress.total else 100
            checking = self.tr("checking the guesses: {}%").format(share)
            self._show(self._line(self.tr("Answering"), checking), busy=True)
            self._advance(progress.done, progress.total)

    def show_silence(self, seconds: float, state: State) -> None:
        """Show for how long the disk has not answered that a load or an answer waits for; 0: it waits no
        more. state: the engine's."""
        self._is_silent = seconds > 0
        if self._is_silent:
            self._show(self.tr("The disk has not answered for {} s").format(round(seconds)), busy=True)
        elif state is State.ANSWERING:
            self.show_answering()
        else:
            self.show_state(state)

    def _line(self, *parts: str) -> str:
        return " · ".join(filter(None, [*parts, self._end]))

    def _end_text(self, end: ExpectedEnd) -> str:
        minutes = round(end.seconds / 60)
        if end.seconds < 60:
            time = self.tr("{} s").format(max(1, round(end.seconds)))
        elif minutes < 60:
            time = self.tr("{} min").format(minutes)
        else:
            time = self.tr("{} h {} min").format(minutes // 60, minutes % 60)
        left = self.tr("at most {} left") if end.is_bound else self.tr("probably about {} left")
        return left.format(time)

    def _show(self, text: str, *, busy: bool = False) -> None:
        self.state.setText(text)
        self.progress.setVisible(busy)
        self.progress.setRange(0, BAR_STEPS)
        self.progress.setValue(0)

    def _advance(self, done: int, total: int) -> None:
        if total > 0:
            self.progress.setValue(min(BAR_STEPS, BAR_STEPS * done // total))
