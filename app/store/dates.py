"""Chats under the headings of the sidebar: today, yesterday, and so on back to months. Pure."""

from collections.abc import Iterable
from datetime import datetime, tzinfo
from itertools import groupby
from typing import Literal, NamedTuple

from app.store.records import ChatLine

Period = Literal["today", "yesterday", "previous_7_days", "previous_30_days", "month"]


class Heading(NamedTuple):
    """year and month are given for a "month" only."""

    period: Period
    year: int | None = None
    month: int | None = None


class Group(NamedTuple):
    heading: Heading
    chats: list[ChatLine]


def by_date(chats: Iterable[ChatLine], now: float, zone: tzinfo | None = None) -> list[Group]:
    """Newest first. now: Unix seconds; zone: where midnight is, None: the system's own."""
    newest_first = sorted(chats, key=lambda chat: chat.updated_at, reverse=True)
    return [
        Group(heading, list(group))
        for heading, group in groupby(newest_first, key=lambda chat: heading_of(chat.updated_at, now, zone))
    ]


def heading_of(time: float, now: float, zone: tzinfo | None = None) -> Heading:
    """A time that is still to come (the clock was set back) counts as today."""
    day = datetime.fromtimestamp(time, zone).date()
    days = (datetime.fromtimestamp(now, zone).date() - day).days
    if days <= 0:
        return Heading("today")
    if days == 1:
        return Heading("yesterday")
    if days <= 7:
        return Heading("previous_7_days")
    if days <= 30:
        return Heading("previous_30_days")
    return Heading("month", day.year, day.month)
