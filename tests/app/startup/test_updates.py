"""The check for a newer release is made only if wanted, once a day, and its result is shown quietly."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from pytestqt.qtbot import QtBot

from app.startup.updates import DAY_S, FEED, UpdateNotice, Updates
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

    feed.content = {"tag_name": "v9.9.9", "html_url": PAGE}
    yield make
    for each in made:
        each.close()


def settle(updates: Updates, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not updates.is_looking)


def test_the_feed_belongs_to_the_repository_of_the_release() -> None:
    assert Updates(lambda: False, REPOSITORY).feed == FEED.format("owner/program")


def test_no_check_is_made_unless_wanted(make: Make, feed: Feed, qtbot: QtBot) -> None:
    updates = make(wanted=False)
    updates.start()
    settle(updates, qtbot)
    assert feed.requested == []


def test_a_newer_release_is_shown_with_a_link_to_its_page(
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
    later = UpdateNotice(updates)  # in a window created again
    qtbot.addWidget(later)
    assert later.text() == notice.text()


def test_a_check_is_made_once_a_day_even_if_it_fails(
    make: Make, feed: Feed, asked: Path, qtbot: QtBot
) -> None:
    feed.content = {}
    for _ in range(2):
        updates = make()
        updates.start()
        settle(updates, qtbot)
        assert updates.release is None
    assert len(feed.requested) == 1
    os.utime(asked, (time.time() - DAY_S - 1,) * 2)
    again = make()
    again.start()
    settle(again, qtbot)
    assert len(feed.requested) == 2


def test_a_clock_that_was_set_back_does_not_prevent_checks(
    make: Make, feed: Feed, asked: Path, qtbot: QtBot
) -> None:
    asked.parent.mkdir()
    asked.touch()
    os.utime(asked, (time.time() + 400 * DAY_S,) * 2)
    updates = make()
    with qtbot.waitSignal(updates.found):
        updates.start()


def test_checks_are_made_while_the_program_runs(
    make: Make, feed: Feed, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.startup.updates.LOOK_MS", 5)
    monkeypatch.setattr("app.startup.updates.DAY_S", 0)
    make().start()
    qtbot.waitUntil(lambda: len(feed.requested) > 1)


@pytest.mark.parametrize("said", [[], {"tag_name": "v9", "html_url": "https://elsewhere.example/"}])
def test_an_invalid_or_foreign_release_is_not_shown(
    make: Make, feed: Feed, qtbot: QtBot, said: object
) -> None:
    feed.content = said
    updates = make()
    updates.start()
    settle(updates, qtbot)
    assert len(feed.requested) == 1
    assert updates.release is None


def test_without_a_network_or_a_state_file_nothing_is_shown(
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
    assert feed.requested == []
