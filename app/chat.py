"""The chat that is shown and the answer under way, between store and engine. Knows no widgets."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import structs
from PySide6.QtCore import QObject, Signal

from app.asking import Answering, Waiting, recorded, to_ask
from app.engine import WILL_ANSWER, Engine, State
from app.store import ChatSettings, Message, ModelPair, Store, StoreError, to_send
from app.store.tree import Shown, path_to
from engine.protocol import messages


class Chat(QObject):
    """Lives on the GUI thread. Nothing that was said is ever lost: editing and regenerating make versions.

    Attributes:
        id: of the chat that is shown; None: a new one, which is kept from its first question on.
        shown: its messages along the versions that are shown.
        settings: of the next answers in it.
        answering: the answer under way, perhaps in another chat; None where there is none.
        waiting: questions still to be asked, first come first served.
        watch: somebody looks at the trees of the next answers.

    Signals:
        opened: another chat is shown.
        path_changed: `shown` is another one, of the same chat.
        listed: the list of chats has changed, or a title in it.
        settings_changed: `settings` are others.
        waiting_changed: `waiting` is another one.
        text_added: str, the next piece of the answer under way, where it is shown
        reported: an event of it: PrefillProgress, TreeGrown, IterationDone, Answer; where it is shown
        answered: Answer, wherever it is
        failed: (SpecExecError's fields as Failed) of an answer, wherever it is
        trouble: StoreError: something could not be kept
    """

    opened = Signal()
    path_changed = Signal()
    listed = Signal()
    settings_changed = Signal()
    waiting_changed = Signal()
    text_added = Signal(str)
    reported = Signal(object)
    answered = Signal(object)
    failed = Signal(object)
    trouble = Signal(object)

    def __init__(
        self, store: Store, engine: Engine, settings: ChatSettings, parent: QObject | None = None
    ) -> None:
        """settings: of new chats."""
        super().__init__(parent)
        self.id: int | None = None
        self.shown: list[Shown] = []
        self.new_settings = self.settings = settings
        self.answering: Answering | None = None
        self.waiting: deque[Waiting] = deque()
        self.watch = True
        self._store = store
        self._engine = engine
        engine.answering.connect(self._receive)
        engine.lost.connect(self._interrupt)
        engine.ended.connect(self._interrupt)
        engine.state_changed.connect(self._go_on)

    @property
    def is_answering_here(self) -> bool:
        """The answer under way is among the messages shown."""
        return self.answering is not None and any(
            each.message.id == self.answering.message for each in self.shown
        )

    # -- which chat ------------------------------------------------------------------------------------------

    def open(self, chat: int | None, message: int | None = None) -> None:
        """Show a chat, or a new one; message: make the versions lead through it. An answer under way goes on
        where it is."""
        try:
            if message is not None:
                self._store.messages.show(message)
            settings = self.new_settings if chat is None else self._store.chats.settings(chat)
            shown = [] if chat is None else self._store.messages.shown(chat)
        except StoreError as error:
            self.trouble.emit(error)
            return
        self.id, self.shown = chat, self._with_text(shown)
        self.opened.emit()
        self._set(settings)

    def set_settings(self, settings: ChatSettings) -> None:
        """Of the next answers in this chat."""
        with self._telling():
            if self.id is not None:
                self._store.chats.set_settings(self.id, settings)
            self._set(settings)

    def branch(self, message: int) -> None:
        """Go on from this message in a chat of its own."""
        with self._telling():
            self.open(self._store.chats.branch(message))
            self.listed.emit()

    # -- what is said ----------------------------------------------------------------------------------------

    def send(self, text: str) -> bool:
        """Ask, or put it behind what is under way; False where there is nothing to ask or nobody will
        answer."""
        if not text.strip() or self._engine.state not in WILL_ANSWER:
            return False
        with self._telling():
            if self.id is None:
                self.id = self._store.chats.create(self.settings)
                self.listed.emit()
            if self._engine.state is not State.READY or self.waiting:
                self.waiting.append(Waiting(self.id, text))
                self.waiting_changed.emit()
            else:
                self._ask(self.id, text)
            return True
        return False

    def forget_waiting(self, place: int) -> None:
        """Do not ask it after all."""
        del self.waiting[place]
        self.waiting_changed.emit()

    def edit(self, message: int, text: str) -> None:
        """Another version of a message; where it is a question, it is answered."""
        with self._telling():
            edited = self._store.messages.edit(message, text)
            self._refresh()
            if self._message(edited).role == "user":
                self._answer(edited)

    def regenerate(self, answer: int, *, same_seed: bool = False) -> None:
        """Another version of an answer, with another seed; or with the seed, the settings and the budgets
        that were recorded: the same answer."""
        with self._telling():
            before = self._message(answer)
            assert before.parent is not None
            self._answer(before.parent, recorded(before.reports[0]) if same_seed else None)

    def go_on(self, answer: int) -> None:
        """Continue an answer that was stopped or cut off."""
        with self._telling():
            self._answer(answer)

    def show_version(self, message: int) -> None:
        with self._telling():
            self._store.messages.show(message)
            self._refresh()

    def try_again(self) -> None:
        """Answer the last question shown, once more."""
        if self.shown and (last := self.shown[-1].message).role == "assistant":
            self.regenerate(last.id)
        elif self.shown:
            with self._telling():
                self._answer(last.id)

    def stop(self) -> None:
        """End the answer under way; the text so far is kept. What waits does not wait any more."""
        self.waiting.clear()
        self.waiting_changed.emit()
        self._engine.stop()

    # -- the answer under way --------------------------------------------------------------------------------

    def _ask(self, chat: int, text: str) -> None:
        path = self._store.messages.shown(chat)
        question = self._store.messages.ask(chat, text, path[-1].message.id if path else None)
        self._answer(question, chat=chat)

    def _answer(self, message: int, settings: ChatSettings | None = None, chat: int | None = None) -> None:
        """Answer a question, or go on with an answer."""
        chat = self.id if chat is None else chat
        assert chat is not None
        settings = settings or self._store.chats.settings(chat)
        path = path_to(self._store.messages.all(chat), message)
        pair = self._engine.pair
        said = to_send(path, settings.system)
        if pair is None or not self._engine.ask(said, to_ask(settings, self.watch)):
            return
        goes_on = path[-1].role == "assistant" and path[-1].text
        write = self._store.messages.resume if goes_on else self._store.messages.answer
        self.answering = Answering(chat, write(message, settings, ModelPair.of(pair)))
        self._refresh()
        self.listed.emit()

    def _receive(self, event: messages.Event) -> None:
        if self.answering is None:
            return
        under_way, here = self.answering.under_way, self.is_answering_here
        match event:
            case messages.TextDelta():
                under_way.add(event.text)
                if here:
                    self.text_added.emit(event.text)
            case messages.Answer():
                self.answering = None
                with self._telling():
                    under_way.finish(event)
                self._refresh()
                if here:
                    self.reported.emit(event)
                self.listed.emit()
                self.answered.emit(event)
                self._go_on()
            case messages.Failed():
                self._interrupt()
                self.failed.emit(event)
            case _ if here:
                self.reported.emit(event)

    def _interrupt(self) -> None:
        if self.answering is not None:
            under_way, self.answering = self.answering.under_way, None
            with self._telling():
                under_way.interrupt()
            self._refresh()
            self.listed.emit()

    def _go_on(self) -> None:
        """Ask what waits."""
        if self.waiting and self.answering is None and self._engine.state is State.READY:
            waiting = self.waiting.popleft()
            self.waiting_changed.emit()
            with self._telling():
                self._ask(waiting.chat, waiting.text)

    # -- within ----------------------------------------------------------------------------------------------

    def _refresh(self) -> None:
        if self.id is not None:
            with self._telling():
                self.shown = self._with_text(self._store.messages.shown(self.id))
                self.path_changed.emit()

    def _with_text(self, shown: list[Shown]) -> list[Shown]:
        """The store has the text of the answer under way as it was a moment ago."""
        if self.answering is None:
            return shown
        id, text = self.answering.message, self.answering.under_way.text
        return [
            structs.replace(each, message=structs.replace(each.message, text=text))
            if each.message.id == id
            else each
            for each in shown
        ]

    def _set(self, settings: ChatSettings) -> None:
        self.settings = settings
        self.settings_changed.emit()

    def _message(self, id: int) -> Message:
        assert self.id is not None
        return next(each for each in self._store.messages.all(self.id) if each.id == id)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """What cannot be kept is told, and the window goes on."""
        try:
            yield
        except StoreError as error:
            self.trouble.emit(error)
