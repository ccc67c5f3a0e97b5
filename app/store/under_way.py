"""An answer that is being written: saved as it comes, so that a crash costs at most its last moment."""

import threading
from collections.abc import Sequence
from sqlite3 import Connection

import psutil

from app.store import rows
from app.store.database import Database
from app.store.errors import StoreError
from app.store.records import ChatSettings, ModelPair, Report, State, to_json, well_formed
from engine.protocol.messages import Answer

SAVE_EVERY_S = 0.5


class AnswerUnderWay:
    """One thread adds, another saves what was added, twice a second. Ends with `finish` or `interrupt`.

    Attributes:
        id: of the message
        text: all of it so far
        problem: why it could not be saved last time, or None. Nothing is lost by it: saving is tried again.
    """

    def __init__(
        self,
        database: Database,
        message: int,
        settings: ChatSettings,
        pair: ModelPair,
        text: str = "",
        reports: Sequence[Report] = (),
    ) -> None:
        """Goes on with a message that was taken up and has this text and these reports."""
        self.id = message
        self.text = text
        self.problem: StoreError | None = None
        self._database = database
        self._settings, self._pair = settings, pair
        self._begun, self._reports = text, reports
        self._saved = text
        self._lock = threading.Lock()  # nothing is saved after the end
        self._over = threading.Event()
        self._saver = threading.Thread(target=self._keep_saving, name="answer saver", daemon=True)
        self._saver.start()

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    def add(self, text: str) -> None:
        self.text += text

    def finish(self, answer: Answer) -> None:
        """Save the answer as the engine gave it, whole and with its figures. Raises a StoreError where that
        fails; the answer is under way still then, and may be finished again."""
        self.text = self._begun + answer.text
        report = Report.of(answer, self._settings, self._pair)
        with self._lock:
            self._end("complete", [*self._reports, report])
            self._over.set()
        self._saver.join()

    def interrupt(self) -> None:
        """Nothing more comes: the engine failed or was lost, or the store is closed. Raises a StoreError
        where the end of the text cannot be saved."""
        with self._lock:
            try:
                if not self.is_over:
                    self._end("interrupted", self._reports)
            finally:
                self._over.set()
        self._saver.join()

    def _end(self, state: State, reports: Sequence[Report]) -> None:
        with self._database.writing() as connection:
            settle(connection, self.id, self.text, state, reports)
            rows.was_said(connection, rows.place_of(connection, self.id)[0])

    def _keep_saving(self) -> None:
        while not self._over.wait(SAVE_EVERY_S):
            with self._lock:
                if not self.is_over and self.text != self._saved:
                    self._save(self.text)

    def _save(self, text: str) -> None:
        try:
            with self._database.writing() as connection:
                take_up(connection, self.id)
                connection.execute("UPDATE messages SET text = ? WHERE id = ?", (well_formed(text), self.id))
            self._saved, self.problem = text, None
        except StoreError as problem:
            self.problem = problem


def take_up(connection: Connection, message: int) -> None:
    """This process writes at the message from now on; until it is settled, the message is not indexed."""
    if connection.execute("SELECT 1 FROM under_way WHERE message = ?", (message,)).fetchone():
        return
    rows.forget(connection, message, rows.place_of(connection, message)[3])
    me = psutil.Process()
    connection.execute("INSERT INTO under_way VALUES (?, ?, ?)", (message, me.pid, me.create_time()))
    connection.execute("UPDATE messages SET state = 'streaming' WHERE id = ?", (message,))


def settle(
    connection: Connection, message: int, text: str, state: State, reports: Sequence[Report] | None = None
) -> None:
    """The message is not written at any more. Its reports stay as they are where none are given."""
    take_up(connection, message)  # where another process thought this one was gone
    text = well_formed(text)
    connection.execute(
        "UPDATE messages SET text = ?, state = ?, reports = coalesce(?, reports) WHERE id = ?",
        (text, state, None if reports is None else to_json(reports), message),
    )
    connection.execute("DELETE FROM under_way WHERE message = ?", (message,))
    rows.index(connection, message, text)


def settle_lost(connection: Connection) -> None:
    """Answers whose process is gone were interrupted."""
    for message, pid, started in connection.execute("SELECT message, pid, started FROM under_way").fetchall():
        if not _is_running(pid, started):
            settle(connection, message, rows.place_of(connection, message)[3], "interrupted")


def _is_running(pid: int, started: float) -> bool:
    """A process id alone is used again."""
    try:
        process = psutil.Process(pid)
        is_same = abs(process.create_time() - started) < 2  # seconds: the system's clock may have been set
        return is_same and bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False
