"""Grouping of chats by date for the sidebar: today, yesterday and so on, then by month. Pure functions."""

from collections.abc import Iterable
from datetime import datetime, tzinfo
from itertools import groupby
from typing import Literal, NamedTuple

from app.store.records import ChatLine

Period = Literal["today", "yesterday", "previous_7_days", "previous_30_days", "month"]


class Heading(NamedTuple):
    """The heading of a group. Only the period "month" has a year and a month."""

    period: Period
    year: int | None = None
    month: int | None = None


class DateGroup(NamedTuple):
    heading: Heading
    chats: list[ChatLine]


def by_date(chats: Iterable[ChatLine], now: float, zone: tzinfo | None = None) -> list[DateGroup]:
    """Group chats by date, newest first.

    now: Unix seconds; zone: the time zone in which days begin, by default the system's.
    """
    newest_first = sorted(chats, key=lambda chat: chat.updated_at, reverse=True)
    return [
        DateGroup(heading, list(group))
        for heading, group in groupby(newest_first, key=lambda chat: heading_of(chat.updated_at, now, zone))
    ]


def heading_of(time: float, now: float, zone: tzinfo | None = None) -> Heading:
    """Return the heading for a time. Future times count as today, since the clock may have been set back."""
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
