"""Which chats stand where in the sidebar: pinned ones, folders, and the rest by date. Knows no Qt."""

import time
from collections.abc import Container, Iterator, Sequence

from msgspec import Struct

from app.store import ChatLine, Folder, Store, by_date
from app.store.dates import Heading

PINNED = "pinned"
ALL = 2**31  # more than there are


class Group(Struct, frozen=True):
    """A heading and what stands below it. Without `folder` and `heading`: the pinned chats.

    key: its name from one reading to the next, and from one start to the next.
    chats: of a folded folder none, since they are not read.
    """

    key: str
    chats: list[ChatLine]
    folder: Folder | None = None
    heading: Heading | None = None


def read(store: Store, folded: Container[str], recent: Sequence[ChatLine]) -> list[Group]:
    """recent: those neither pinned nor in a folder. Raises a StoreError."""
    pinned = store.chats.pinned()
    groups = [Group(PINNED, pinned)] if pinned else []
    for folder in store.folders.all():
        key = folder_key(folder.id)
        chats = [] if key in folded else store.chats.in_folder(folder.id, ALL)
        groups.append(Group(key, chats, folder=folder))
    return groups + dated(recent)


def dated(recent: Sequence[ChatLine]) -> list[Group]:
    return [
        Group(_date_key(heading), chats, heading=heading) for heading, chats in by_date(recent, time.time())
    ]


def folder_key(folder: int) -> str:
    return f"folder:{folder}"


def every_chat(store: Store) -> Iterator[ChatLine]:
    """Raises a StoreError."""
    yield from store.chats.pinned()
    for folder in store.folders.all():
        yield from store.chats.in_folder(folder.id, ALL)
    yield from store.chats.recent(ALL)


def _date_key(heading: Heading) -> str:
    return heading.period if heading.month is None else f"{heading.year}-{heading.month:02}"
