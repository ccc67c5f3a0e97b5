"""The shown chat and the answer in progress; links the store with the engine. Imports no widgets.

Everything here runs on the GUI thread. Other threads save the answer in progress (`app.store.under_way`) and
read the engine's events (`engine_link`).
"""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import structs
from PySide6.QtCore import QObject, Signal

from app.connection.engine import WILL_ANSWER, Engine, State
from app.connection.pending_answer import Answering, Waiting, request_options, settings_to_repeat
from app.store import ChatSettings, ModelPair, Store, StoredMessage, StoreError, to_send
from app.store.tree import ShownMessage, path_to, shown_path
from engine.protocol import messages


class Conversation(QObject):
    """The chat shown and the answer in progress. No message is lost: editing and regenerating add versions.

    Attributes:
        id: id of the shown chat; None for a new chat, which is stored when its first question is sent.
        shown: the messages shown, one version of each, in order.
        settings: settings for the chat's next answers.
        new_settings: settings for new chats.
        answering: the answer in progress, possibly in another chat, or None.
        waiting: queued questions, oldest first.
        telemetry: whether the next answers are requested with telemetry for the panel.

    Signals:
        opened: another chat is now shown.
        path_changed: `shown` changed within the same chat.
        listed: the list of chats or a title in it changed.
        settings_changed: `settings` changed.
        waiting_changed: `waiting` changed.
        returned: list of Waiting; these queued questions will not be asked, because the user stopped.
        text_added: str, the next piece of the answer in progress; only if that answer is shown
        reported: PrefillProgress, TreeGrown, IterationDone, PassProgress or Answer; only if the answer
            that the event belongs to is shown
        answered: Answer; an answer is complete, whether it is shown or not
        failed: Failed; an answer failed, whether it is shown or not
        store_failed: StoreError; the store cannot be read or written
    """

    opened = Signal()
    path_changed = Signal()
    listed = Signal()
    settings_changed = Signal()
    waiting_changed = Signal()
    returned = Signal(list)
    text_added = Signal(str)
    reported = Signal(object)
    answered = Signal(object)
    failed = Signal(object)
    store_failed = Signal(object)

    def __init__(
        self, store: Store, engine: Engine, settings: ChatSettings, parent: QObject | None = None
    ) -> None:
        """settings: settings for new chats."""
        super().__init__(parent)
        self.id: int | None = None
        self.shown: list[ShownMessage] = []
        self.new_settings = self.settings = settings
        self.answering: Answering | None = None
        self.waiting: deque[Waiting] = deque()
        self.telemetry = True
        self._store = store
        self._engine = engine
        engine.answer_event.connect(self._receive)
        engine.lost.connect(self._interrupt)
        engine.ended.connect(self._interrupt)
        engine.state_changed.connect(self._ask_next)

    @property
    def is_answering_here(self) -> bool:
        """Whether the answer in progress is among the messages shown."""
        return self.answering is not None and any(
            shown.message.id == self.answering.message for shown in self.shown
        )

    @property
    def title(self) -> str:
        """The title of the chat shown; "" if it has none yet."""
        with self._reporting_store_errors():
            return "" if self.id is None else self._store.chats.line(self.id).title
        return ""

    # -- which chat ------------------------------------------------------------------------------------------

    def open(self, chat: int | None, message: int | None = None) -> None:
        """Show a chat; None shows a new one. An answer in progress continues in its own chat.

        message: show the versions that lead to this message.
        """
        try:
            if message is not None:
                self._store.messages.show(message)
            settings = self.new_settings if chat is None else self._store.chats.settings(chat)
            shown = [] if chat is None else self._store.messages.shown(chat)
        except StoreError as error:
            self.store_failed.emit(error)
            return
        self.id, self.shown = chat, self._with_text(shown)
        self.opened.emit()
        self._set(settings)

    def set_settings(self, settings: ChatSettings) -> None:
        """Set the settings of the next answers in this chat."""
        with self._reporting_store_errors():
            if self.id is not None:
                self._store.chats.set_settings(self.id, settings)
            self._set(settings)

    def branch(self, message: int) -> None:
        """Open a new chat that begins with a copy of the messages up to and including this one."""
        with self._reporting_store_errors():
            self.open(self._store.chats.branch(message))
            self.listed.emit()

    # -- questions and answers -------------------------------------------------------------------------------

    def send(self, text: str) -> bool:
        """Ask a question, or queue it behind the answer in progress.

        Return False if the text is blank or the engine cannot answer.
        """
        if not text.strip() or self._engine.state not in WILL_ANSWER:
            return False
        with self._reporting_store_errors():
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

    def remove_waiting(self, place: int) -> None:
        """Remove a question from the queue. place: its index in `waiting`."""
        del self.waiting[place]
        self.waiting_changed.emit()

    def titles_of_waiting(self) -> list[str]:
        """Return, for each queued question, the title of its chat; "" for the chat shown."""
        titles: list[str] = []
        with self._reporting_store_errors():
            for waiting in self.waiting:
                here = waiting.chat == self.id
                titles.append("" if here else self._store.chats.line(waiting.chat).title)
        return titles

    def edit(self, message: int, text: str) -> None:
        """Add a changed version of a message. If the message is a question, answer the new version."""
        with self._reporting_store_errors():
            is_question = self._shown_message(message).role == "user"
            edited = self._store.messages.edit(message, text)
            self._refresh()
            if is_question:
                self._answer(edited)

    def regenerate(self, answer: int, *, same_seed: bool = False) -> None:
        """Generate another version of an answer, with a new seed unless the settings contain one.

        same_seed: repeat the recorded seed, settings and budgets, which gives the same answer.
        """
        with self._reporting_store_errors():
            before = self._shown_message(answer)
            assert before.parent is not None
            self._answer(before.parent, settings_to_repeat(before.reports[0]) if same_seed else None)

    def continue_answer(self, answer: int) -> None:
        """Continue an answer that was stopped or cut off."""
        with self._reporting_store_errors():
            self._answer(answer)

    def show_version(self, message: int) -> None:
        """Show this version of a message."""
        with self._reporting_store_errors():
            self._store.messages.show(message)
            self._refresh()

    def try_again(self) -> None:
        """Regenerate the last message shown if it is an answer; if it is a question, answer it."""
        if self.shown and (last := self.shown[-1].message).role == "assistant":
            self.regenerate(last.id)
        elif self.shown:
            with self._reporting_store_errors():
                self._answer(last.id)

    def stop(self) -> None:
        """Stop the answer in progress, keep its text so far, and return the queued questions."""
        returned = list(self.waiting)
        self.waiting.clear()
        self.waiting_changed.emit()
        self.returned.emit(returned)
        self._engine.stop()

    # -- the answer in progress ------------------------------------------------------------------------------

    def _ask(self, chat: int, text: str) -> None:
        path = self.shown if chat == self.id else self._store.messages.shown(chat)
        question = self._store.messages.ask(chat, text, path[-1].message.id if path else None)
        self._answer(question, chat=chat)

    def _answer(self, message: int, settings: ChatSettings | None = None, chat: int | None = None) -> None:
        """Answer a question, or continue an answer that has text.

        The new answer is written to the store first, so that the messages are read only once, for both the
        request and the transcript.
        """
        chat = self.id if chat is None else chat
        pair = self._engine.pair
        if chat is None or pair is None or self._engine.state is not State.READY:
            return
        settings = settings or self._with_loaded_models(chat)
        write = self._store.messages.resume if self._has_answer_text(message) else self._store.messages.answer
        under_way = write(message, settings, ModelPair.of(pair))
        try:
            stored = self._store.messages.all(chat)
            conversation = to_send(path_to(stored, message), settings.system)
            self._engine.ask(conversation, request_options(settings, self.telemetry))
        except BaseException:
            under_way.interrupt()
            raise
        self.answering = Answering(chat, under_way)
        if chat == self.id:
            self._show(shown_path(stored))
        self.listed.emit()

    def _with_loaded_models(self, chat: int) -> ChatSettings:
        """Return a chat's settings, after storing there which models answer now."""
        before, loaded = self._store.chats.settings(chat), self._engine.wanted
        settings = structs.replace(before, target=loaded.target, draft=loaded.draft)
        if settings != before:
            self._store.chats.set_settings(chat, settings)
            if chat == self.id:
                self._set(settings)
        return settings

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
                with self._reporting_store_errors():
                    under_way.finish(event)
                self._refresh()
                if here:
                    self.reported.emit(event)
                self.listed.emit()
                self.answered.emit(event)
                self._ask_next()
            case messages.Failed():
                self._interrupt()
                self.failed.emit(event)
            case _ if here:
                self.reported.emit(event)

    def _interrupt(self) -> None:
        if self.answering is not None:
            under_way, self.answering = self.answering.under_way, None
            with self._reporting_store_errors():
                under_way.interrupt()
            self._refresh()
            self.listed.emit()

    def _ask_next(self) -> None:
        """Ask the next queued question if the engine is ready."""
        if self.waiting and self.answering is None and self._engine.state is State.READY:
            waiting = self.waiting.popleft()
            self.waiting_changed.emit()
            with self._reporting_store_errors():
                self._ask(waiting.chat, waiting.text)

    # -- helpers ---------------------------------------------------------------------------------------------

    def _refresh(self) -> None:
        """Read the shown chat's messages from the store again."""
        if self.id is not None:
            with self._reporting_store_errors():
                self._show(self._store.messages.shown(self.id))

    def _show(self, shown: list[ShownMessage]) -> None:
        self.shown = self._with_text(shown)
        self.path_changed.emit()

    def _with_text(self, shown: list[ShownMessage]) -> list[ShownMessage]:
        """Return `shown` with the current text of the answer in progress, which reaches the store up to half
        a second later."""
        if self.answering is None:
            return shown
        id, text = self.answering.message, self.answering.under_way.text
        return [
            structs.replace(one, message=structs.replace(one.message, text=text))
            if one.message.id == id
            else one
            for one in shown
        ]

    def _set(self, settings: ChatSettings) -> None:
        self.settings = settings
        self.settings_changed.emit()

    def _shown_message(self, id: int) -> StoredMessage:
        return next(shown.message for shown in self.shown if shown.message.id == id)

    def _has_answer_text(self, id: int) -> bool:
        """Return whether the message is an answer with text. A message not in `shown` is a new question."""
        message = next((shown.message for shown in self.shown if shown.message.id == id), None)
        return message is not None and message.role == "assistant" and bool(message.text)

    @contextmanager
    def _reporting_store_errors(self) -> Iterator[None]:
        """Emit a StoreError as `store_failed` instead of raising it."""
        try:
            yield
        except StoreError as error:
            self.store_failed.emit(error)
