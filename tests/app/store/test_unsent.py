"""What was written and not sent is kept, for each chat."""

import sqlite3
import time
from contextlib import closing

from app.store import Store, UnsentMessage
from tests.app.store.made import SETTINGS


def test_each_chat_keeps_its_own_and_the_new_chat_too(store: Store) -> None:
    first, second = store.chats.create(SETTINGS), store.chats.create(SETTINGS)
    store.unsent.keep(first, UnsentMessage(typed="half a question"))
    store.unsent.keep(None, UnsentMessage(typed="여행", pasted=["a log", "and \ud800 another"]))
    again = Store(store.path)
    assert again.unsent.of(first).typed == "half a question"
    assert again.unsent.of(None).pasted == ["a log", "and ? another"]
    assert not again.unsent.of(second)
    again.close()


def test_the_last_one_counts_and_an_empty_one_is_not_stored(store: Store) -> None:
    for typed in ("a", "ab", "abc"):
        store.unsent.keep(None, UnsentMessage(typed=typed))
    assert store.unsent.of(None).typed == "abc"
    store.unsent.keep(None, UnsentMessage())
    assert not store.unsent.of(None)
    with closing(sqlite3.connect(store.path)) as connection:
        assert connection.execute("SELECT count(*) FROM unsent").fetchone() == (0,)


def test_it_goes_with_its_chat(store: Store) -> None:
    chat = store.chats.create(SETTINGS)
    store.unsent.keep(chat, UnsentMessage(typed="a"))
    store.chats.delete(chat)
    store.chats.purge(time.time() + 10 * 365 * 86_400)
    assert not store.unsent.of(chat)
    store.unsent.keep(chat, UnsentMessage(typed="written too late"))
    assert not store.unsent.of(chat)


def test_damage_costs_the_pasted_texts_only(store: Store) -> None:
    store.unsent.keep(None, UnsentMessage(typed="typed", pasted=["pasted"]))
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("UPDATE unsent SET pasted = '[7, {'")
    assert store.unsent.of(None) == UnsentMessage(typed="typed")
