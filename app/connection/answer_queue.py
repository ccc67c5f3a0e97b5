"""The questions of all chats, which the engine answers one at a time. Imports no widgets.

Everything here runs on the GUI thread. Other threads save the answer in progress (`app.store.under_way`) and
read the engine's events (`engine_link`).
"""

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from operator import is_
from typing import Protocol

from msgspec import structs
from PySide6.QtCore import QObject, QTimer, Signal, SignalInstance

from app.connection.engine import Engine, State
from app.connection.file_choice import choose
from app.connection.memory import fitting, without_oldest
from app.connection.pending_answer import (
    Answering,
    UnsavedAnswer,
    Waiting,
    request_options,
    template_input,
)
from app.connection.store_errors import reporting
from app.connection.tool_use import stored_calls, with_tools
from app.store import (
    AttachedFile,
    ChatSettings,
    ModelPair,
    NotInStore,
    Store,
    StoredCall,
    StoreError,
    to_send,
)
from app.store.quoted import whole_files
from app.store.tree import path_to
from app.store.under_way import SAVE_EVERY_S, AnswerUnderWay
from app.tools.toolbox import Toolbox
from engine.protocol import messages
from engine.protocol.thoughts import closing_of


class Viewer(Protocol):
    """A window's view of the chats. id: the chat shown; telemetry: whether it shows how an answer is made."""

    id: int | None
    telemetry: bool
    returned: SignalInstance
    failed: SignalInstance


