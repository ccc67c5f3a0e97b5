"""Unsent messages that cannot be read or stored for a while, without a window."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest
from pytestqt.qtbot import QtBot

from app.store import Store, StoreDamaged, UnsentMessage
from app.store.unsent import Unsent
from app.window.unsent_messages import UnsentMessages

NOTHING = UnsentMessage()


@pytest.fixture
def unsent(store: Store, qtbot: QtBot) -> Iterator[UnsentMessages]:
    made = UnsentMessages(store)
    yield made
    made._next_try.stop()


@pytest.fixture
def unreadable(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """While it is set, no unsent message can be read."""
    unreadable, of = threading.Event(), Unsent.of

    def checked(unsent: Unsent, chat: int | None) -> UnsentMessage:
        if unreadable.is_set():
            raise StoreDamaged("The file is damaged.", "Use a backup.")
        return of(unsent, chat)

    monkeypatch.setattr(Unsent, "of", checked)
    return unreadable


def attempts(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """Return the chats whose messages are stored from now on, or would be."""
    tried, keep = list[int | None](), Unsent.keep

    def noted(unsent: Unsent, chat: int | None, message: UnsentMessage) -> None:
        tried.append(chat)
        keep(unsent, chat, message)

    monkeypatch.setattr(Unsent, "keep", noted)
    return tried


def test_what_cannot_be_stored_is_tried_again_without_waiting_for_a_program_that_writes(
    unsent: UnsentMessages,
    store: Store,
    full: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    chats = [store.chats.create(), store.chats.create()]
    full.set()
    for chat in chats:
        unsent.keep(chat, UnsentMessage(typed="a"), NOTHING)
    tried = attempts(monkeypatch)
    unsent.retry()
    assert tried == chats[:1], "the next one would fail, too"
    tried.clear()
    full.clear()
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        unsent._next_try.setInterval(0)
        with qtbot.waitSignal(unsent._next_try.timeout):
            pass
        unsent.keep(chats[0], UnsentMessage(typed="ab"), UnsentMessage(typed="a"))
        assert not tried
    qtbot.waitUntil(lambda: tried == chats)
    assert [store.unsent.of(chat).typed for chat in chats] == ["ab", "a"]


@pytest.mark.parametrize("is_put_before", [True, False])
def test_a_message_that_cannot_be_read_is_not_replaced(
    is_put_before: bool, unsent: UnsentMessages, store: Store, unreadable: threading.Event, qtbot: QtBot
) -> None:
    chat, beside = store.chats.create(), store.chats.create()
    store.unsent.keep(chat, UnsentMessage(typed="of yesterday", pasted=["a log"]))
    unreadable.set()
    assert unsent.of(chat) is None
    if is_put_before:
        unsent.put_before(chat, ["new"], [])
    else:
        unsent.keep(chat, UnsentMessage(typed="n"), None)
        unsent.keep(chat, UnsentMessage(typed="new"), UnsentMessage(typed="n"))
    unsent.keep(beside, UnsentMessage(typed="beside"), NOTHING)
    unreadable.clear()
    assert store.unsent.of(beside).typed == "beside"
    with qtbot.waitSignal(unsent.changed) as told:
        unsent.retry()
    assert told.args == [chat, ["of yesterday", "a log"], []]
    assert store.unsent.of(chat) == UnsentMessage(typed="of yesterday\n\na log\n\nnew")
