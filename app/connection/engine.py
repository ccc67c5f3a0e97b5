"""The engine process as the window sees it: takes requests, emits events and keeps the state. Imports no
widgets.

Everything here runs on the GUI thread; `engine_link` delivers the events there.
"""

import itertools
from collections.abc import Sequence
from enum import Enum, auto

from msgspec import structs
from PySide6.QtCore import QObject, Signal

from app.connection.engine_link import EngineLink
from engine.protocol import messages
from engine.protocol.messages import Event


class State(Enum):
    STARTING = auto()
    UNLOADED = auto()
    LOADING = auto()
    READY = auto()
    ANSWERING = auto()
    STOPPING = auto()  # Cancel was sent; the engine has not confirmed it yet
    LOAD_FAILED = auto()
    LOST = auto()


BUSY = frozenset({State.LOADING, State.ANSWERING})
WILL_ANSWER = frozenset({State.STARTING, State.LOADING, State.READY, State.ANSWERING, State.STOPPING})


class Engine(QObject):
    """One engine process with one pair of models.

    Attributes:
        state: what the process is doing.
        wanted: the request that loads the models; it is sent with a new id each time.
        loaded_last: the request that last loaded models, or None.
        pair: the event that describes the loaded models, or None.

    Signals:
        state_changed: State
        load_progressed: LoadProgress
        loaded: Loaded; also before `load_failed`, if the models loaded before still are
        load_failed: Failed
        answer_event: an event of the answer in progress; the last one of an answer is Answer or Failed
        lost: EngineLost; an answer in progress gets no Answer or Failed in this case
        ended: the engine has ended after `close`
    """

    state_changed = Signal(State)
    load_progressed = Signal(object)
    loaded = Signal(object)
    load_failed = Signal(object)
    answer_event = Signal(object)
    lost = Signal(object)
    ended = Signal()

    def __init__(self, link: EngineLink, wanted: messages.Load, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state = State.STARTING
        self.wanted = wanted
        self.loaded_last: messages.Load | None = None
        self.pair: messages.Loaded | None = None
        self._pair_before: messages.Loaded | None = None  # the one that the load in progress replaces
        self._ids = itertools.count(1)
        self._load_id = self._answer_id = 0  # ids of the last request of each kind; 0: none
        self._killed = 0  # how often the system has killed the engine with the models in `wanted`
        self._link = link
        link.received.connect(self._receive)
        link.ended.connect(self.ended)

    @property
    def is_running(self) -> bool:
        return self._link.is_running

    def start(self) -> None:
        """Start the engine, or restart it after a loss, and load the models in `wanted`."""
        self._enter(State.STARTING)
        self._link.start()

    def load(self, wanted: messages.Load | None = None) -> None:
        """Load other models; without an argument, load the models in `wanted` again. An answer in
        progress is stopped first."""
        if wanted is not None and wanted != self.wanted:
            self.wanted, self._killed = wanted, 0
        if self.state is State.LOST:
            self.start()
        elif self.state is not State.STARTING:
            self.stop()
            self._load()

    def unload(self) -> None:
        """Unload the models to free their memory; `load` loads them again."""
        if self.state in (State.READY, State.LOAD_FAILED):
            self.pair = None
            self._link.post(messages.Unload(id=next(self._ids)))
            self._enter(State.UNLOADED)

    def ask(self, conversation: Sequence[messages.Message], options: messages.Options) -> bool:
        """Request an answer. Return False if the engine is not ready."""
        if self.state is not State.READY:
            return False
        self._answer_id = next(self._ids)
        self._link.post(messages.Chat(id=self._answer_id, messages=list(conversation), options=options))
        self._enter(State.ANSWERING)
        return True

    def stop(self) -> None:
        """Cancel the answer or the load in progress. The text of the answer so far is kept."""
        if self.state in BUSY:
            self._link.post(messages.Cancel(id=next(self._ids)))
            self._enter(State.STOPPING)

    def close(self) -> None:
        """Ask the engine to end; `ended` follows."""
        self._link.close()

    def _load(self) -> None:
        self._load_id = next(self._ids)
        self._pair_before, self.pair = self.pair, None
        self._link.post(structs.replace(self.wanted, id=self._load_id, smaller=self._killed))
        self._enter(State.LOADING)

    def _receive(self, event: Event) -> None:
        match event:
            case messages.Ready():
                self._load()
            case messages.EngineLost():
                self.pair, self._load_id, self._answer_id = None, 0, 0
                self._killed += event.killed
                self._enter(State.LOST)
                self.lost.emit(event)
            case messages.Unloaded():
                pass
            case _ if event.request == self._load_id:
                self._receive_loading(event)
            case _ if event.request == self._answer_id:
                if isinstance(event, messages.Answer | messages.Failed) and self.state is not State.LOADING:
                    self._enter(State.READY)
                self.answer_event.emit(event)

    def _receive_loading(self, event: Event) -> None:
        match event:
            case messages.LoadProgress():
                self.load_progressed.emit(event)
            case messages.Loaded():
                self._show_loaded(self.wanted, event)
            case messages.Failed() if event.loaded and self._pair_before and self.loaded_last:
                self._show_loaded(self.loaded_last, self._pair_before)
                self.load_failed.emit(event)
            case messages.Failed():
                self._enter(State.LOAD_FAILED)
                self.load_failed.emit(event)

    def _show_loaded(self, wanted: messages.Load, pair: messages.Loaded) -> None:
        self.wanted = self.loaded_last = wanted
        self.pair = pair
        self._enter(State.READY)
        self.loaded.emit(pair)

    def _enter(self, state: State) -> None:
        self.state = state
        self.state_changed.emit(state)
