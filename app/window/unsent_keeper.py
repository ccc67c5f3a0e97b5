"""Keeps what the user has written and not sent: one message for each chat, also when the program ends."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer

from app.connection.conversation import Conversation
from app.connection.pending_answer import Waiting
from app.conversation.composer import Composer
from app.store import AttachedFile, UnsentMessage
from app.window.unsent_messages import UnsentMessages, in_front

PAUSE_MS = 500  # from the last change until it is stored


class UnsentKeeper(QObject):
    """Stores the composer's message with the chat shown, and shows the one of the chat that is opened, also
    once another window has changed it."""

    def __init__(
        self,
        composer: Composer,
        chat: Conversation,
        messages: UnsentMessages,
        parent: QObject,
        *,
        keeps_new: bool = True,
    ) -> None:
        """keeps_new: whether the message of the new chat is this window's, since there may be several."""
        super().__init__(parent)
        self._composer, self._chat, self._messages = composer, chat, messages
        self._keeps_new = keeps_new
        self._id: int | None = None  # the chat that the composer's message belongs to
        self._kept: UnsentMessage | None = UnsentMessage()  # None: it could not be read
        self._shown = UnsentMessage().content  # as the composer gave it back, or when it was last stored
        self._timer = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._timer.timeout.connect(self.keep)
        composer.changed.connect(self._timer.start)
        chat.opened.connect(self._follow)
        chat.returned.connect(self._give_back)
        messages.changed.connect(self._take_over)
        self._show()

    def keep(self) -> None:
        """Store the composer's message now."""
        self._timer.stop()
        if self._is_changed and self._is_kept(self._id):
            seen, self._kept = self._kept, self._composer.unsent()
            self._shown = self._kept.content
            self._messages.keep(self._id, self._kept, seen)

    def close(self) -> None:
        """Store the message of a window that is closed. One for a new chat comes before that of the first
        window."""
        self.keep()
        message = self._composer.unsent()
        if not self._is_kept(self._id) and message:
            self._messages.put_before(None, [message.typed, *message.pasted], message.files)
            self._show()
        self._messages.retry()

    def add_file(self, chat: int | None, file: AttachedFile) -> None:
        """Add a file to what is unsent in a chat, which need not be the one shown any more."""
        if chat == self._id:
            self._composer.add_file(file)
        elif self._is_kept(chat):
            self._messages.put_before(chat, [], [file])

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
        self._kept = self._messages.of(self._id) if self._is_kept(self._id) else UnsentMessage()
        self._show_kept()

    def _show_kept(self) -> None:
        self._composer.show_unsent(self._kept or UnsentMessage())
        self._shown = self._composer.unsent().content
        self._timer.stop()

    def _give_back(self, returned: Sequence[Waiting]) -> None:
        """Put questions that will not be asked before what is unsent in their chats."""
        for chat in dict.fromkeys(waiting.chat for waiting in returned):
            texts = [waiting.text for waiting in returned if waiting.chat == chat]
            files = [file for waiting in returned if waiting.chat == chat for file in waiting.files]
            self._messages.put_before(chat, texts, files)

    def _take_over(self, chat: int | None, texts: Sequence[str], files: Sequence[AttachedFile]) -> None:
        """Show what is kept of the chat shown now. What the user has changed here since it was stored is
        stored at once: behind what was put before it, or else behind what another window has written. So what
        was put before is never an unstored change of several windows, and is kept once."""
        if chat != self._id or not self._is_kept(chat):
            return
        kept = self._messages.of(chat)
        if self._is_changed:
            before = in_front(texts, files, self._kept or UnsentMessage())
            if (texts or files) and kept is not None and kept.content == before.content:
                self._composer.show_unsent(in_front(texts, files, self._composer.unsent()))
                self._kept = kept
            self.keep()
        elif kept is not None:
            self._kept = kept
            if kept.content != self._composer.unsent().content:
                self._show_kept()

    @property
    def _is_changed(self) -> bool:
        """Whether the user has changed the message since it was stored or shown."""
        return self._composer.unsent().content != self._shown

    def _is_kept(self, chat: int | None) -> bool:
        """Return whether this window stores the message of a chat."""
        return chat is not None or self._keeps_new
