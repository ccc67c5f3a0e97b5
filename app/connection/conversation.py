"""The chat that a window shows; links it with the store and the queue of questions. Imports no widgets."""

from collections.abc import Sequence

from msgspec import structs
from PySide6.QtCore import QObject, Signal

from app.connection.answer_queue import AnswerQueue
from app.connection.engine import WILL_ANSWER, Engine
from app.connection.memory import KEPT, fewer, turn_tokens, without_oldest
from app.connection.pending_answer import Answering, Waiting, settings_to_repeat
from app.connection.store_errors import reporting
from app.store import AttachedFile, ChatSettings, DeletedMessages, Store, StoredMessage, StoreError, to_send
from app.store.quoted import whole_files
from app.store.tree import ShownMessage, shown_path
from engine.protocol import messages


class Conversation(QObject):
    """The chat shown. No message is lost: editing and regenerating add versions.

    Attributes:
        id: id of the shown chat; None for a new chat, which is stored when its first question is sent.
        shown: the messages shown, one version of each, in order.
        settings: settings for the chat's next answers.
        new_settings: settings for new chats.
        telemetry: whether the next answers are to be requested with telemetry for the panel.

    Signals:
        opened: another chat is now shown.
        path_changed: `shown` changed within the same chat.
        listed: the list of chats or a title in it changed.
        settings_changed: `settings` changed.
        waiting_changed: `waiting` changed.
        returned: list of Waiting; these queued questions will not be asked, because the user stopped, or
            because the answer before them in their chat failed.
        text_added: str, the next piece of the answer in progress; only if that answer is shown
        reported: AnswerBegun, PrefillProgress, TextDelta, TreeGrown, IterationDone, PassProgress,
            DiskSilence or Answer; only if the answer that the event belongs to is shown
        answered: Answer; an answer is complete, whether it is shown or not
        failed: int, Failed; an answer in the chat with this id failed, and no other window shows that chat
        deleted: DeletedMessages; the user deleted messages of the chat shown, which `restore` brings back
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
    failed = Signal(int, object)
    deleted = Signal(object)
    store_failed = Signal(object)

    def __init__(
        self,
        store: Store,
        engine: Engine,
        queue: AnswerQueue,
        settings: ChatSettings,
        parent: QObject | None = None,
    ) -> None:
        """settings: settings for new chats."""
        super().__init__(parent)
        self.id: int | None = None
        self.shown: list[ShownMessage] = []
        self.new_settings = self.settings = settings
        self.telemetry = True
        self._store, self._engine, self._queue = store, engine, queue
        self.enter()
        queue.began.connect(self._begin)
        queue.changed.connect(self._refresh)
        queue.settings_changed.connect(self._take_settings)
        queue.listed.connect(self.listed)
        queue.waiting_changed.connect(self.waiting_changed)
        queue.text_added.connect(self._add_text)
        queue.reported.connect(self._report)
        queue.finished.connect(self._finish)
        queue.store_failed.connect(self.store_failed)

    def enter(self) -> None:
        """Be told what concerns one chat only, such as its failures."""
        if self not in self._queue.viewers:
            self._queue.viewers.append(self)

    def leave(self) -> None:
        """The window is closed, so that others are told."""
        if self in self._queue.viewers:
            self._queue.viewers.remove(self)

    @property
    def answering(self) -> Answering | None:
        """The answer in progress, possibly in another chat."""
        return self._queue.answering

    @property
    def waiting(self) -> Sequence[Waiting]:
        """The queued questions of all chats, oldest first."""
        return self._queue.waiting

    @property
    def is_answering_here(self) -> bool:
        """Whether the answer in progress is among the messages shown."""
        return self.answering is not None and any(
            shown.message.id == self.answering.message for shown in self.shown
        )

    @property
    def title(self) -> str:
        """The title of the chat shown; "" if it has none yet."""
        return "" if self.id is None else self.title_of(self.id)

    def title_of(self, chat: int) -> str:
        """Return the title of a chat; "" if it has none."""
        with reporting(self.store_failed):
            return self._store.chats.line(chat).title
        return ""

    # -- which chat ------------------------------------------------------------------------------------------

    def open(self, chat: int | None, message: int | None = None) -> None:
        """Show a chat; None shows a new one. A deleted chat, or one that cannot be read, is not shown:
        `store_failed` follows. An answer in progress continues in its own chat.

        message: show the versions that lead to this message.
        """
        try:
            if message is not None:
                self._store.messages.show(message)
            if chat is not None:
                self._store.chats.line(chat)  # a deleted chat has none
            settings = self.new_settings if chat is None else self._store.chats.settings(chat)
            shown = [] if chat is None else self._store.messages.shown(chat)
        except StoreError as error:
            self.store_failed.emit(error)
            return
        self.id, self.shown = chat, shown
        self.opened.emit()
        self._set(settings)

    def set_settings(self, settings: ChatSettings) -> None:
        """Set the settings of the next answers in this chat."""
        with reporting(self.store_failed):
            if self.id is not None:
                self._store.chats.set_settings(self.id, settings)
                self._queue.settings_changed.emit(self.id, settings)
            else:
                self._set(settings)

    def leave_out_oldest(self, adds: int | None = None) -> None:
        """Leave out the oldest turns from now on: at least one, and as many as make room for half a context.

        adds: number of tokens of the message that is being written; None: the last question shown is the one
        to answer, and stays.
        """
        if self._engine.pair is None or not self._engine.pair.context:
            return
        path = [shown.message for shown in self.shown]
        most, sizes = KEPT * self._engine.pair.context, turn_tokens(path)
        sizes += [] if adds is None else [float(adds)]
        left_out = fewer(sizes, self.settings.left_out + 1, most)
        self.set_settings(structs.replace(self.settings, left_out=left_out))

    def send_whole_chat(self) -> None:
        """Send all turns again."""
        self.set_settings(structs.replace(self.settings, left_out=0))

    def branch(self, message: int) -> None:
        """Open a new chat that begins with a copy of the messages up to and including this one."""
        with reporting(self.store_failed):
            self.open(self._store.chats.branch(message))
            self._queue.listed.emit()

    # -- questions and answers -------------------------------------------------------------------------------

    def send(self, text: str, files: Sequence[AttachedFile] = ()) -> bool:
        """Ask a question with files, or queue it behind the answer in progress.

        Return False if the text is blank or the engine cannot answer.
        """
        if not text.strip() or self._engine.state not in WILL_ANSWER:
            return False
        with reporting(self.store_failed):
            if self.id is None:
                self.id = self._store.chats.create(self.settings)
                self._queue.listed.emit()
            after = self.shown[-1].message.id if self.shown else None
            self._queue.ask(self.id, text, after, files)
            return True
        return False

    def remove_waiting(self, place: int) -> None:
        """Take a question out of the queue, and show its chat, to which it returns; `returned` follows.

        place: its index in `waiting`.
        """
        chat = self.waiting[place].chat
        if chat != self.id:
            self.open(chat)
        self._queue.take_back(place, self)

    def titles_of_waiting(self) -> list[str]:
        """Return, for each queued question, the title of its chat; "" for the chat shown."""
        return ["" if waiting.chat == self.id else self.title_of(waiting.chat) for waiting in self.waiting]

    def edit(self, message: int, text: str, files: Sequence[AttachedFile] | None = None) -> None:
        """Add a changed version of a message. If the message is a question, answer the new version. files: as
        in `Messages.edit`."""
        with reporting(self.store_failed):
            is_question = self._shown_message(message).role == "user"
            edited = self._store.messages.edit(message, text, files)
            self._announce()
            if is_question:
                self._answer(edited)

    def regenerate(self, message: int, *, same_seed: bool = False) -> None:
        """Generate another version of an answer, with a new seed unless the settings contain one; answer a
        question that has no answer.

        same_seed: repeat the recorded seed, settings and budgets, which gives the same answer.
        """
        with reporting(self.store_failed):
            before = self._shown_message(message)
            if before.role == "user":
                self._answer(message)
                return
            assert before.parent is not None
            self._answer(before.parent, settings_to_repeat(before.reports[0]) if same_seed else None)

    def continue_answer(self, answer: int) -> None:
        """Continue an answer that was stopped or cut off. One that repeats itself may go on doing so."""
        with reporting(self.store_failed):
            reports = self._shown_message(answer).reports
            self._answer(answer, loops=any(report.stop_reason == "repetition" for report in reports))

    def delete(self, message: int) -> None:
        """Delete a version of a message with all that follows from it."""
        with reporting(self.store_failed):
            deleted = self._store.messages.delete(message)
            self._queue.forget(deleted.chat)
            self._announce()
            self.deleted.emit(deleted)

    def restore(self, deleted: DeletedMessages) -> None:
        """Undo a deletion, and show its chat."""
        with reporting(self.store_failed):
            self._store.messages.restore(deleted)
            if self.id != deleted.chat:
                self.open(deleted.chat)
            self._announce()

    def messages_before(self, answer: int | None) -> list[messages.Message]:
        """Return the messages that lead to an answer shown, its question last; for None, those up to the last
        question shown."""
        path = [shown.message for shown in self.shown]
        ends = [i for i, message in enumerate(path) if message.id == answer or answer is None]
        asked = [i for i, message in enumerate(path) if message.role == "user" and ends and i <= ends[-1]]
        sent = without_oldest(path[: asked[-1] + 1], self.settings.left_out) if asked else []
        with reporting(self.store_failed):
            return to_send(sent, self.settings.system, self._store.files.texts(whole_files(sent)))
        return to_send(sent, self.settings.system)

    def show_version(self, message: int) -> None:
        """Show this version of a message."""
        with reporting(self.store_failed):
            self._store.messages.show(message)
            self._announce()

    def try_again(self) -> None:
        """Regenerate the last message shown if it is an answer; if it is a question, answer it."""
        if self.shown:
            self.regenerate(self.shown[-1].message.id)

    def stop(self) -> None:
        """Stop the answer in progress, keep its text so far, and return the queued questions."""
        self._queue.stop()

    def end_thought(self) -> None:
        """Let the answer shown end its thought and answer now."""
        if self.is_answering_here:
            self._queue.end_thought()

    # -- the answer in progress ------------------------------------------------------------------------------

    def _answer(self, message: int, settings: ChatSettings | None = None, *, loops: bool = False) -> None:
        """loops: whether the answer may repeat itself."""
        if self.id is not None:
            self._queue.answer(self.id, message, settings, loops=loops)

    def _begin(self, chat: int, stored: list[StoredMessage]) -> None:
        if chat == self.id:
            self._show(shown_path(stored))

    def _add_text(self, text: str) -> None:
        if self.is_answering_here:
            self.text_added.emit(text)

    def _report(self, event: messages.Event) -> None:
        if self.is_answering_here:
            self.reported.emit(event)

    def _finish(self, done: Answering, answer: messages.Answer) -> None:
        if any(shown.message.id == done.message for shown in self.shown):
            self.reported.emit(answer)
        self.answered.emit(answer)

    # -- helpers ---------------------------------------------------------------------------------------------

    def _announce(self) -> None:
        """Tell every window that the messages of the chat shown have changed."""
        if self.id is not None:
            self._queue.changed.emit(self.id)
            self._queue.listed.emit()

    def _refresh(self, chat: int) -> None:
        """Read the shown chat's messages from the store again if they have changed."""
        if chat == self.id:
            with reporting(self.store_failed):
                self._show(self._store.messages.shown(chat))

    def _take_settings(self, chat: int, settings: ChatSettings) -> None:
        if chat == self.id:
            self._set(settings)

    def _show(self, shown: list[ShownMessage]) -> None:
        self.shown = shown
        self.path_changed.emit()

    def _set(self, settings: ChatSettings) -> None:
        self.settings = settings
        self.settings_changed.emit()

    def _shown_message(self, id: int) -> StoredMessage:
        return next(shown.message for shown in self.shown if shown.message.id == id)
