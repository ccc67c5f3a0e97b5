"""Keeps what the user has written and not sent: one message for each chat, also when the program ends."""

from collections.abc import Sequence

from msgspec import structs
from PySide6.QtCore import QObject, QTimer, Signal

from app.connection.conversation import Conversation
from app.connection.pending_answer import Waiting
from app.conversation.composer import MAX_TYPED, Composer
from app.store import AttachedFile, Store, StoreError, UnsentMessage

PAUSE_MS = 500  # from the last change until it is stored


class UnsentKeeper(QObject):
    """Stores the composer's message with the chat shown, and shows the one of the chat that is opened.

    Signals:
        failed: StoreError; sent once until a message can be stored again
    """

    failed = Signal(object)

    def __init__(
        self,
        composer: Composer,
        chat: Conversation,
        store: Store,
        parent: QObject,
        *,
        keeps_new: bool = True,
    ) -> None:
        """keeps_new: whether the message of the new chat is this window's, since there may be several."""
        super().__init__(parent)
        self._composer, self._chat, self._store = composer, chat, store
        self._keeps_new = keeps_new
        self._id: int | None = None  # the chat that the composer's message belongs to
        self._kept = UnsentMessage()
        self._owed: dict[int | None, UnsentMessage] = {}  # by chat, what could not be stored
        self._has_failed = False
        self._timer = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._timer.timeout.connect(self.keep)
        composer.changed.connect(self._timer.start)
        chat.opened.connect(self._follow)
        chat.returned.connect(self._give_back)
        self._show()

    def keep(self) -> None:
        """Store the composer's message now, and those that could not be stored before."""
        self._timer.stop()
        message = self._composer.unsent()
        is_stored = message == self._kept and self._id not in self._owed  # which may owe an older message
        if not is_stored and self._keep(self._id, message):
            self._kept = message
        for chat, owed in list(self._owed.items()):
            self._keep(chat, owed)

    def close(self) -> None:
        """Store the message of a window that is closed. One for a new chat comes before that of the first
        window."""
        self.keep()
        message = self._composer.unsent()
        if self._id is None and not self._keeps_new and message:
            self._keeps_new = True
            texts = [message.typed, *message.pasted]
            self._keep(None, _before(texts, message.files, self._read(None)))

    def add_file(self, chat: int | None, file: AttachedFile) -> None:
        """Add a file to what is unsent in a chat, which need not be the one shown any more."""
        if chat == self._id:
            self._composer.add_file(file)
        else:
            message = self._read(chat)
            files = [other for other in message.files if other.id != file.id]
            self._keep(chat, structs.replace(message, files=[*files, file]))

    def forget(self) -> None:
        """The message was sent, and the composer is empty. The new chat has become a stored one."""
        self.keep()
        self._id = self._chat.id

    def _follow(self) -> None:
        if self._chat.id != self._id:
            self.keep()
            self._id = self._chat.id
            self._show()

    def _show(self) -> None:
        self._kept = self._read(self._id)
        self._composer.show_unsent(self._kept)
        self._timer.stop()

    def _give_back(self, returned: Sequence[Waiting]) -> None:
        """Put questions that will not be asked before what is unsent in their chats."""
        for chat in dict.fromkeys(waiting.chat for waiting in returned):
            texts = [waiting.text for waiting in returned if waiting.chat == chat]
            files = [file for waiting in returned if waiting.chat == chat for file in waiting.files]
            if chat == self._id:
                self._composer.show_unsent(_before(texts, files, self._composer.unsent()))
            else:
                self._keep(chat, _before(texts, files, self._read(chat)))

    def _read(self, chat: int | None) -> UnsentMessage:
        if chat is None and not self._keeps_new:
            return UnsentMessage()
        if chat in self._owed:
            return self._owed[chat]
        try:
            return self._store.unsent.of(chat)
        except StoreError as error:
            self._fail(error)
            return UnsentMessage()

    def _keep(self, chat: int | None, message: UnsentMessage) -> bool:
        if chat is None and not self._keeps_new:
            return False
        try:
            self._store.unsent.keep(chat, message)
        except StoreError as error:
            self._owed[chat] = message
            self._fail(error)
            return False
        self._owed.pop(chat, None)
        self._has_failed = False
        return True

    def _fail(self, error: StoreError) -> None:
        if not self._has_failed:
            self._has_failed = True
            self.failed.emit(error)


def _before(texts: Sequence[str], files: Sequence[AttachedFile], message: UnsentMessage) -> UnsentMessage:
    """Return the message with `texts` and `files` in front; long texts become pasted ones."""
    typed = [text for text in texts if len(text) <= MAX_TYPED]
    pasted = [text for text in texts if len(text) > MAX_TYPED]
    parts = [*typed, message.typed] if message.typed else typed
    brought = {file.id: file for file in [*files, *message.files]}
    return UnsentMessage(
        typed="\n\n".join(parts), pasted=[*pasted, *message.pasted], files=list(brought.values())
    )
