"""The engine and what is loaded in it: its state, what may be asked, what comes back. Knows no widgets."""

import itertools
from collections.abc import Sequence
from enum import Enum, auto

from msgspec import structs
from PySide6.QtCore import QObject, Signal

from app.engine_link import EngineLink
from engine.protocol import messages
from engine.protocol.messages import Event


class State(Enum):
    STARTING = auto()
    UNLOADED = auto()
    LOADING = auto()
    READY = auto()
    ANSWERING = auto()
    STOPPING = auto()  # asked to stop; the engine has not said so yet
    LOAD_FAILED = auto()
    LOST = auto()


BUSY = frozenset({State.LOADING, State.ANSWERING})
WILL_ANSWER = frozenset({State.STARTING, State.LOADING, State.READY, State.ANSWERING, State.STOPPING})


class Engine(QObject):
    """One engine process with one pair of models. Lives on the GUI thread.

    Attributes:
        state: see `State`.
        wanted: what is to be loaded; its id means nothing.
        pair: what is loaded, or None.

    Signals:
        state_changed: State
        load_progressed: LoadProgress
        loaded: Loaded
        load_failed: Failed
        answering: an event of the answer under way; its last is Answer or Failed
        lost: EngineLost; an answer under way has no last event then
        ended: the engine has ended, as asked
    """

    state_changed = Signal(State)
    load_progressed = Signal(object)
    loaded = Signal(object)
    load_failed = Signal(object)
    answering = Signal(object)
    lost = Signal(object)
    ended = Signal()

    def __init__(self, link: EngineLink, wanted: messages.Load, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state = State.STARTING
        self.wanted = wanted
        self.pair: messages.Loaded | None = None
        self._ids = itertools.count(1)
        self._load_id = self._answer_id = 0  # of the requests under way
        self._link = link
        link.received.connect(self._receive)
        link.ended.connect(self.ended)

    @property
    def is_running(self) -> bool:
        return self._link.is_running

    def start(self) -> None:
        """Start (or after a loss, restart) the engine and load what is wanted."""
        self._enter(State.STARTING)
        self._link.start()

    def load(self, wanted: messages.Load | None = None) -> None:
        """Load what is wanted (again, after it failed), or from now on something else. An answer under way is
        stopped first by the engine."""
        self.wanted = wanted or self.wanted
        if self.state is State.LOST:
            self.start()
        elif self.state is not State.STARTING:
            self.stop()
            self._load()

    def unload(self) -> None:
        """Give its memory back; `load` brings it again."""
        if self.state in (State.READY, State.LOAD_FAILED):
            self.pair = None
            self._link.post(messages.Unload(id=next(self._ids)))
            self._enter(State.UNLOADED)

    def ask(self, said: Sequence[messages.Message], options: messages.Options) -> bool:
        """Begin an answer; False where the engine is not ready for one."""
        if self.state is not State.READY:
            return False
        self._answer_id = next(self._ids)
        self._link.post(messages.Chat(id=self._answer_id, messages=list(said), options=options))
        self._enter(State.ANSWERING)
        return True

    def stop(self) -> None:
        """End the answer or the loading under way; the text so far is kept."""
        if self.state in BUSY:
            self._link.post(messages.Cancel(id=next(self._ids)))
            self._enter(State.STOPPING)

    def close(self) -> None:
        """End the engine; `ended` follows."""
        self._link.close()

    def _load(self) -> None:
        self._load_id = next(self._ids)
        self.pair = None
        self._link.post(structs.replace(self.wanted, id=self._load_id))
        self._enter(State.LOADING)

    def _receive(self, event: Event) -> None:
        match event:
            case messages.Ready():
                self._load()
            case messages.EngineLost():
                self.pair, self._load_id, self._answer_id = None, 0, 0
                self._enter(State.LOST)
                self.lost.emit(event)
            case messages.Unloaded():
                pass
            case _ if event.request == self._load_id:
                self._receive_loading(event)
            case _ if event.request == self._answer_id:
                if isinstance(event, messages.Answer | messages.Failed) and self.state is not State.LOADING:
                    self._enter(State.READY)
                self.answering.emit(event)

    def _receive_loading(self, event: Event) -> None:
        match event:
            case messages.LoadProgress():
                self.load_progressed.emit(event)
            case messages.Loaded():
                self.pair = event
                self._enter(State.READY)
                self.loaded.emit(event)
            case messages.Failed():
                self._enter(State.LOAD_FAILED)
                self.load_failed.emit(event)

    def _enter(self, state: State) -> None:
        self.state = state
        self.state_changed.emit(state)
