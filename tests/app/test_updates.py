"""A newer release is asked for only where that is wanted, once a day, and said quietly."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from pytestqt.qtbot import QtBot

from app.updates import DAY_S, FEED, UpdateNotice, Updates
from tests.engine.runtime.test_releases import Feed, feed

__all__ = ["feed"]

REPOSITORY = "https://github.com/owner/program"
PAGE = f"{REPOSITORY}/releases/tag/v9.9.9"
Make = Callable[..., Updates]


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    return tmp_path / "state" / "asked"


@pytest.fixture
def make(feed: Feed, asked: Path) -> Iterator[Make]:
    made: list[Updates] = []

    def make(wanted: bool = True, feed_url: str = feed.url) -> Updates:
        made.append(Updates(lambda: wanted, REPOSITORY, feed_url, asked))
        return made[-1]

    feed.said = {"tag_name": "v9.9.9", "html_url": PAGE}
    yield make
    for each in made:
        each.close()


def settle(updates: Updates, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not updates._work.is_running("release"))


def test_the_feed_is_that_of_the_repository_it_was_released_from() -> None:
    assert Updates(lambda: False, REPOSITORY)._feed == FEED.format("owner/program")


def test_nothing_is_asked_where_it_is_not_wanted(make: Make, feed: Feed, qtbot: QtBot) -> None:
    updates = make(wanted=False)
    updates.start()
    settle(updates, qtbot)
    assert feed.asked == []


def test_a_newer_release_is_said_with_a_way_to_its_page(
    make: Make, feed: Feed, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(QUrl(url).toString()))
    updates = make()
    notice = UpdateNotice(updates)
    qtbot.addWidget(notice)
    assert notice.isHidden()
    with qtbot.waitSignal(updates.found):
        updates.start()
    assert not notice.isHidden()
    assert notice.text() == "Version 9.9.9"
    notice.click()
    assert opened == [PAGE]
    later = UpdateNotice(updates)  # of a window made anew
    qtbot.addWidget(later)
    assert later.text() == notice.text()


def test_it_is_asked_once_a_day_even_where_nobody_answers(
    make: Make, feed: Feed, asked: Path, qtbot: QtBot
) -> None:
    feed.said = {}
    for _ in range(2):
        updates = make()
        updates.start()
        settle(updates, qtbot)
        assert updates.release is None
    assert len(feed.asked) == 1
    os.utime(asked, (time.time() - DAY_S - 1,) * 2)
    again = make()
    again.start()
    settle(again, qtbot)
    assert len(feed.asked) == 2


def test_a_clock_that_was_set_back_does_not_end_it(make: Make, feed: Feed, asked: Path, qtbot: QtBot) -> None:
    asked.parent.mkdir()
    asked.touch()
    os.utime(asked, (time.time() + 400 * DAY_S,) * 2)
    updates = make()
    with qtbot.waitSignal(updates.found):
        updates.start()


def test_it_is_asked_while_the_program_runs(
    make: Make, feed: Feed, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.updates.LOOK_MS", 5)
    monkeypatch.setattr("app.updates.DAY_S", 0)
    make().start()
    qtbot.waitUntil(lambda: len(feed.asked) > 1)


@pytest.mark.parametrize("said", [[], {"tag_name": "v9", "html_url": "https://elsewhere.example/"}])
def test_what_makes_no_sense_or_leads_elsewhere_is_not_said(
    make: Make, feed: Feed, qtbot: QtBot, said: object
) -> None:
    feed.said = said
    updates = make()
    updates.start()
    settle(updates, qtbot)
    assert len(feed.asked) == 1
    assert updates.release is None


def test_without_a_network_or_a_place_to_note_it_nothing_is_said(
    make: Make, feed: Feed, asked: Path, qtbot: QtBot
) -> None:
    nobody = make(feed_url="http://127.0.0.1:1/")
    nobody.start()
    settle(nobody, qtbot)
    assert nobody.release is None
    asked.unlink()
    asked.parent.rmdir()
    asked.parent.write_text("in the way")
    updates = make()
    updates.start()
    settle(updates, qtbot)
    assert feed.asked == []
