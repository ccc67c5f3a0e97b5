"""What the sidebar says of dates and chats, in the person's language."""

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale

from app.store.dates import Heading


def _tr(text: str) -> str:
    return QCoreApplication.translate("headings", text)


def heading(heading: Heading) -> str:
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


def pinned() -> str:
    return _tr("Pinned")


def folder(name: str) -> str:
    """For those who do not see its picture."""
    return _tr("Folder {}").format(name)


def title(title: str) -> str:
    """A chat has none until something was said in it."""
    return title or _tr("New chat")


def moment(time: float) -> str:
    """time: Unix seconds."""
    return QLocale().toString(QDateTime.fromSecsSinceEpoch(int(time)), QLocale.FormatType.ShortFormat)


def day(time: float) -> str:
    date = QDateTime.fromSecsSinceEpoch(int(time)).date()
    return QLocale().toString(date, QLocale.FormatType.ShortFormat)
