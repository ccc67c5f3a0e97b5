"""Answers in progress. Their text is saved twice a second, so that a crash loses at most the last half
second."""

import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from sqlite3 import Connection

import psutil
from msgspec import structs

from app.store import rows
from app.store.database import Database
from app.store.errors import NotInStore, StoreError
from app.store.records import (
    AnswerReport,
    ChatSettings,
    ModelPair,
    State,
    StoredCall,
    StoredMessage,
    to_json,
    well_formed,
)
from engine.protocol.messages import Answer

SAVE_EVERY_S = 0.5


@dataclass(frozen=True, slots=True)
class AnswerEnd:
    """How an answer has ended: its final state, the reports on it, and the calls that it has made."""

    state: State
    reports: Sequence[AnswerReport]
    calls: Sequence[StoredCall] = ()


class AnswerUnderWay:
    """A message that the engine is writing. One thread adds text; a saver thread stores it twice a second.

    The answer is in progress until the end that `finish` or `interrupt` gives it has been saved. If that
    fails, the saver thread tries again until it succeeds or the store is closed.

    Attributes:
        id: id of the message
        text: the whole text so far
        opened: the mark of the thought that the prompt has opened before the text, or ""
        problem: the error from the last save, or None; no text is lost, since the next save tries again
    """

    def __init__(
        self,
        database: Database,
        message: int,
        settings: ChatSettings,
        pair: ModelPair,
        text: str = "",
        reports: Sequence[AnswerReport] = (),
    ) -> None:
        """Begin or continue a message that `mark_in_progress` has marked.

        text, reports: what the message already contains.
        """
        self.id = message
        self.text = text
        self.opened = reports[0].thought if reports else ""
        self.problem: StoreError | None = None
        self._database = database
        self._settings, self._pair = settings, pair
        self._begun, self._reports = text, reports
        self._saved = text
        self._end: AnswerEnd | None = None  # to be saved
        self._lock = threading.Lock()  # held while saving, so that nothing is saved after the end
        self._over = threading.Event()
        self._saver = threading.Thread(target=self._keep_saving, name="answer saver", daemon=True)
        self._saver.start()

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    def add(self, text: str) -> None:
        self.text += text

    def finish(self, answer: Answer, text: str | None = None, calls: Sequence[StoredCall] = ()) -> None:
        """Save the complete answer and its report. text: the answer's text, if it is not all of it; calls:
        those that the answer has made beside this text.

        Raises a StoreError if saving fails; the saver thread then tries again.
        """
        self.text = self._begun + (answer.text if text is None else text)
        report = AnswerReport.of(answer, self._settings, self._pair)
        self._finish(AnswerEnd("complete", [*self._reports, report], calls))

    def interrupt(self) -> None:
        """End an answer that gets no more text: the engine failed or was lost.

        Raises a StoreError if saving fails; the saver thread then tries again.
        """
        self._finish(AnswerEnd("interrupted", self._reports))

    def save_end(self) -> None:
        """Save the end now, if saving it has failed. Raises a StoreError if it fails again."""
        with self._lock, suppress(NotInStore):  # nothing is left to save
            if self._end is not None and not self.is_over:
                self._settle(self._end)

    def close(self) -> None:
        """End the saver thread after a last save; an answer that has no end is interrupted.

        Raises a StoreError if that fails; what was not saved is lost.
        """
        with self._lock:
            try:
                if not self.is_over:
                    self._settle(self._end or AnswerEnd("interrupted", self._reports))
            finally:
                self._over.set()
        self._saver.join()

    def now(self, stored: StoredMessage) -> StoredMessage:
        """Return the message as it was stored with its present text, and with its end even if that is still
        to be saved. Its calls are only those stored, because only those can be settled."""
        text, end = well_formed(self.text), self._end
        if end is None:
            return structs.replace(stored, text=text)
        return structs.replace(stored, text=text, state=end.state, reports=list(end.reports))

    def _finish(self, end: AnswerEnd) -> None:
        with self._lock:
            if not self.is_over:
                self._end = end
                self._settle(end)
        self._saver.join()

    def _settle(self, end: AnswerEnd) -> None:
        """Save the end, after which the answer is over. The lock is held."""
        try:
            with self._database.writing() as connection:
                settle(connection, self.id, self.text, end.state, end.reports)
                keep_calls(connection, self.id, end.calls)
                rows.touch(connection, rows.place_of(connection, self.id)[0])
            self.problem = None
        except NotInStore:
            self._over.set()  # the message was deleted with its chat
            raise
        except StoreError as problem:
            self.problem = problem
            raise
        self._over.set()

    def _keep_saving(self) -> None:
        while not self._over.wait(SAVE_EVERY_S):
            with self._lock, suppress(StoreError):  # kept as `problem`
                if self.is_over:
                    return
                if self._end is not None:
                    self._settle(self._end)
                elif self.text != self._saved:
                    self._save(self.text)

    def _save(self, text: str) -> None:
        try:
            with self._database.writing() as connection:
                mark_in_progress(connection, self.id)
                connection.execute("UPDATE messages SET text = ? WHERE id = ?", (well_formed(text), self.id))
            self._saved, self.problem = text, None
        except StoreError as problem:
            self.problem = problem


def mark_in_progress(connection: Connection, message: int) -> None:
    """Record that this process is writing a message. Remove it from the search index until it is settled."""
    if connection.execute("SELECT 1 FROM under_way WHERE message = ?", (message,)).fetchone():
        return
    rows.forget(connection, message, rows.place_of(connection, message)[3])
    me = psutil.Process()
    connection.execute("INSERT INTO under_way VALUES (?, ?, ?)", (message, me.pid, me.create_time()))
    connection.execute("UPDATE messages SET state = 'streaming' WHERE id = ?", (message,))


def settle(
    connection: Connection,
    message: int,
    text: str,
    state: State,
    reports: Sequence[AnswerReport] | None = None,
) -> None:
    """Store the final text and state of a message, and add it to the search index.

    reports: the reports to store; None keeps the stored ones.
    """
    # Another process may have settled the message, believing that this process had ended.
    mark_in_progress(connection, message)
    text = well_formed(text)
    connection.execute(
        "UPDATE messages SET text = ?, state = ?, reports = coalesce(?, reports) WHERE id = ?",
        (text, state, None if reports is None else to_json(reports), message),
    )
    connection.execute("DELETE FROM under_way WHERE message = ?", (message,))
    rows.index(connection, message, text)


def keep_calls(connection: Connection, message: int, calls: Sequence[StoredCall]) -> None:
    """Store the calls of an answer."""
    connection.execute("UPDATE messages SET calls = ? WHERE id = ?", (to_json(calls), message))


def settle_lost(connection: Connection) -> None:
    """Mark as interrupted those answers in progress whose process has ended."""
    for message, pid, started in connection.execute("SELECT message, pid, started FROM under_way").fetchall():
        if not _is_running(pid, started):
            settle(connection, message, rows.place_of(connection, message)[3], "interrupted")


def _is_running(pid: int, started: float) -> bool:
    """Return whether a process with this id is alive and began at this time: a later process may get
    the same id."""
    try:
        process = psutil.Process(pid)
        is_same = abs(process.create_time() - started) < 2  # seconds; the clock may have been adjusted
        return is_same and bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False
