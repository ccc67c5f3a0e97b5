"""Several processes and threads use one file at the same time."""

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.store import Store
from app.store.database import Database
from tests.app.store.made import PAIR, SETTINGS, answer

OPEN_AND_ASK = """
import sys
from pathlib import Path
from app.store import Store
sys.stdin.readline()  # all at once
store = Store(Path(sys.argv[1]))
chat = store.chats.create()
for number in range(40):
    store.messages.ask(chat, f"question {number} of {sys.argv[2]}")
store.close()
"""


@pytest.fixture
def database(store: Store) -> Iterator[Database]:
    """A second connection to the store's file."""
    database = Database(store.path)
    yield database
    database.close()


def test_processes_create_and_write_one_file_together(path: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN_AND_ASK, str(path), str(i)], stdin=subprocess.PIPE, text=True
        )
        for i in range(3)
    ]
    for process in processes:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
    for process in processes:
        with process:
            pass
    assert [process.returncode for process in processes] == [0, 0, 0]
    store = Store(path)
    assert len(store.chats.recent()) == 3
    assert all(len(store.messages.all(line.id)) == 40 for line in store.chats.recent())
    assert len(store.search("question", limit=1000)) == 120
    store.close()


def test_a_file_that_another_process_is_creating_is_waited_for(path: Path) -> None:
    path.parent.mkdir()
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.2, other.rollback)
    release.start()
    Store(path).close()
    release.join()
    other.close()


def test_reads_of_one_transaction_see_one_snapshot(store: Store, database: Database) -> None:
    count = "SELECT count(*) FROM chats"
    with database.reading() as connection:
        assert connection.execute(count).fetchone() == (0,)
        store.chats.create()
        assert connection.execute(count).fetchone() == (0,)
    assert len(store.chats.recent()) == 1


def test_threads_read_while_others_write(store: Store) -> None:
    chats = [store.chats.create() for _ in range(3)]
    problems: list[BaseException] = []
    done = threading.Event()

    def write(chat: int) -> None:
        try:
            for number in range(20):
                growing = store.messages.answer(store.messages.ask(chat, "q"), SETTINGS, PAIR)
                growing.add(f"{number}")
                growing.finish(answer(f"answer {number}"))
        except BaseException as problem:
            problems.append(problem)

    def read() -> None:
        try:
            while not done.is_set():
                store.search("answer")
                for chat in chats:
                    shown = store.messages.shown(chat)  # a reader never sees a half-written chat
                    assert len(shown) <= 2
        except BaseException as problem:
            problems.append(problem)

    writers = [threading.Thread(target=write, args=(chat,)) for chat in chats]
    readers = [threading.Thread(target=read) for _ in range(2)]
    for thread in writers + readers:
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    for thread in readers:
        thread.join()
    assert problems == []
    assert len(store.search("answer", limit=1000)) == 60


def test_reading_does_not_wait_for_a_long_write(store: Store, database: Database) -> None:
    chat = store.chats.create()
    with database.writing() as connection:
        connection.execute("UPDATE chats SET title = 'half done'")
        assert store.chats.line(chat).title == ""
    assert store.chats.line(chat).title == "half done"
