"""What helps where a conversation is too long for the model: trying again does not."""

from PySide6.QtCore import QObject

from app.connection.conversation import Conversation
from app.connection.engine import Engine
from app.connection.memory import turns, used
from app.conversation.context_bar import larger_context
from app.store import StoredMessage
from app.widgets.fault_words import FaultWords
from app.widgets.notice import Notice
from app.window.context_meter import load_with_context, longest_context
from app.window.panes import Panes
from engine.protocol.messages import Loaded


class MoreRoom(QObject):
    """Offers, in a notice, to shorten what is sent or to enlarge the context, and then asks again."""

    def __init__(self, panes: Panes, chat: Conversation, engine: Engine) -> None:
        super().__init__(panes)
        self._transcript, self._composer, self._bar = panes.transcript, panes.composer, panes.context
        self._chat, self._engine = chat, engine
        self._due: tuple[int, int] | None = None  # a chat to ask again once so large a context is loaded
        engine.loaded.connect(self._ask_due)
        engine.load_failed.connect(lambda _: self._ask_due(None))

    def notice(self, words: FaultWords, chat: int) -> Notice:
        """Return a notice about a chat whose last question does not fit the context."""
        notice = Notice(words.message, words.hint, parent=self._transcript, details=words.details)
        edit = notice.offer(self.tr("Edit the message"))
        edit.setEnabled(self._transcript.may_change)  # not while a queued question is answered
        self._transcript.changes_allowed.connect(edit.setEnabled)
        edit.clicked.connect(lambda: self._edit(chat))
        if chat == self._chat.id:
            self._bar.leave_ways_to(notice)
            path = [shown.message for shown in self._chat.shown]
            self._offer_to_leave_out(notice, path)
            if self._engine.pair is not None and self._engine.pair.context:
                self._offer_larger(notice, path, self._engine.pair)
        return notice

    def _offer_to_leave_out(self, notice: Notice, path: list[StoredMessage]) -> None:
        question = next((each for each in reversed(path) if each.role == "user"), None)
        if question is not None and question.files:
            bare = notice.offer(self.tr("Ask without the files"))
            bare.clicked.connect(lambda: self._chat.edit(question.id, question.text, files=()))
            bare.clicked.connect(self._composer.setFocus)
        if len(turns(path)) > self._chat.settings.left_out + 1:
            leave_out = notice.offer(self.tr("Leave out the oldest turns"))
            leave_out.clicked.connect(self._leave_out)
            leave_out.clicked.connect(self._composer.setFocus)

    def _offer_larger(self, notice: Notice, path: list[StoredMessage], pair: Loaded) -> None:
        sent = used(path, self._chat.settings.left_out)
        context, words = larger_context(sent, pair.context, longest_context(pair), pair.token_nbytes)
        if context > pair.context:
            larger = notice.offer(words)
            larger.clicked.connect(lambda: self._enlarge(context))
            larger.clicked.connect(self._composer.setFocus)

    def _edit(self, chat: int) -> None:
        if chat != self._chat.id:
            self._chat.open(chat)
        if chat == self._chat.id:  # it can be opened
            self._transcript.edit_last_question()

    def _leave_out(self) -> None:
        self._chat.leave_out_oldest()
        self._chat.try_again()

    def _enlarge(self, context: int) -> None:
        if self._chat.id is not None:
            self._due = self._chat.id, context
        load_with_context(context, self._chat, self._engine)

    def _ask_due(self, loaded: Loaded | None) -> None:
        """Ask again if the larger context is there. loaded: None if loading failed."""
        due, self._due = self._due, None
        if due is not None and loaded is not None and due[0] == self._chat.id and loaded.context >= due[1]:
            self._chat.try_again()