class AnswerQueue(QObject):
    """Asks the engine the questions of all windows, and stores the answers.

    Attributes:
        answering: the answer in progress, or None.
        waiting: queued questions, oldest first.
        viewers: those that show chats; one of them is told what concerns one chat.

    Signals:
        began: int, list of StoredMessage: the chat in which an answer begins, and all its messages
        changed: int; the messages of this chat have changed
        settings_changed: int, ChatSettings: a chat and its settings
        listed: the list of chats or a title in it changed
        waiting_changed: `waiting` changed
        text_added: str, the next piece of the answer in progress
        reported: AnswerBegun, PrefillProgress, TextDelta, TreeGrown, IterationDone, PassProgress or
            DiskSilence of the answer in progress
        finished: Answering, Answer: an answer is complete
        called: int, int: a chat and an answer in it that is complete and calls tools
        passed_over: int, int: a chat and an answer in it whose open calls the user does not wait for
        store_failed: StoreError; the store cannot be read or written
    """

    began = Signal(int, list)
    changed = Signal(int)
    settings_changed = Signal(int, object)
    listed = Signal()
    waiting_changed = Signal()
    text_added = Signal(str)
    reported = Signal(object)
    finished = Signal(object, object)
    called = Signal(int, int)
    passed_over = Signal(int, int)
    store_failed = Signal(object)

    def __init__(self, store: Store, engine: Engine, toolbox: Toolbox, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.answering: Answering | None = None
        self.waiting: deque[Waiting] = deque()
        self.viewers: list[Viewer] = []
        self._store, self._engine, self._toolbox = store, engine, toolbox
        self._due: deque[tuple[int, int]] = deque()  # chats, and messages in them that are to be answered
        self._unsaved: list[UnsavedAnswer] = []
        self._next_try = QTimer(self, interval=round(1000 * SAVE_EVERY_S), singleShot=True)
        self._next_try.timeout.connect(self._try_again)
        self._ends_thought = False  # whether the answer in progress was stopped to end its thought
        # an answer that waits for idle models to be loaded, and its chat
        self._postponed: tuple[int, Callable[[], None]] | None = None
        engine.answer_event.connect(self._receive)
        engine.lost.connect(self._interrupt)
        engine.ended.connect(self._interrupt)
        engine.state_changed.connect(self._ask_next)

    def ask(self, chat: int, text: str, after: int | None, files: Sequence[AttachedFile] = ()) -> None:
        """Ask a question after a message of the chat. Behind an answer in progress it is queued, and comes at
        the end of the chat. Open calls of the message before it are passed over. May raise a StoreError."""
        self._store.messages.save_ends()
        self._look_at_unsaved()  # an answer saved just now may have open calls
        if after is not None and self._has_open_calls(after):
            self.passed_over.emit(chat, after)
        if self._engine.state is not State.READY or self.waiting or self._due:
            self.waiting.append(Waiting(chat, text, tuple(files)))
            self.waiting_changed.emit()
            if self._engine.state is State.IDLE:
                self._engine.load()
            self._ask_next()
            return
        self.answer(chat, self._store.messages.ask(chat, text, after, files))

    def answer(
        self,
        chat: int,
        message: int,
        settings: ChatSettings | None = None,
        *,
        loops: bool = False,
        added: str = "",
    ) -> None:
        """Answer a question, or continue an answer that has text. loops: whether it may repeat itself. added:
        text that is added to a continued answer first. May raise a StoreError."""
        if self._engine.state is State.IDLE:
            later = partial(self.answer, chat, message, settings, loops=loops, added=added)
            self._postponed = chat, later
            self._engine.load()
        if self._engine.pair is not None and self._engine.state is State.READY:
            self._send(chat, message, *self._begin(chat, message, settings, loops, added))

    def stop(self) -> None:
        """Stop the answer in progress, keep its text so far, and return the queued questions."""
        self.give_back_all()
        self._engine.stop()

    def give_back_all(self) -> None:
        """Give all queued questions back to their chats."""
        self._give_back(lambda _: True)

    def go_on(self, chat: int, message: int) -> None:
        """Ask for the answer that follows from the results of an answer's calls, once the engine is ready;
        not in a chat that was deleted. May raise a StoreError."""
        if self._store.chats.is_deleted(chat):
            return
        self._due.append((chat, message))
        if self._engine.state is State.IDLE:
            self._engine.load()
        self._ask_next()

    def end_thought(self) -> None:
        """Let the answer in progress end its thought and answer now: it is stopped, and continued behind the
        closing mark."""
        if self.answering is not None and self._engine.state is State.ANSWERING:
            self._ends_thought = True
            self._engine.stop()

    def remove_waiting(self, place: int) -> None:
        """Remove a question from the queue. place: its index in `waiting`."""
        del self.waiting[place]
        self.waiting_changed.emit()

    def take_back(self, place: int, viewer: Viewer) -> None:
        """Take a question out of the queue, and give it back to a viewer. place: its index in `waiting`."""
        chosen = self.waiting[place]
        self.remove_waiting(place)
        viewer.returned.emit([chosen])

    def drop(self, chat: int) -> None:
        """Ask for no further answer in a chat that was deleted, stop the one in progress, and forget it. Its
        queued questions are given back: they are unsent when the deletion is undone."""
        if self.answering is not None and self.answering.chat == chat:
            self._ends_thought = False  # it does not go on behind its thought
            self._engine.stop()
        self._due = deque(due for due in self._due if due[0] != chat)
        if self._postponed is not None and self._postponed[0] == chat:
            self._postponed = None
        if any(waiting.chat == chat for waiting in self.waiting):
            self._give_back(lambda waiting: waiting.chat == chat)
        self.forget(chat)

    def forget(self, chat: int) -> None:
        """Let the engine delete what it has kept of a chat, because texts of it were deleted."""
        self._engine.forget(conversation_name(chat))

    # -- the answer in progress ------------------------------------------------------------------------------

    def _begin(
        self,
        chat: int,
        message: int,
        settings: ChatSettings | None = None,
        loops: bool = False,
        added: str = "",
    ) -> tuple[AnswerUnderWay, ChatSettings]:
        """Store an answer that begins, or goes on; return it with its settings. Arguments: as of `answer`.
        May raise a StoreError; nothing has begun then.

        It is written to the store first, so that the messages are read only once, for both the request and
        those who show them.
        """
        pair = self._pair
        self._store.messages.save_ends()
        goes_on = self._store.messages.can_go_on(message)
        if not goes_on and self._store.files.has_any(chat):
            self._choose_reading(chat, message, pair.context)
        settings = settings or self._with_left_out(chat, message, pair.context)
        if loops:
            settings = structs.replace(settings, options=structs.replace(settings.options, stop_loops=False))
        if goes_on:
            return self._store.messages.resume(message, settings, ModelPair.of(pair), added), settings
        return self._store.messages.answer(message, settings, ModelPair.of(pair)), settings

    def _send(self, chat: int, message: int, under_way: AnswerUnderWay, settings: ChatSettings) -> None:
        """Ask the engine for an answer that has begun; interrupt it after an error. May raise a
        StoreError."""
        pair = self._pair
        try:
            stored = self._store.messages.all(chat)
            path = without_oldest(path_to(stored, message), settings.left_out)
            texts = self._store.files.texts(whole_files(path))
            telemetry = any(viewer.telemetry for viewer in self.viewers)
            request = with_tools(
                self._toolbox,
                settings,
                pair,
                path,
                to_send(path, settings.system, texts),
                request_options(settings, telemetry),
                template_input(settings, pair),
            )
            self._engine.ask(
                request.conversation,
                request.options,
                chat=conversation_name(chat),
                template=request.template,
            )
        except BaseException:
            self._saves(UnsavedAnswer(chat, under_way), under_way.interrupt)
            raise
        self.answering = Answering(chat, under_way, request)
        self.began.emit(chat, stored)
        self.listed.emit()

    @property
    def _pair(self) -> messages.Loaded:
        """The models, which are ready."""
        assert self._engine.pair is not None
        return self._engine.pair

    def _with_loaded_models(self, chat: int) -> ChatSettings:
        """Return a chat's settings, after storing there which models answer now."""
        before, loaded = self._store.chats.settings(chat), self._engine.wanted
        settings = structs.replace(before, target=loaded.target, draft=loaded.draft, engine=loaded.engine)
        if settings != before:
            self._keep_settings(chat, settings)
        return settings

    def _with_left_out(self, chat: int, message: int, context: int) -> ChatSettings:
        """Return the settings for the next answer in a chat. If oldest turns are left out of it, more of them
        are where the messages up to this one would not fit the context. context: 0: not known."""
        settings = self._with_loaded_models(chat)
        if not settings.left_out or not context:
            return settings
        path = path_to(self._store.messages.all(chat), message)
        now = structs.replace(settings, left_out=fitting(path, settings.left_out, context))
        # A path that branches off in the part left out says nothing about the chat's other answers.
        if now.left_out > settings.left_out:
            self._keep_settings(chat, now)
        return now

    def _choose_reading(self, chat: int, question: int, context: int) -> None:
        """Store how the model reads the files that a question may be about, when it is first answered: other
        answers to it, and those to later questions, read the same. Does nothing if the message is none."""
        stored = self._store.messages.all(chat)
        path = path_to(stored, question)
        if path[-1].role != "user" or any(each.parent == question and each.text for each in stored):
            return
        chosen = choose(self._store, path, self._store.chats.settings(chat).left_out, context)
        self._store.messages.set_reading(question, chosen.files, chosen.passages)

    def _keep_settings(self, chat: int, settings: ChatSettings) -> None:
        self._store.chats.set_settings(chat, settings)
        self.settings_changed.emit(chat, settings)

    def _receive(self, event: messages.Event) -> None:
        if self.answering is None:
            return
        match event:
            case messages.AnswerBegun():
                self.answering.under_way.opened = event.thought
                if self.answering.request.sieve is not None:
                    self.answering.request.sieve.open_thought(event.thought)
                self.reported.emit(event)
            case messages.TextDelta():
                sieve = self.answering.request.sieve
                text = event.text if sieve is None else sieve.add(event.text)
                self.answering.under_way.add(text)
                self.text_added.emit(text)
                self.reported.emit(event)
            case messages.Answer():
                done, self.answering = self.answering, None
                calls = self._calls_of(done, event)
                sieve = done.request.sieve
                spoken = sieve.text.rstrip() if sieve and calls else None
                end = partial(done.under_way.finish, event, spoken, calls)
                is_saved = self._saves(UnsavedAnswer(done.chat, done.under_way, bool(calls)), end)
                self.changed.emit(done.chat)
                if not self._has_ended_thought(done, event):
                    self.finished.emit(done, event)
                    if calls and is_saved:
                        self._tell_calls(done.chat, done.message)
                    self.listed.emit()
                    self._ask_next()
            case messages.Failed():
                chat = self.answering.chat
                self._interrupt()
                self._give_back(lambda waiting: waiting.chat == chat)
                self._viewer_of(chat).failed.emit(chat, event)
                self._ask_next()
            case _:
                self.reported.emit(event)

    def _calls_of(self, done: Answering, event: messages.Answer) -> list[StoredCall]:
        """Return the calls of an answer; none if it was cut off."""
        if done.request.sieve is None or event.stop_reason not in ("end_of_sequence", "stop_string"):
            return []
        done.request.sieve.finish()
        return stored_calls(done.request, self._toolbox)

    def _tell_calls(self, chat: int, message: int) -> None:
        """Tell that an answer calls tools, unless its chat was deleted: nobody is there to allow them."""
        with reporting(self.store_failed):
            if not self._store.chats.is_deleted(chat):
                self.called.emit(chat, message)

    def _has_open_calls(self, message: int) -> bool:
        return any(call.state == "open" for call in self._store.messages.calls(message))

    def _has_ended_thought(self, done: Answering, event: messages.Answer) -> bool:
        """Continue an answer behind the thought that was to end; return whether it goes on."""
        asked, self._ends_thought = self._ends_thought, False
        if not asked or event.stop_reason != "cancelled":
            return False
        closing = closing_of(done.under_way.text, done.under_way.opened)
        with reporting(self.store_failed):
            self.answer(done.chat, done.message, added=f"\n{closing}" if closing else "")
        return self.answering is not None

    def _interrupt(self) -> None:
        self._ends_thought = False
        if self.answering is not None:
            ended, self.answering = self.answering, None
            self._saves(UnsavedAnswer(ended.chat, ended.under_way), ended.under_way.interrupt)
            self.changed.emit(ended.chat)
            self.listed.emit()

    def _saves(self, ended: UnsavedAnswer, end: Callable[[], None]) -> bool:
        """Save an answer with its end; return False if that fails. `_look_at_unsaved` then waits until the
        answer's own thread has saved it, unless its chat was deleted."""
        try:
            end()
        except StoreError as error:
            self.store_failed.emit(error)
            if not isinstance(error, NotInStore):
                self._unsaved.append(ended)
                self._next_try.start()
            return False
        return True

    def _try_again(self) -> None:
        """Go on with what could not be stored, of which the user has been told. Does not wait for another
        program that writes."""
        self._look_at_unsaved()
        if self._is_free and (self._due or self.waiting):
            if self._store.can_write():
                with suppress(StoreError):
                    self._ask_first()
            else:
                self._next_try.start()

    def _look_at_unsaved(self) -> None:
        """Continue behind the answers whose ends have been saved by now."""
        saved = [ended for ended in self._unsaved if ended.under_way.is_over]
        for ended in saved:
            self._unsaved.remove(ended)
            self.changed.emit(ended.chat)
            if ended.calls:
                self._tell_calls(ended.chat, ended.under_way.id)
        if self._unsaved:
            self._next_try.start()
        if saved:
            self.listed.emit()
            self._ask_next()

    def _ask_next(self) -> None:
        """Ask for the next answer if the engine is ready: for one that waits for the models, or for that to
        the next queued question."""
        postponed, state = self._postponed, self._engine.state
        if postponed is not None and state is not State.LOADING:
            self._postponed = None
            if state is State.READY:
                with reporting(self.store_failed):
                    postponed[1]()
        with reporting(self.store_failed):
            self._ask_first()

    @property
    def _is_free(self) -> bool:
        """Whether the next answer can begin."""
        return self.answering is None and not self._unsaved and self._engine.state is State.READY

    def _ask_first(self) -> None:
        """Ask for the first answer that is due, or for that to the first queued question, if the engine is
        ready. May raise a StoreError; it is then tried again soon."""
        try:
            while self._is_free and (self._due or self._stores_waiting()):
                self._answer_due()
        except StoreError:
            self._next_try.start()
            raise
        if not self._unsaved:
            self._next_try.stop()

    def _answer_due(self) -> None:
        """Ask for the first answer that is due. May raise a StoreError; it then stays due, unless its chat
        was deleted. One that had begun is interrupted, and is not asked for again."""
        chat, message = self._due[0]
        try:
            begun = self._begin(chat, message)
        except NotInStore as error:
            self._due.popleft()
            self.store_failed.emit(error)
            return
        self._due.popleft()
        with reporting(self.store_failed):
            self._send(chat, message, *begun)
            return
        self.changed.emit(chat)

    def _stores_waiting(self) -> bool:
        """Store the first queued question that follows no open calls, whose answer is then due; return
        whether there is one. A question whose chat was deleted is given back. May raise a StoreError; a
        question that could not be stored stays in the queue."""
        for waiting in list(self.waiting):
            try:
                path = self._store.messages.shown(waiting.chat)
                after = path[-1].message.id if path else None
                if after is not None and self._has_open_calls(after):
                    continue
                question = self._store.messages.ask(waiting.chat, waiting.text, after, waiting.files)
            except NotInStore as error:
                self._give_back(partial(is_, waiting))
                self.store_failed.emit(error)
                continue
            self.remove_waiting(self.waiting.index(waiting))
            self._due.append((waiting.chat, question))
            self.changed.emit(waiting.chat)
            return True
        return False

    def _give_back(self, is_meant: Callable[[Waiting], bool]) -> None:
        """Take questions out of the queue, and give them back where their chats are shown."""
        returned = [waiting for waiting in self.waiting if is_meant(waiting)]
        self.waiting = deque(waiting for waiting in self.waiting if not is_meant(waiting))
        self.waiting_changed.emit()
        for chat in dict.fromkeys(waiting.chat for waiting in returned):
            self._viewer_of(chat).returned.emit([waiting for waiting in returned if waiting.chat == chat])

    def _viewer_of(self, chat: int) -> Viewer:
        """Return the viewer that shows a chat; the first one if none does."""
        return next((viewer for viewer in self.viewers if viewer.id == chat), self.viewers[0])


def conversation_name(chat: int) -> str:
    """Return the name under which the engine knows a chat."""
    return f"chat {chat}"
