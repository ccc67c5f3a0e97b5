"""Functions on the rows of files and their passages. Call them in a transaction."""

import hashlib
import re
import time
from collections.abc import Collection, Sequence
from sqlite3 import Connection

from app.documents.records import PAGED, Document
from app.store import passages, search
from app.store.records import AttachedFile, WholeFile, about_tokens, kind_named, well_formed

_SINGLE = re.compile(r"[^\w\s]|\d")  # a quarter of each is counted by its length


def whole_file(name: str, document: Document) -> WholeFile:
    """Return a file with this name and content, as it is stored."""
    name, pages = well_formed(name), [well_formed(page) for page in document.pages]
    file = AttachedFile(
        id=_digest(name, pages, document.picture),
        name=name,
        kind=document.kind,
        pages=len(pages) if document.kind in PAGED else 0,
        tokens=sum(map(_tokens, pages)),
    )
    return WholeFile(file=file, pages=pages, picture=document.picture)


def _tokens(text: str) -> int:
    """Return about how many tokens a text has. Most vocabularies have digits and signs one by one, so tables
    and code have more tokens than their length tells: a list with numbers 1.5 times as many (SmolLM2)."""
    return about_tokens(text) + 3 * len(_SINGLE.findall(text)) // 4


def _digest(name: str, pages: Sequence[str], picture: bytes) -> str:
    hashed = hashlib.sha256(name.encode())
    for page in pages:
        hashed.update(b"\0" + page.encode())
    hashed.update(b"\0\0" + picture)
    return hashed.hexdigest()


def add(connection: Connection, imported: WholeFile) -> str:
    """Add a file of an imported chat unless it is there. Return its id, which the import cannot choose."""
    document = Document(imported.file.kind, imported.pages, imported.picture)
    whole = whole_file(imported.file.name, document)
    if not has(connection, whole.file.id):
        forget_passages(connection, whole.file.id)
        for page, text in passages.split(whole.pages):
            insert_passage(connection, whole.file.id, page, text)
        insert(connection, whole)
    return whole.file.id


def has(connection: Connection, id: str) -> bool:
    return connection.execute("SELECT 1 FROM files WHERE id = ?", (id,)).fetchone() is not None


def insert(connection: Connection, whole: WholeFile) -> None:
    """Insert the row of a file behind those of its passages: a file with a row is complete."""
    file = whole.file
    connection.execute(
        "INSERT OR IGNORE INTO files VALUES (?, ?, ?, ?, ?, ?, ?)",
        (file.id, file.name, file.kind, file.pages, file.tokens, time.time(), whole.picture),
    )


def insert_passage(connection: Connection, file: str, page: int, text: str) -> None:
    cursor = connection.execute(
        "INSERT INTO passages (file, page, text) VALUES (?, ?, ?)", (file, page, text)
    )
    assert cursor.lastrowid is not None
    index(connection, cursor.lastrowid, text)


def index(connection: Connection, passage: int, text: str) -> None:
    """Add a passage to the index."""
    connection.execute("INSERT INTO sought (rowid, terms) VALUES (?, ?)", (passage, search.terms(text)))


def forget_passages(connection: Connection, file: str) -> None:
    """Remove the passages of a file, also those of one that a killed process has left."""
    rows = connection.execute("SELECT id, text FROM passages WHERE file = ?", (file,)).fetchall()
    connection.executemany(
        "INSERT INTO sought (sought, rowid, terms) VALUES ('delete', ?, ?)",
        [(id, search.terms(text)) for id, text in rows],
    )
    connection.execute("DELETE FROM passages WHERE file = ?", (file,))


def whole(connection: Connection, ids: Collection[str]) -> list[WholeFile]:
    """Return the files with these ids, as far as they are there."""
    return [found for id in ids if (found := _whole(connection, id))]


def _whole(connection: Connection, id: str) -> WholeFile | None:
    row = connection.execute(
        "SELECT name, kind, pages, tokens, picture FROM files WHERE id = ?", (id,)
    ).fetchone()
    if row is None:
        return None
    name, kind, count, tokens, picture = row
    texts: dict[int, list[str]] = {}
    for page, text in connection.execute("SELECT page, text FROM passages WHERE file = ? ORDER BY id", (id,)):
        texts.setdefault(page, []).append(text)
    pages = ["".join(texts.get(page, [])) for page in range(1, max([count, *texts]) + 1)]
    file = AttachedFile(id=id, name=name, kind=kind_named(kind), pages=count, tokens=tokens)
    return WholeFile(file=file, pages=pages, picture=picture)
