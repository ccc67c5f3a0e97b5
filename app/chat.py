"""One conversation held with one engine: its state, what may be asked, what comes back. Knows no widgets."""

import itertools
from enum import Enum, auto

from PySide6.QtCore import QObject, Signal

from app.arguments import Arguments
from app.conversation import Conversation, Turn
from app.engine_link import EngineLink
from engine.protocol import messages
from engine.protocol.messages import Event

# The setting SpecExec was published with. The likeliest token, always, makes small models repeat themselves.
TEMPERATURE, TOP_P = 0.6, 0.9


class State(Enum):
    STARTING = auto()
    LOADING = auto()
    READY = auto()
    ANSWERING = auto()
    STOPPING = auto()  # asked to stop; the engine has not said so yet
    LOAD_FAILED = auto()
    LOST = auto()


BUSY = frozenset({State.LOADING, State.ANSWERING})


class Chat(QObject):
    """Turns what a person does into requests, and events into what a window shows. Lives on the GUI thread.

    Attributes:
        conversation: what was said so far.
        state: see `State`.

    Signals:
        state_changed: State
        load_progressed: LoadProgress
        loaded: Loaded
        turn_started: Turn, its answer still empty
        prefill_progressed: PrefillProgress
        text_added: str, the next piece of the answer
        tree_changed: TreeGrown or IterationDone
        answered: Answer
        failed: Failed, of the answer under way
        load_failed: Failed
        lost: EngineLost
        cleared: a new conversation has begun
        ended: the engine has ended, as asked
    """

    state_changed = Signal(State)
    load_progressed = Signal(object)
    loaded = Signal(object)
    turn_started = Signal(object)
    prefill_progressed = Signal(object)
    text_added = Signal(str)
    tree_changed = Signal(object)
    answered = Signal(object)
    failed = Signal(object)
    load_failed = Signal(object)
    lost = Signal(object)
    cleared = Signal()
    ended = Signal()

    def __init__(self, link: EngineLink, arguments: Arguments, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.conversation = Conversation()
        self.state = State.STARTING
        self._arguments = arguments
        self._ids = itertools.count(1)
        self._request = 0  # the load or the answer under way
        self._is_loading = True  # it is a load
        self._turn: Turn | None = None  # the one being answered; None where its conversation was left
        self._link = link
        link.received.connect(self._receive)
        link.ended.connect(self.ended)

    @property
    def is_running(self) -> bool:
        return self._link.is_running

    def start(self) -> None:
        """Start (or after a loss, restart) the engine and load the model."""
        self._enter(State.STARTING)
        self._link.start()

    def load(self) -> None:
        """Load the model again, after it failed."""
        self._request = next(self._ids)
        self._link.post(
            messages.Load(
                id=self._request,
                target=self._arguments.target,
                draft=self._arguments.draft,
                drafter=self._arguments.drafter,
            )
        )
        self._enter(State.LOADING)

    def send(self, text: str) -> bool:
        """Ask; False where there is nothing to ask or nobody to answer."""
        if self.state is not State.READY or not text.strip():
            return False
        self._answer(self.conversation.ask(text))
        return True

    def try_again(self) -> None:
        """Ask the last question once more."""
        if self.state is State.READY and self.conversation.turns:
            question = self.conversation.turns.pop().question
            self._answer(self.conversation.ask(question))

    def stop(self) -> None:
        """End the answer or the loading under way; the text so far is kept."""
        if self.state in BUSY:
            self._link.post(messages.Cancel(id=next(self._ids)))
            self._enter(State.STOPPING)

    def clear(self) -> None:
        """Begin a new conversation; an answer under way is stopped."""
        if self.state is State.ANSWERING:
            self.stop()
        self._turn = None
        self.conversation = Conversation()
        self.cleared.emit()

    def close(self) -> None:
        """End the engine; `ended` follows."""
        self._turn = None
        self._link.close()

    def _answer(self, turn: Turn) -> None:
        self._turn = turn
        self._request = next(self._ids)
        options = messages.Options(
            temperature=TEMPERATURE,
            top_p=TOP_P,
            drafter=self._arguments.drafter,
            budget=self._arguments.budget,
        )
        self._link.post(
            messages.Chat(id=self._request, messages=self.conversation.messages(), options=options)
        )
        self._enter(State.ANSWERING)
        self.turn_started.emit(turn)

    def _receive(self, event: Event) -> None:
        match event:
            case messages.Ready():
                self.load()
            case messages.EngineLost():
                self._lose(event)
            case messages.Unloaded():
                pass
            case _ if event.request != self._request:
                pass  # of a request that is over
            case messages.LoadProgress():
                self.load_progressed.emit(event)
            case messages.Loaded():
                self.loaded.emit(event)
                self._enter(State.READY)
            case messages.Failed():
                self._fail(event)
            case _:
                self._receive_answering(event)

    def _receive_answering(self, event: Event) -> None:
        if isinstance(event, messages.Answer):
            self._enter(State.READY)
        turn = self._turn
        if turn is None:
            return
        match event:
            case messages.PrefillProgress():
                self.prefill_progressed.emit(event)
            case messages.TextDelta():
                turn.answer += event.text
                self.text_added.emit(event.text)
            case messages.TreeGrown() | messages.IterationDone():
                self.tree_changed.emit(event)
            case messages.Answer():
                turn.answer, turn.outcome, self._turn = event.text, event, None
                self.answered.emit(event)

    def _fail(self, event: messages.Failed) -> None:
        if self._is_loading:
            self._enter(State.LOAD_FAILED)
            self.load_failed.emit(event)
            return
        self._enter(State.READY)
        if self._turn is not None:
            self._turn = None
            self.failed.emit(event)

    def _lose(self, event: messages.EngineLost) -> None:
        self._turn = None
        self._enter(State.LOST)
        self.lost.emit(event)

    def _enter(self, state: State) -> None:
        if state is State.LOADING:
            self._is_loading = True
        elif state is State.ANSWERING:
            self._is_loading = False
        self.state = state
        self.state_changed.emit(state)
