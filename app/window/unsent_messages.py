"""The unsent messages of all windows: in the store, and in memory while they cannot be stored."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from app.conversation.composer import MAX_TYPED
from app.store import AttachedFile, Store, StoreError, UnsentMessage

RETRY_MS = 5_000  # until what could not be stored is tried again


class UnsentMessages(QObject):
    """Reads and stores unsent messages. One that cannot be stored is tried again until it can be.

    Signals:
        failed: StoreError; a message cannot be read or stored. Sent once until all of them are stored again
        changed: int or None, texts and files; what is kept of the unsent message of a chat was changed, and
            these, if any, were put before it
    """

    failed = Signal(object)
    changed = Signal(object, list, list)

    def __init__(self, store: Store, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._owed: dict[int | None, UnsentMessage] = {}  # by chat, what is not stored yet
        self._unread: set[int | None] = set()  # chats whose stored message comes before what is owed
        self._has_failed = False
        self._next_try = QTimer(self, singleShot=True, interval=RETRY_MS)
        self._next_try.timeout.connect(self._try_again)

    def of(self, chat: int | None) -> UnsentMessage | None:
        """Return the unsent message of a chat, an empty one if there is none; None if it cannot be read."""
        if chat in self._owed:
            return self._owed[chat]
        try:
            return self._store.unsent.of(chat)
        except StoreError as error:
            self._fail(error)
            return None

    def keep(self, chat: int | None, message: UnsentMessage, seen: UnsentMessage | None) -> None:
        """Store the unsent message of a chat.

        seen: what `of` returned, and `message` was made from. If another window has left another message
            since, both are kept, that one in front. If it is None, the stored message is put in front as
            soon as it can be read; `changed` tells.
        """
        self._keep(chat, message, seen)
        self.changed.emit(chat, [], [])

    def _keep(self, chat: int | None, message: UnsentMessage, seen: UnsentMessage | None) -> None:
        kept = self.of(chat)
        if kept and kept.content not in (message.content, (seen or UnsentMessage()).content):
            message = in_front([kept.typed, *kept.pasted], kept.files, message)
        if seen is None and kept is None:
            self._unread.add(chat)
        self._owed[chat] = message
        if self._next_try.isActive():
            self._try_again()
        else:
            self.retry()

    def put_before(self, chat: int | None, texts: Sequence[str], files: Sequence[AttachedFile]) -> None:
        """Put texts and files before what is unsent in a chat, also in the window that shows it."""
        message = self.of(chat)
        self._keep(chat, in_front(texts, files, message or UnsentMessage()), message)
        self.changed.emit(chat, list(texts), list(files))

    def retry(self) -> None:
        """Try to store what is not stored so far. Waits for another program that writes."""
        for chat in list(self._owed):
            try:
                self._read_before(chat)
                if chat in self._owed:  # or else a window that was told has stored it, with its own changes
                    self._store.unsent.keep(chat, self._owed[chat])
            except StoreError as error:
                self._next_try.start()
                self._fail(error)
                if chat in self._unread:
                    continue
                return
            self._owed.pop(chat, None)
        if not self._owed:
            self._next_try.stop()
            self._has_failed = False

    def _try_again(self) -> None:
        """Try to store what could not be stored, without waiting for another program that writes."""
        if self._store.can_write():
            self.retry()
        else:
            self._next_try.start()

    def _read_before(self, chat: int | None) -> None:
        """Put a stored message that could not be read before what is owed. May raise a StoreError."""
        if chat not in self._unread:
            return
        stored, owed = self._store.unsent.of(chat), self._owed[chat]
        self._unread.remove(chat)
        if stored:
            texts = [stored.typed, *stored.pasted]
            self._owed[chat] = in_front(texts, stored.files, owed)
            self.changed.emit(chat, texts, stored.files)

    def _fail(self, error: StoreError) -> None:
        if not self._has_failed:
            self._has_failed = True
            self.failed.emit(error)


def in_front(texts: Sequence[str], files: Sequence[AttachedFile], message: UnsentMessage) -> UnsentMessage:
    """Return the message with `texts` and `files` in front; long texts become pasted ones."""
    typed = [text for text in texts if text and len(text) <= MAX_TYPED]
    pasted = [text for text in texts if len(text) > MAX_TYPED]
    parts = [*typed, message.typed] if message.typed else typed
    brought = {file.id: file for file in [*files, *message.files]}
    return UnsentMessage(
        typed="\n\n".join(parts), pasted=[*pasted, *message.pasted], files=list(brought.values())
    )
