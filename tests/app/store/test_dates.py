from datetime import datetime, timedelta, timezone

from app.store import ChatLine, by_date

BERLIN = timezone(timedelta(hours=2))
NOW = datetime(2026, 3, 30, 9, 0, tzinfo=BERLIN)


def headings(*times: datetime, zone: timezone = BERLIN) -> list[tuple[tuple[object, ...], list[int]]]:
    """Return the indices of the times under each heading."""
    lines = [ChatLine(i, "", False, None, time.timestamp()) for i, time in enumerate(times)]
    return [
        (tuple(part for part in group.heading if part is not None), [line.id for line in group.chats])
        for group in by_date(lines, NOW.timestamp(), zone)
    ]


def test_chats_are_grouped_by_days_weeks_and_months() -> None:
    def at(year: int, month: int, day: int, hour: int = 12) -> datetime:
        return datetime(year, month, day, hour, tzinfo=BERLIN)

    assert headings(
        at(2025, 12, 31),
        at(2026, 2, 27, 23),
        at(2026, 2, 28, 0),
        at(2026, 3, 22, 23),
        at(2026, 3, 23, 0),
        at(2026, 3, 28, 23),
        at(2026, 3, 29, 0),
        at(2026, 3, 30, 0),
        NOW + timedelta(days=2),
        at(2026, 2, 1),
        at(2025, 2, 1),
    ) == [
        (("today",), [8, 7]),
        (("yesterday",), [6]),
        (("previous_7_days",), [5, 4]),
        (("previous_30_days",), [3, 2]),
        (("month", 2026, 2), [1, 9]),
        (("month", 2025, 12), [0]),
        (("month", 2025, 2), [10]),
    ]


def test_midnight_depends_on_the_time_zone() -> None:
    late = datetime(2026, 3, 29, 23, 30, tzinfo=BERLIN)
    assert headings(late) == [(("yesterday",), [0])]
    assert headings(late, zone=timezone(timedelta(hours=9))) == [(("today",), [0])]


def test_no_chats_give_no_headings() -> None:
    assert headings() == []
