"""The files that chats have taken along: their text in passages, and pictures."""

import time
from collections.abc import Collection

from app.documents.records import Document
from app.store import file_rows, passages, quoted
from app.store.database import Database
from app.store.records import AttachedFile, Passage, WholeFile

AT_ONCE = 100  # passages per transaction, so that other writers do not wait: some 30 ms
KEPT_UNUSED_S = 24 * 60 * 60  # the message that names a file may not be stored yet, or be brought back


class Files:
    """The files of all chats. Each is stored once, however many chats use it: its id is a digest of its name
    and content. Messages name the files they use. Every method may raise a StoreError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, name: str, document: Document) -> AttachedFile:
        """Store a file unless it is there. Takes about a second for a thousand pages, so not on the GUI
        thread."""
        whole = file_rows.whole_file(name, document)
        id = whole.file.id
        with self._database.writing() as connection:
            if file_rows.has(connection, id):
                return whole.file
            file_rows.forget_passages(connection, id)
        found = list(passages.split(whole.pages))
        for start in range(0, len(found), AT_ONCE):
            with self._database.writing() as connection:
                for page, text in found[start : start + AT_ONCE]:
                    file_rows.insert_passage(connection, id, page, text)
        with self._database.writing() as connection:
            file_rows.insert(connection, whole)
        return whole.file

    def whole(self, ids: Collection[str]) -> list[WholeFile]:
        """Return the files with these ids, as far as they are there."""
        with self._database.reading() as connection:
            return file_rows.whole(connection, ids)

    def has_any(self, chat: int) -> bool:
        """Return whether a message of the chat names a file."""
        with self._database.reading() as connection:
            query = "SELECT 1 FROM messages WHERE chat = ? AND files <> '[]' LIMIT 1"
            return connection.execute(query, (chat,)).fetchone() is not None

    def texts(self, ids: Collection[str]) -> dict[str, str]:
        """Return by id the text of each of these files, with the numbers of its pages."""
        return {whole.file.id: quoted.text_of(whole) for whole in self.whole(ids)}

    def search(self, files: Collection[AttachedFile], question: str, count: int) -> list[Passage]:
        """Return the passages of these files that answer the question best, by BM25, the best first. If none
        has a word of the question, return those at the beginning."""
        by_id = {file.id: file for file in files}
        places = ", ".join("?" * len(by_id))
        expression = passages.any_term(question)
        with self._database.reading() as connection:
            found = []
            if expression:
                found = connection.execute(
                    "SELECT file, page, text FROM sought JOIN passages ON passages.id = sought.rowid"
                    f" WHERE sought MATCH ? AND file IN ({places}) ORDER BY sought.rank LIMIT ?",
                    (expression, *by_id, count),
                ).fetchall()
            if not found:
                found = connection.execute(
                    f"SELECT file, page, text FROM passages WHERE file IN ({places}) ORDER BY id LIMIT ?",
                    (*by_id, count),
                ).fetchall()
        return [_passage(by_id[file], page, text) for file, page, text in found]

    def sweep(self, now: float | None = None) -> int:
        """Remove the files that no message names and that are older than a day. Return their number.

        Call it after `Chats.purge`, not on the GUI thread. now: Unix seconds, by default the current time.
        """
        before = (time.time() if now is None else now) - KEPT_UNUSED_S
        with self._database.writing() as connection:
            used = " UNION ".join(
                f"SELECT json_extract(value, '$.id') FROM {table}, json_each({table}.files)"
                f" WHERE {table}.files <> '[]' AND json_valid({table}.files)"
                for table in ("messages", "unsent")
            )
            query = f"SELECT id FROM files WHERE created_at < ? AND id NOT IN ({used})"
            ids = [id for (id,) in connection.execute(query, (before,))]
            for id in ids:
                file_rows.forget_passages(connection, id)
                connection.execute("DELETE FROM files WHERE id = ?", (id,))
        return len(ids)


def _passage(file: AttachedFile, page: int, text: str) -> Passage:
    return Passage(
        file=file.id, name=file.name, kind=file.kind, page=page if file.pages else 0, text=text.strip()
    )
