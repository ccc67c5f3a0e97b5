"""Updates: looked for only if wanted and once a day, downloaded only when asked, and told quietly."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from pytestqt.qtbot import QtBot

from app.startup.update_notice import UpdateNews, UpdateNotice
from app.startup.updates import DAY_S, Updates, UpdateState, start_new_version
from engine import updates as engine_updates
from engine.updates import Installation, Package
from tests.engine.hub.lying_hub import LyingHub, drops, stalls
from tests.engine.updates.made_up import KEY, offer

Make = Callable[..., Updates]
IMAGE = b"#!/bin/sh\nexit 3\n"
NAME = "program-2.0.0.appimage"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LyingHub]:
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(variable, raising=False)
    serving = LyingHub()
    yield serving
    serving.close()


@pytest.fixture
def here(tmp_path: Path) -> Installation:
    image = tmp_path / "x.AppImage"
    image.write_bytes(b"old")
    return Installation("appimage", image, tmp_path / ".x.AppImage.update", "")


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    return tmp_path / "state" / "asked"


@pytest.fixture
def make(server: LyingHub, here: Installation, asked: Path, qtbot: QtBot) -> Iterator[Make]:
    made: list[Updates] = []
    url = offer(server, "appimage", IMAGE)

    def make(wanted: Callable[[], bool] = lambda: True, place: Installation | None = here) -> Updates:
        made.append(Updates(wanted, Package("appimage", "1.0.0", url, KEY), place, asked))
        return made[-1]

    yield make
    for each in made:
        each.close()


def found(make: Make, qtbot: QtBot, **options: object) -> Updates:
    updates = make(**options)
    updates.start()
    qtbot.waitUntil(lambda: updates.state is UpdateState.FOUND)
    return updates


def news(updates: Updates, qtbot: QtBot) -> UpdateNews:
    box = UpdateNews(updates)
    qtbot.addWidget(box)
    box.show()
    return box


def test_no_check_is_made_unless_wanted_or_without_a_key(make: Make, server: LyingHub, qtbot: QtBot) -> None:
    updates = make(wanted=lambda: False)
    keyless = Updates(lambda: True, Package("deb", "1.0.0", "http://127.0.0.1:1/"), None)
    for each in (updates, keyless, Updates(lambda: True, None, None)):
        each.start()
        qtbot.waitUntil(lambda each=each: not each.is_looking)
        each.close()
    assert server.asked == []


def test_a_newer_version_is_told_and_downloaded_only_when_asked(
    make: Make, server: LyingHub, here: Installation, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(QUrl(url).toString()))
    updates = make()
    notice = UpdateNotice(updates)
    qtbot.addWidget(notice)
    assert notice.isHidden()
    updates.start()
    qtbot.waitUntil(lambda: updates.state is UpdateState.FOUND)
    assert not notice.isHidden()
    assert notice.text() == "Version 2.0.0"
    box = news(updates, qtbot)
    assert [box.take.isVisible(), box.halt.isVisible(), box.read.isVisible()] == [True, False, True]
    box.read.click()
    assert opened == ["https://example.org/new"]
    assert len(server.asked) == 1
    box = news(updates, qtbot)
    box.take.click()
    qtbot.waitUntil(lambda: updates.state is UpdateState.READY)
    assert notice.text() == "Version 2.0.0 is ready"
    assert here.trial == "app-2.0.0"
    assert here.place.read_bytes() == b"old"


def test_a_download_can_be_stopped_and_continued(make: Make, server: LyingHub, qtbot: QtBot) -> None:
    updates = found(make, qtbot)
    server.faults[NAME].extend([stalls(5)])
    updates.download()
    qtbot.waitUntil(lambda: updates.fraction > 0)
    box = news(updates, qtbot)
    assert "being downloaded" in box.text()
    box.halt.click()
    assert updates.state is UpdateState.FOUND
    updates.download()
    qtbot.waitUntil(lambda: updates.state is not UpdateState.DOWNLOADING, timeout=20_000)
    assert updates.state is UpdateState.READY, updates.error


def test_what_failed_is_told_and_can_be_tried_again(make: Make, server: LyingHub, qtbot: QtBot) -> None:
    updates = found(make, qtbot)
    files = server.repositories["owner/program"].files
    files[NAME] = b"#!/bin/sh\nexit 0\n"
    updates.download()
    qtbot.waitUntil(lambda: updates.state is UpdateState.FAILED, timeout=20_000)
    box = news(updates, qtbot)
    assert "SHA-256" in box.text()
    files[NAME] = IMAGE
    box.take.click()
    qtbot.waitUntil(lambda: updates.state is UpdateState.READY)


def test_a_copy_that_the_program_cannot_change_is_not_downloaded(make: Make, qtbot: QtBot) -> None:
    box = news(found(make, qtbot, place=None), qtbot)
    assert not box.take.isVisible()
    assert "as you installed it" in box.informativeText()


def test_turning_updates_off_gives_up_what_was_downloaded(
    make: Make, here: Installation, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = [True]
    updates = found(make, qtbot, wanted=lambda: wanted[0])
    updates.download()
    qtbot.waitUntil(lambda: updates.state is UpdateState.READY)
    monkeypatch.setattr(engine_updates, "this_installation", lambda: here)
    assert start_new_version([], wanted=lambda: False) is None
    assert here.trial is not None
    wanted[0] = False
    updates.start()
    assert here.trial is None
    assert updates.state is UpdateState.NONE


def test_a_version_that_did_not_start_is_told_until_it_was_read(
    make: Make, here: Installation, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    updates = found(make, qtbot)
    updates.download()
    qtbot.waitUntil(lambda: updates.state is UpdateState.READY)
    monkeypatch.setattr(engine_updates, "this_installation", lambda: here)
    assert start_new_version([], wanted=lambda: True) is None  # IMAGE ends without a window
    again = make()
    again.start()
    assert again.state is UpdateState.ROLLED_BACK
    box = news(again, qtbot)
    assert "did not open its window" in box.text()
    box.done(0)
    assert again.state is UpdateState.NONE
    assert here.refused == ""


def test_the_first_window_of_a_new_version_accepts_it(here: Installation, qtbot: QtBot) -> None:
    here.work.mkdir()
    here.path("app-2.0.0").write_bytes(b"new")
    here.propose("app-2.0.0")
    new = Installation("appimage", here.place, here.work, "app-2.0.0")
    updates = Updates(lambda: True, None, new)
    updates.start()
    assert here.place.read_bytes() == b"old"
    qtbot.waitUntil(lambda: here.place.read_bytes() == b"new")
    assert here.trial is None
    updates.close()


def test_a_check_is_made_once_a_day_even_if_it_fails(
    make: Make, server: LyingHub, asked: Path, qtbot: QtBot
) -> None:
    server.faults["releases.json"].append(drops(3))
    for _ in range(2):
        updates = make()
        updates.start()
        qtbot.waitUntil(lambda updates=updates: not updates.is_looking)
        assert updates.release is None
    assert len(server.asked) == 1
    os.utime(asked, (time.time() - DAY_S - 1,) * 2)
    found(make, qtbot)
    os.utime(asked, (time.time() + 400 * DAY_S,) * 2)  # the clock was set back
    found(make, qtbot)


def test_checks_are_made_while_the_program_runs(
    make: Make, server: LyingHub, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.startup.updates.LOOK_MS", 5)
    monkeypatch.setattr("app.startup.updates.DAY_S", 0)
    make().start()
    qtbot.waitUntil(lambda: len(server.asked) > 1)


def test_without_a_state_file_nothing_is_asked(
    make: Make, server: LyingHub, asked: Path, qtbot: QtBot
) -> None:
    asked.parent.write_text("in the way")
    updates = make()
    updates.start()
    qtbot.waitUntil(lambda: not updates.is_looking)
    assert server.asked == []
