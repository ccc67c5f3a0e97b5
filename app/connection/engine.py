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
    IDLE = auto()  # unloaded because nothing was asked for a while; the next question loads the models again
    LOADING = auto()
    READY = auto()
    ANSWERING = auto()
    STOPPING = auto()  # Cancel was sent; the engine has not confirmed it yet
    LOAD_FAILED = auto()
    LOST = auto()


ASKER = "SpecExec Desktop"  # who asks, as other programs see it
NO_INPUT = messages.TemplateInput()
BUSY = frozenset({State.LOADING, State.ANSWERING})
WILL_ANSWER = BUSY | {State.STARTING, State.IDLE, State.READY, State.STOPPING}


class Engine(QObject):
    """One engine process with one pair of models, which other programs may use too.

    Attributes:
        state: what the process is doing.
        wanted: the request that loads the models; it is sent with a new id each time.
        loaded_last: the request that last loaded models, or None.
        pair: the event that describes the loaded models, or None.
        busy_for: who asked for what the engine does now, if it was not this window; "": an unnamed program.
            None if the engine is idle or works for this window.

    Signals:
        state_changed: State
        load_progressed: LoadProgress
        load_waits: float; for how many seconds the disk has not answered the load in progress; 0: it is not
            waited for any more
        loaded: Loaded; also before `load_failed`, if the models loaded before still are, if another program
            has loaded models, and if an answer had to load them again by a smaller plan
        load_failed: Failed
        answer_event: an event of the answer in progress; the last one of an answer is Answer or Failed
        busy_for_changed: `busy_for` changed.
        lost: EngineLost; an answer in progress gets no Answer or Failed in this case
        ended: the engine has ended after `close`
    """

    state_changed = Signal(State)
    load_progressed = Signal(object)
    load_waits = Signal(float)
    loaded = Signal(object)
    load_failed = Signal(object)
    answer_event = Signal(object)
    busy_for_changed = Signal()
    lost = Signal(object)
    ended = Signal()

    def __init__(
        self,
        link: EngineLink,
        wanted: messages.Load,
        parent: QObject | None = None,
        *,
        insists: bool = False,
    ) -> None:
        """insists: whether to load the models in `wanted` even if another program has loaded others."""
        super().__init__(parent)
        self._insists = insists
        self.state = State.STARTING
        self.wanted = wanted
        self.loaded_last: messages.Load | None = None
        self.pair: messages.Loaded | None = None
        self.busy_for: str | None = None
        self._client = 0  # this window's number among the engine's clients
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

    def load_in_full(self) -> None:
        """Load the models in `wanted` again, by the full plan although the system has killed the engine."""
        self._killed = 0
        self.load()

    def unload(self) -> None:
        """Unload the models to free their memory; `load` loads them again."""
        if self.state in (State.READY, State.LOAD_FAILED):
            self._unload(State.UNLOADED)

    def rest(self) -> None:
        """Unload the models until the next question."""
        if self.state is State.READY:
            self._unload(State.IDLE)

    def _unload(self, state: State) -> None:
        self.pair = None
        self._link.post(messages.Unload(id=next(self._ids)))
        self._enter(state)

    def ask(
        self,
        conversation: Sequence[messages.Message],
        options: messages.Options,
        *,
        fresh: bool = False,
        chat: str = "",
        template: messages.TemplateInput = NO_INPUT,
    ) -> bool:
        """Request an answer. Return False if the engine is not ready. fresh, template: as in `Chat`; chat:
        its `conversation`."""
        if self.state is not State.READY:
            return False
        self._answer_id = next(self._ids)
        self._link.post(
            messages.Chat(
                id=self._answer_id,
                messages=list(conversation),
                options=options,
                asker=ASKER,
                target=self.pair.target.path if self.pair else "",
                fresh=fresh,
                conversation=chat,
                template=template,
            )
        )
        self._enter(State.ANSWERING)
        return True

    def forget(self, chat: str) -> None:
        """Let the engine delete what it has kept of a conversation."""
        self._link.post(messages.Forget(id=next(self._ids), conversation=chat))

    def stop(self) -> None:
        """Cancel the answer or the load in progress. The text of the answer so far is kept."""
        if self.state in BUSY:
            self._link.post(messages.Cancel(id=next(self._ids)))
            self._enter(State.STOPPING)

    def close(self) -> None:
        """Leave the engine, which ends if no other program uses it; `ended` follows."""
        self._link.close()

    def end(self) -> None:
        """End the engine, whoever else uses it; `ended` follows."""
        self._link.end()

    def _load(self) -> None:
        self._load_id = next(self._ids)
        self._pair_before, self.pair = self.pair, None
        self._link.post(structs.replace(self.wanted, id=self._load_id, smaller=self._killed, asker=ASKER))
        self._enter(State.LOADING)

    def _receive(self, event: Event) -> None:
        match event:
            case messages.Ready():
                self._client = event.client
                self._begin(event.now)
            case messages.NowLoaded():
                self._take(event)
            case messages.Tasks():
                self._note_tasks(event.tasks)
            case messages.EngineLost():
                self.pair, self._load_id, self._answer_id = None, 0, 0
                self._note_tasks([])
                self._killed += event.killed
                self._enter(State.LOST)
                self.lost.emit(event)
            case messages.Unloaded() | messages.Forgotten() | messages.Left():
                pass
            case _ if event.request == self._load_id:
                self._receive_loading(event)
            case _ if event.request == self._answer_id:
                if isinstance(event, messages.Answer | messages.Failed) and self.state is not State.LOADING:
                    self._enter(self._idle_state)
                self.answer_event.emit(event)

    def _receive_loading(self, event: Event) -> None:
        match event:
            case messages.LoadProgress():
                self.load_progressed.emit(event)
            case messages.DiskSilence():
                self.load_waits.emit(event.seconds)
            case messages.Loaded():
                self._show_loaded(self.wanted, event)
            case messages.Failed() if event.loaded and self._pair_before and self.loaded_last:
                self._show_loaded(self.loaded_last, self._pair_before)
                self.load_failed.emit(event)
            case messages.Failed():
                self._enter(State.LOAD_FAILED)
                self.load_failed.emit(event)

    @property
    def _idle_state(self) -> State:
        return State.READY if self.pair else State.UNLOADED

    def _begin(self, now: messages.NowLoaded | None) -> None:
        """Take the models that another program has loaded, or load those that are wanted."""
        by = now.by if now else None
        if now is not None and by is not None and (not self._insists or by.target == self.wanted.target):
            self._take(now)
        else:
            self._load()

    def _take(self, now: messages.NowLoaded) -> None:
        """Show the models that another program has loaded or unloaded, or an answer has loaded again."""
        if self.state in (State.LOADING, State.STOPPING):  # the outcome of this window's own request follows
            self._pair_before = now.loaded
            return
        self.pair = now.loaded
        if self.state is not State.ANSWERING:
            self._enter(self._idle_state)
        if now.loaded is not None and now.by is not None:
            own = self.wanted
            wanted = structs.replace(now.by, id=own.id, smaller=own.smaller, asker=own.asker)
            self.wanted = self.loaded_last = wanted
            self.loaded.emit(now.loaded)

    def _note_tasks(self, tasks: list[messages.Task]) -> None:
        others = bool(tasks) and tasks[0].client != self._client
        before, self.busy_for = self.busy_for, tasks[0].asker if others else None
        if before != self.busy_for:
            self.busy_for_changed.emit()

    def _show_loaded(self, wanted: messages.Load, pair: messages.Loaded) -> None:
        self.wanted = self.loaded_last = wanted
        self.pair = pair
        self._enter(State.READY)
        self.loaded.emit(pair)

    def _enter(self, state: State) -> None:
        self.state = state
        self.state_changed.emit(state)
