"""Several processes and threads use one file at once."""

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

from app.store import Store
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


def test_processes_make_and_write_one_file_together(path: Path) -> None:
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


def test_a_file_another_process_is_making_is_waited_for(path: Path) -> None:
    path.parent.mkdir()
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.2, other.rollback)
    release.start()
    Store(path).close()
    release.join()
    other.close()


def test_what_is_read_together_is_of_one_moment(store: Store) -> None:
    count = "SELECT count(*) FROM chats"
    with store._database.reading() as connection:
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
                    shown = store.messages.shown(chat)  # a question is never seen without its place
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


def test_reading_does_not_wait_for_a_long_write(store: Store) -> None:
    chat = store.chats.create()
    with store._database.writing() as connection:
        connection.execute("UPDATE chats SET title = 'half done'")
        assert store.chats.line(chat).title == ""
    assert store.chats.line(chat).title == "half done"
