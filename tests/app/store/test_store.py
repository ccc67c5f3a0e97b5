"""Errors of a file or a disk are reported by kind, and no data is lost."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import platformdirs
import pytest

from app.store import (
    AnswerUnderWay,
    NotInStore,
    Store,
    StoreDamaged,
    StoreFull,
    StoreLocked,
    StoreNotWritable,
    database,
    schema,
)
from tests.app.store.made import PAIR, SETTINGS, answer


def test_messages_survive_a_restart(path: Path) -> None:
    store = Store(path)
    chat = store.chats.create(SETTINGS)
    question = store.messages.ask(chat, "What is a token tree?")
    store.messages.answer(question, SETTINGS, PAIR).finish(answer("A tree of tokens."))
    before = store.chats.read(chat)
    store.close()
    again = Store(path)
    assert again.chats.read(chat) == before
    assert again.damage is None
    again.close()


def test_it_needs_neither_qt_nor_torch() -> None:
    """Checked in a new interpreter, since these tests have loaded Qt."""
    loaded = "import sys, app.store.exchange; print(*sys.modules)"
    names = subprocess.run([sys.executable, "-c", loaded], check=True, capture_output=True, text=True).stdout
    assert "app.store.exchange" in names
    assert not {"PySide6", "torch", "transformers", "numpy"} & set(names.split())


def test_it_is_in_the_users_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platformdirs, "user_data_path", lambda *args, **kwargs: tmp_path / "data")
    Store().close()
    assert (tmp_path / "data" / "conversations.sqlite").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_no_other_user_may_read_it(path: Path, store: Store) -> None:
    assert path.stat().st_mode & 0o077 == 0


def spoil_header(path: Path) -> None:
    path.write_bytes(b"no database" * 1000)


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:6000])


def make_foreign(path: Path) -> None:
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE cookies (host)")
    connection.close()


@pytest.mark.parametrize("spoil", [spoil_header, cut_off, make_foreign])
def test_a_damaged_file_is_renamed_and_replaced_by_an_empty_one(path: Path, spoil) -> None:
    Store(path).close()
    spoil(path)
    content = path.read_bytes()
    store = Store(path)
    assert store.chats.recent() == []
    store.chats.create()
    store.close()
    (kept,) = path.parent.glob("*.damaged-*.sqlite")
    assert kept.read_bytes() == content
    assert store.damage is not None
    assert kept.name in store.damage.message
    again = Store(path)
    assert again.damage is None
    assert len(again.chats.recent()) == 1
    again.close()


def test_the_log_of_a_damaged_file_is_kept_with_it(path: Path) -> None:
    Store(path).close()
    spoil_header(path)
    path.with_name(f"{path.name}-wal").write_bytes(b"what was said last")
    Store(path).close()
    (log,) = path.parent.glob("*.damaged-*.sqlite-wal")
    assert log.read_bytes() == b"what was said last"


def test_damage_found_later_is_reported_and_other_chats_can_be_read(path: Path) -> None:
    store = Store(path)
    spoiled, sound = store.chats.create(), store.chats.create()
    store.messages.ask(sound, "short")
    store.messages.ask(spoiled, "word " * 4000)
    store.close()
    content = path.read_bytes()
    pages = range(0, len(content), 4096)
    start = next(
        page for page in pages if content[page : page + 4096].count(b"word") > 800
    )  # nothing but text
    path.write_bytes(content[:start] + b"\xff\xff\xff\xff" + content[start + 4 :])
    store = Store(path)
    with pytest.raises(StoreDamaged, match="damaged"):
        store.messages.all(spoiled)
    assert store.messages.all(sound)[0].text == "short"
    store.close()


def test_asking_whether_another_program_writes_waits_for_nothing(store: Store) -> None:
    connected = sqlite3.connect(store.path, isolation_level=None, check_same_thread=False)
    with closing(connected) as other:
        other.execute("BEGIN IMMEDIATE")
        began = time.perf_counter()
        assert not store.can_write()
        assert time.perf_counter() - began < schema.WAIT_S / 2
        freed = threading.Timer(0.3, other.execute, ["ROLLBACK"])
        freed.start()
        store.messages.ask(store.chats.create(), "one")  # this waits as before
        freed.join()
    assert store.can_write()
    with store._database.writing():
        assert not store.can_write(), "another thread writes"


def test_writing_reports_that_another_program_locked_the_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "WAIT_S", 0.05)
    store = Store(path)
    chat = store.chats.create()
    other = sqlite3.connect(path, isolation_level=None)
    assert store.can_write()
    other.execute("BEGIN IMMEDIATE")
    assert not store.can_write()
    with pytest.raises(StoreLocked, match="Another program"):
        store.messages.ask(chat, "one")
    with pytest.raises(StoreLocked):
        Store(path)
    assert store.messages.all(chat) == [], "reading goes on"
    other.execute("ROLLBACK")
    other.close()
    store.messages.ask(chat, "two")
    store.close()


@pytest.fixture
def readable_folder() -> Iterator[Path]:
    """A read-only folder with a store; tests run as root switch to another user."""
    if sys.platform == "win32":
        pytest.skip("POSIX permissions")
    folder = Path(tempfile.mkdtemp())
    Store(folder / "a.sqlite").close()
    (folder / "a.sqlite").chmod(0o444)
    folder.chmod(0o555)
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    yield folder
    if is_root:
        os.seteuid(0)
    folder.chmod(0o700)
    shutil.rmtree(folder)


def test_a_read_only_file_or_folder_is_reported(readable_folder: Path) -> None:
    with pytest.raises(StoreNotWritable, match=r"a\.sqlite"):
        Store(readable_folder / "a.sqlite")
    with pytest.raises(StoreNotWritable, match="cannot be saved in"):
        Store(readable_folder / "new.sqlite")
    with pytest.raises(StoreNotWritable, match="cannot be saved in"):
        Store(readable_folder / "new" / "a.sqlite")


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> list[sqlite3.Connection]:
    """The connections opened; `max_page_count` of the first one simulates the size of the disk."""
    connections: list[sqlite3.Connection] = []
    connect = database.connect

    def remember(path: Path) -> sqlite3.Connection:
        connections.append(connect(path))
        return connections[-1]

    monkeypatch.setattr(database, "connect", remember)
    return connections


def fill(disk: list[sqlite3.Connection]) -> None:
    pages = disk[0].execute("PRAGMA page_count").fetchone()[0]
    disk[0].execute(f"PRAGMA max_page_count = {pages + 2}")


def empty(disk: list[sqlite3.Connection]) -> None:
    disk[0].execute("PRAGMA max_page_count = 1000000")


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < end


def test_a_full_disk_keeps_what_was_saved(disk: list[sqlite3.Connection], path: Path) -> None:
    store = Store(path)
    chat = store.chats.create()
    first = store.messages.ask(chat, "small")
    fill(disk)
    with pytest.raises(StoreFull, match="full"):
        store.messages.ask(chat, "large " * 10_000, after=first)
    assert [one.message.text for one in store.messages.shown(chat)] == ["small"]
    assert store.search("large") == []
    empty(disk)
    store.messages.ask(chat, "large " * 10_000, after=first)
    store.close()


LARGE = "large " * 10_000


def test_an_answer_stays_in_memory_until_the_disk_has_space(
    disk: list[sqlite3.Connection], path: Path
) -> None:
    store = Store(path)
    question = store.messages.ask(store.chats.create(), "small")
    growing = store.messages.answer(question, SETTINGS, PAIR)
    fill(disk)
    text = "large " * 10_000
    growing.add(text)
    wait_until(lambda: isinstance(growing.problem, StoreFull))
    with pytest.raises(StoreFull):
        growing.finish(answer(text))
    assert not growing.is_over
    empty(disk)
    wait_until(lambda: growing.problem is None)
    assert store.messages.all(1)[1].text == text
    growing.finish(answer(text))
    assert store.messages.all(1)[1].state == "complete"
    assert store.messages.all(1)[1].text == text
    store.close()


@pytest.fixture
def ended(disk: list[sqlite3.Connection], path: Path) -> Iterator[tuple[Store, AnswerUnderWay]]:
    """A store on a full disk, with an answer whose end could not be saved."""
    store = Store(path)
    question = store.messages.ask(store.chats.create(), "small")
    growing = store.messages.answer(question, SETTINGS, PAIR)
    fill(disk)
    with pytest.raises(StoreFull):
        growing.finish(answer(LARGE))
    yield store, growing
    store.close()


def test_an_end_that_cannot_be_saved_is_saved_once_the_disk_has_space(
    ended: tuple[Store, AnswerUnderWay], disk: list[sqlite3.Connection], path: Path
) -> None:
    store, growing = ended
    (_, now) = store.messages.all(1)
    assert (now.text, now.state, len(now.reports)) == (LARGE, "complete", 1)
    assert isinstance(growing.problem, StoreFull)
    other = Store(path)
    assert other.messages.all(1)[1].state == "streaming"
    empty(disk)
    wait_until(lambda: growing.is_over)
    saved = other.messages.all(1)[1]
    assert (saved.text, saved.state, len(saved.reports)) == (LARGE, "complete", 1)
    assert len(store.search("large")) == 1
    other.close()


def test_an_end_that_cannot_be_saved_is_saved_when_the_store_closes(
    ended: tuple[Store, AnswerUnderWay], disk: list[sqlite3.Connection], path: Path
) -> None:
    store, _ = ended
    empty(disk)
    store.close()
    later = Store(path)
    saved = later.messages.all(1)[1]
    assert (saved.text, saved.state, len(saved.reports)) == (LARGE, "complete", 1)
    later.close()


def test_an_answer_whose_end_is_not_saved_yet_is_deleted_or_continued_after_that(
    ended: tuple[Store, AnswerUnderWay], disk: list[sqlite3.Connection]
) -> None:
    store, growing = ended
    with pytest.raises(StoreFull):
        store.messages.delete(growing.id)
    empty(disk)
    store.messages.restore(store.messages.delete(growing.id))
    continued = store.messages.resume(growing.id, SETTINGS, PAIR)
    assert continued.text == LARGE
    continued.finish(answer("more"))
    assert len(store.messages.all(1)[1].reports) == 2


def test_a_store_closes_even_if_its_answer_cannot_be_saved(
    disk: list[sqlite3.Connection], path: Path
) -> None:
    store = Store(path)
    growing = store.messages.answer(store.messages.ask(store.chats.create(), "q"), SETTINGS, PAIR)
    fill(disk)
    growing.add("large " * 10_000)
    with pytest.raises(StoreFull):
        store.close()
    assert growing.is_over
    assert not [thread for thread in threading.enumerate() if thread.name == "answer saver"]
    Store(path).close()


def test_missing_records_are_reported(store: Store) -> None:
    for action in (
        lambda: store.messages.all(7),
        lambda: store.messages.ask(7, "x"),
        lambda: store.messages.edit(7, "x"),
        lambda: store.messages.show(7),
        lambda: store.messages.answer(7, SETTINGS, PAIR),
        lambda: store.messages.resume(7, SETTINGS, PAIR),
        lambda: store.chats.line(7),
        lambda: store.chats.settings(7),
        lambda: store.chats.rename(7, "x"),
        lambda: store.chats.pin(7),
        lambda: store.chats.delete(7),
        lambda: store.chats.read(7),
        lambda: store.chats.branch(7),
        lambda: store.folders.rename(7, "x"),
        lambda: store.folders.delete(7),
        lambda: store.presets.delete("x"),
    ):
        with pytest.raises(NotInStore, match="no longer exists"):
            action()
