"""The last run of each of the chats shown most recently. No widgets."""

from app.panel.history import KeptRun

MOST = 4  # chats; the trees of one may take 60 MB


class LastRuns:
    """Keeps what the panel showed when a chat was left, until it is shown again."""

    def __init__(self) -> None:
        self._runs: dict[int, tuple[int, KeptRun]] = {}  # by chat: the answer and its run, oldest first
        self._chat: int | None = None
        self._message: int | None = None

    def begin(self, chat: int | None, message: int | None) -> None:
        """An answer begins in the chat shown."""
        self._chat, self._message = chat, message
        if chat is not None:
            self._runs.pop(chat, None)

    def leave(self, run: KeptRun) -> None:
        """Keep the run of the chat that is left."""
        if self._chat is not None and self._message is not None and run.iterations:
            self._runs.pop(self._chat, None)
            self._runs[self._chat] = self._message, run
            while len(self._runs) > MOST:
                del self._runs[next(iter(self._runs))]

    def enter(self, chat: int | None) -> tuple[int | None, KeptRun | None]:
        """Return the answer and the run to show with the chat that is opened."""
        self._chat = chat
        self._message, run = self._runs.get(chat, (None, None)) if chat is not None else (None, None)
        return self._message, run
