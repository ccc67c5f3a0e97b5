"""Runs a race: two answers to one question, one after the other, with the window's engine. No widgets."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version

from msgspec import structs
from PySide6.QtCore import QObject, Signal

from app.connection.engine import Engine, State
from app.race import race_record
from app.race.lane_recorder import LaneRecorder
from app.race.race_record import RaceLane
from app.widgets.fault_words import FaultWords, words_of
from engine.protocol.messages import (
    Answer,
    EngineLost,
    Event,
    Failed,
    IterationDone,
    Load,
    Loaded,
    LoadProgress,
    Message,
    Options,
    PrefillProgress,
    TextDelta,
)


@dataclass(frozen=True, slots=True)
class RacePlan:
    """What to run.

    messages: the question, as the last one, and what was said before it.
    options: of both answers, with a seed; `drafter` is that of the second answer, and of the first one too
        if `rival` is given.
    rival: loads the models of the second answer; None: those that are loaded, against plain decoding.
    """

    messages: Sequence[Message]
    options: Options
    rival: Load | None = None

    def options_of(self, lane: int) -> Options:
        plain = self.rival is None and lane == 0
        drafter = "none" if plain else "auto" if self.options.drafter == "none" else self.options.drafter
        if self.rival is not None and lane == 1:  # the other models may lack this drafter
            drafter = "auto"
        return structs.replace(
            self.options, drafter=drafter, budgets=[], recording=None, telemetry=False, log_probs=None
        )


class RaceRun(QObject):
    """Runs one race at a time. The answers do not become part of a chat: they would be two versions that the
    user did not ask for, and the next question would build on one of them.

    If the second answer is of other models, those of the first are loaded back at the end, also after an
    error or `cancel`.

    Attributes:
        is_running: whether a race is in progress.
        is_returning: whether the first models are being loaded back.

    Signals:
        lane_began: int; this answer is being prepared: 0 or 1
        load_progressed: LoadProgress of the second models, or of the first ones on the way back
        prompt_read: PrefillProgress
        text_added: str, the next piece of the answer in progress
        lane_ended: RaceLane
        finished: RaceRecording
        failed: FaultWords: what happened; the race has ended
        returned: the first models are loaded again, or cannot be
    """

    lane_began = Signal(int)
    load_progressed = Signal(object)
    prompt_read = Signal(object)
    text_added = Signal(str)
    lane_ended = Signal(object)
    finished = Signal(object)
    failed = Signal(object)
    returned = Signal()

    def __init__(self, engine: Engine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.is_running = self.is_returning = False
        self._engine = engine
        self._plan: RacePlan | None = None
        self._home: Load | None = None  # what is loaded when a race begins
        self._recorder: LaneRecorder | None = None  # of the answer in progress
        self._lanes: list[RaceLane] = []
        engine.answer_event.connect(self._receive)
        engine.load_progressed.connect(self._show_load)
        engine.loaded.connect(self._take_models)
        engine.load_failed.connect(self._fail_load)
        engine.lost.connect(self._lose)
        engine.ended.connect(self._end)

    def start(self, plan: RacePlan) -> bool:
        """Start a race; return False if the engine is not ready."""
        if self.is_running or self._engine.state is not State.READY:
            return False
        self._plan, self._lanes, self._home = plan, [], self._engine.loaded_last
        self.is_running = True
        self._begin_lane()
        return True

    def cancel(self) -> None:
        """End the race without a result, and load the first models back."""
        if self.is_running:
            self._end()
            if self._is_away:
                self._return()
            else:
                self._engine.stop()

    @property
    def _is_away(self) -> bool:
        """Whether other models than at the beginning are loaded, or being loaded."""
        return self._home is not None and self._engine.wanted != self._home

    def _begin_lane(self) -> None:
        assert self._plan is not None
        self.lane_began.emit(len(self._lanes))
        if self._lanes and self._plan.rival is not None:
            self._engine.load(self._plan.rival)
        else:
            self._ask()

    def _ask(self) -> None:
        assert self._plan is not None
        self._recorder = LaneRecorder()
        # Fresh: a drafter that remembers this very answer from the chat would win by that.
        self._engine.ask(self._plan.messages, self._plan.options_of(len(self._lanes)), fresh=True)

    def _receive(self, event: Event) -> None:
        if self._recorder is None:
            return
        match event:
            case PrefillProgress():
                self.prompt_read.emit(event)
            case TextDelta():
                self._recorder.add(event)
                self.text_added.emit(event.text)
            case IterationDone():
                self._recorder.add(event)
            case Answer() if event.stop_reason == "cancelled" or not event.tokens:
                self._end()
                self.failed.emit(FaultWords(self.tr("The race was stopped.")))
                self._return()
            case Answer():
                self._finish_lane(event)
            case Failed():
                self._fail(event)

    def _finish_lane(self, answer: Answer) -> None:
        assert self._plan is not None
        assert self._recorder is not None
        assert self._engine.pair is not None
        lane = self._recorder.finish(answer, self._engine.pair)
        self._recorder = None
        self._lanes.append(lane)
        self.lane_ended.emit(lane)
        if len(self._lanes) < 2:
            self._begin_lane()
            return
        race = race_record.make(version("specexec-desktop"), self._plan.messages[-1].content, self._lanes)
        self._end()
        self._return()
        self.finished.emit(race)

    def _show_load(self, progress: LoadProgress) -> None:
        if self.is_running or self.is_returning:
            self.load_progressed.emit(progress)

    def _take_models(self, loaded: Loaded) -> None:
        if self.is_returning:
            self._end_return()
        elif self.is_running and self._plan is not None and self._engine.wanted == self._plan.rival:
            self._ask()

    def _fail_load(self, failed: Failed) -> None:
        if self.is_returning:
            self._end_return()
        elif self.is_running:
            self._fail(failed)

    def _fail(self, failed: Failed) -> None:
        self._end()
        self.failed.emit(words_of(failed))
        self._return()

    def _lose(self, lost: EngineLost) -> None:
        was_running = self.is_running
        if (was_running or self.is_returning) and self._home is not None:
            self._engine.wanted = self._home  # for the restart
        self._end()
        self._end_return()
        if was_running:
            self.failed.emit(words_of(lost))

    def _return(self) -> None:
        """Load the first models back if others are loaded."""
        if self._is_away:
            assert self._home is not None
            self.is_returning = True
            self._engine.load(self._home)

    def _end_return(self) -> None:
        if self.is_returning:
            self.is_returning = False
            self.returned.emit()

    def _end(self) -> None:
        self.is_running, self._recorder = False, None
