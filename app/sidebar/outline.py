"""Outline of the sidebar: the chats in groups (pinned, folders, dates), and the text of titles and dates."""

import time
from collections.abc import Container, Iterator, Sequence

from msgspec import Struct
from PySide6.QtCore import QCoreApplication, QDateTime, QLocale

from app.store import ChatLine, Folder, Store, by_date
from app.store.dates import Heading

PINNED = "pinned"
ALL = 2**31  # a limit above any number of chats


def _tr(text: str) -> str:
    return QCoreApplication.translate("outline", text)


class ChatGroup(Struct, frozen=True):
    """A heading and the chats below it. The group without `folder` and `heading` holds the pinned chats.

    key: identifies the group from one reading to the next, and from one start of the program to the next.
    chats: empty for a folded folder, whose chats are not read.
    """

    key: str
    chats: list[ChatLine]
    folder: Folder | None = None
    heading: Heading | None = None


def read(store: Store, folded: Container[str], recent: Sequence[ChatLine]) -> list[ChatGroup]:
    """Read the groups from the store. Raises StoreError.

    folded: keys of the folded groups. recent: the chats that are neither pinned nor in a folder.
    """
    pinned = store.chats.pinned()
    groups = [ChatGroup(PINNED, pinned)] if pinned else []
    for folder in store.folders.all():
        key = folder_key(folder.id)
        chats = [] if key in folded else store.chats.in_folder(folder.id, ALL)
        groups.append(ChatGroup(key, chats, folder=folder))
    return groups + dated(recent)


def dated(recent: Sequence[ChatLine]) -> list[ChatGroup]:
    """Group chats by date."""
    return [
        ChatGroup(_date_key(heading), chats, heading=heading)
        for heading, chats in by_date(recent, time.time())
    ]


def folder_key(folder: int) -> str:
    return f"folder:{folder}"


def every_chat(store: Store) -> Iterator[ChatLine]:
    """Yield every chat of the store. Raises StoreError."""
    yield from store.chats.pinned()
    for folder in store.folders.all():
        yield from store.chats.in_folder(folder.id, ALL)
    yield from store.chats.recent(ALL)


def _date_key(heading: Heading) -> str:
    return heading.period if heading.month is None else f"{heading.year}-{heading.month:02}"


# -- in the user's language ----------------------------------------------------------------------------------


def group_title(group: ChatGroup) -> str:
    """Return the heading of a group."""
    if group.folder:
        return group.folder.name
    return _date_title(group.heading) if group.heading else _tr("Pinned")


def folder_label(name: str) -> str:
    """Return the accessible name of a folder, in which a word stands for the icon."""
    return _tr("Folder {}").format(name)


def chat_title(title: str) -> str:
    """Return the title to show for a chat: “New chat” for one without messages, which has no title yet."""
    return title or _tr("New chat")


def moment(time: float) -> str:
    """Return a date with the time of day. time: Unix seconds."""
    return QLocale().toString(QDateTime.fromSecsSinceEpoch(int(time)), QLocale.FormatType.ShortFormat)


def day(time: float) -> str:
    """Return a date. time: Unix seconds."""
    date = QDateTime.fromSecsSinceEpoch(int(time)).date()
    return QLocale().toString(date, QLocale.FormatType.ShortFormat)


def _date_title(heading: Heading) -> str:
    match heading.period:
        case "today":
            return _tr("Today")
        case "yesterday":
            return _tr("Yesterday")
        case "previous_7_days":
            return _tr("Previous 7 days")
        case "previous_30_days":
            return _tr("Previous 30 days")
        case "month":
            assert heading.year is not None
            assert heading.month is not None
            month = QLocale().standaloneMonthName(heading.month)
            return _tr("{month} {year}").format(month=month[:1].upper() + month[1:], year=heading.year)
