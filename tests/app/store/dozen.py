"""A store of a dozen chats, and all the texts that a window would show of one."""

import time
from collections.abc import Iterator
from pathlib import Path

from app.store import Store, StoreError, by_date
from app.store.records import ChatSettings, Preset
from tests.app.store.made import PAIR, SETTINGS, answer

CHATS, TURNS = 12, 4
WORDS = "the tree of tokens grows while the target reads its weights and each branch is a guess"


def make_dozen(path: Path) -> None:
    """Write a store of CHATS chats of TURNS turns, in folders and pinned, with a preset; closed."""
    store = Store(path)
    folder = store.folders.create("Work")
    for number in range(CHATS):
        chat = store.chats.create(SETTINGS)
        after = None
        for turn in range(TURNS):
            question = store.messages.ask(chat, f"{number}.{turn} {WORDS} " * 8, after)
            written = store.messages.answer(question, SETTINGS, PAIR)
            written.finish(answer(f"Answer {number}.{turn} {WORDS}"))
            after = written.id
        store.chats.move(chat, folder if number % 3 == 0 else None)
        store.chats.pin(chat, number % 4 == 1)
    store.presets.save(Preset("Mine", ChatSettings()))
    store.close()


def shown(store: Store) -> Iterator[str]:
    """Read all that a window shows; yield the texts of messages. Unreadable chats are passed over."""
    lines = [*store.chats.pinned(), *store.chats.recent()]
    for folder in store.folders.all():
        lines += store.chats.in_folder(folder.id)
    by_date(lines, time.time())
    store.presets.all()
    for line in lines:
        try:
            store.chats.settings(line.id)
            for message in store.messages.shown(line.id):
                time.localtime(message.message.created_at)
                yield message.message.text
        except StoreError:
            continue


def texts(path: Path) -> list[str]:
    store = Store(path)
    try:
        return list(shown(store))
    finally:
        store.close()
