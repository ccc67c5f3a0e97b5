import time
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.wizard.downloads import POLL_MS, Downloads, Entry
from app.wizard.indicator import DownloadIndicator
from engine import catalog
from engine.hub import Hub, Stop, move, unfinished
from tests.engine.hub.conftest import FILE, ID, offer
from tests.engine.hub.lying_hub import LyingHub, says, stalls

TARGET = f"{ID}/{FILE}"


def begun(
    downloads: Downloads,
    server: LyingHub,
    models: Path,
    stuck_at: int | None = None,
    target: str = TARGET,
    draft: str = "none",
) -> Entry:
    wanted = offer(server)
    if stuck_at is not None:
        server.faults[FILE].append(stalls(stuck_at))
    return downloads.begin(wanted, models, target, draft)


def state(entry: Entry) -> str:
    return entry.shown.state


def test_a_download_is_told_when_it_is_here(
    qtbot: QtBot, downloads: Downloads, server: LyingHub, own_models: Path
) -> None:
    with qtbot.waitSignal(downloads.finished) as told:
        entry = begun(downloads, server, own_models)
    assert told.args == [entry]
    assert state(entry) == "done"
    assert (own_models / TARGET).is_file()
    assert catalog.resolve(entry.target) == own_models / TARGET


def test_paused_it_stays_and_goes_on_where_it_was(
    qtbot: QtBot, downloads: Downloads, server: LyingHub, own_models: Path
) -> None:
    entry = begun(downloads, server, own_models, stuck_at=100_000)
    qtbot.waitUntil(lambda: entry.shown.done == 100_000)
    downloads.pause(entry)
    qtbot.waitUntil(lambda: state(entry) == "paused")
    with qtbot.waitSignal(downloads.finished):
        downloads.resume(entry)
    assert server.sent_nbytes == 300_000


def test_cancelled_it_is_gone_from_the_list_and_from_the_disk(
    qtbot: QtBot, downloads: Downloads, server: LyingHub, own_models: Path
) -> None:
    entry = begun(downloads, server, own_models, stuck_at=100_000)
    qtbot.waitUntil(lambda: entry.shown.done == 100_000)
    downloads.cancel(entry)
    qtbot.waitUntil(lambda: downloads.entries == [])
    assert unfinished(own_models) == []


def test_the_same_files_are_not_downloaded_twice_at_once(
    qtbot: QtBot, downloads: Downloads, server: LyingHub, own_models: Path
) -> None:
    entry = begun(downloads, server, own_models, stuck_at=1000)
    assert downloads.begin(entry.download.item, own_models, TARGET, "none") is entry
    assert downloads.entries == [entry]


def test_what_fails_is_told_with_its_next_step_and_may_be_tried_again(
    qtbot: QtBot, downloads: Downloads, server: LyingHub, own_models: Path
) -> None:
    wanted = offer(server)
    server.faults[FILE].append(says(404, X_Error_Code="EntryNotFound"))
    with qtbot.waitSignal(downloads.stopped) as told:
        downloads.begin(wanted, own_models, TARGET, "none")
    [entry] = told.args
    assert state(entry) == "failed"
    assert entry.shown.trouble
    assert entry.shown.hint
    with qtbot.waitSignal(downloads.finished):
        downloads.resume(entry)


def test_another_run_shows_what_was_left_and_starts_nothing_by_itself(
    qtbot: QtBot, downloads: Downloads, server: LyingHub, own_models: Path
) -> None:
    entry = begun(downloads, server, own_models, stuck_at=100_000)
    qtbot.waitUntil(lambda: entry.shown.done == 100_000)
    downloads.close()
    again = Downloads(lambda: Hub(server.endpoint))
    asked = len(server.ranges())
    with qtbot.waitSignal(again.found), qtbot.assertNotEmitted(again.lacking):
        again.look_around()
    [found] = again.entries
    assert (state(found), found.target, found.draft) == ("waiting", TARGET, "none")
    assert len(server.ranges()) == asked
    with qtbot.waitSignal(again.finished):
        again.resume(found)
    assert server.sent_nbytes == 300_000
    again.close()


def test_a_draft_that_alone_was_missing_is_no_target_after_a_restart(
    qtbot: QtBot, downloads: Downloads, server: LyingHub, own_models: Path
) -> None:
    entry = begun(downloads, server, own_models, stuck_at=100_000, target="elsewhere/target", draft=TARGET)
    qtbot.waitUntil(lambda: entry.shown.done == 100_000)
    downloads.close()
    again = Downloads(lambda: Hub(server.endpoint))
    with qtbot.waitSignal(again.found):
        again.look_around()
    assert [(each.target, each.draft) for each in again.entries] == [("elsewhere/target", TARGET)]
    again.close()


def test_moved_with_the_models_it_goes_on_in_their_new_folder(
    qtbot: QtBot, downloads: Downloads, server: LyingHub, own_models: Path, tmp_path: Path
) -> None:
    entry = begun(downloads, server, own_models, stuck_at=100_000)
    qtbot.waitUntil(lambda: entry.shown.done == 100_000)
    downloads.pause(entry)
    qtbot.waitUntil(lambda: state(entry) == "paused")
    elsewhere = tmp_path / "elsewhere"
    move(own_models, elsewhere, Stop(), lambda done, total: None, catalog.keep_models_folder)
    with qtbot.waitSignal(downloads.found):
        downloads.follow_models()
    [found] = downloads.entries
    with qtbot.waitSignal(downloads.finished):
        downloads.begin(found.download.item, elsewhere, TARGET, "none")
    assert found.draft == "none"
    assert (elsewhere / TARGET).is_file()
    assert server.sent_nbytes == 300_000


def test_a_machine_with_no_model_but_the_shipped_one_lacks_one(
    qtbot: QtBot, downloads: Downloads, server: LyingHub, own_models: Path
) -> None:
    own_models.mkdir()
    shipped = next(variant for variant in catalog.entries().values() if variant.embedded)
    (own_models / shipped.file).write_bytes(b"GGUF")
    with qtbot.waitSignal(downloads.lacking):
        downloads.look_around()
    with qtbot.waitSignal(downloads.finished):
        begun(downloads, server, own_models)
    again = Downloads(lambda: Hub(server.endpoint))
    with qtbot.assertNotEmitted(again.lacking, wait=300):
        again.look_around()
    again.close()


def test_progress_is_told_at_most_four_times_a_second(
    qtbot: QtBot, downloads: Downloads, server: LyingHub, own_models: Path
) -> None:
    server.bytes_per_s = 300_000
    told: list[float] = []
    begun(downloads, server, own_models)
    downloads.changed.connect(lambda: told.append(time.monotonic()))
    with qtbot.waitSignal(downloads.finished, timeout=10_000):
        pass
    assert len(told) > 2
    assert told[-1] - told[0] >= 0.9 * POLL_MS / 1000 * (len(told) - 1)
    assert not downloads._timer.isActive()


@pytest.fixture
def indicator(qtbot: QtBot, downloads: Downloads) -> DownloadIndicator:
    made = DownloadIndicator(downloads)
    qtbot.addWidget(made)
    return made


def test_the_indicator_is_there_while_there_is_something_to_say(
    qtbot: QtBot,
    downloads: Downloads,
    server: LyingHub,
    own_models: Path,
    indicator: DownloadIndicator,
) -> None:
    assert indicator.isHidden()
    entry = begun(downloads, server, own_models, stuck_at=150_000)
    qtbot.waitUntil(lambda: indicator.text().startswith("50"))
    assert not indicator.isHidden()
    downloads.pause(entry)
    qtbot.waitUntil(lambda: indicator.text() == "Download paused")
    assert entry.shown.title in indicator.accessibleDescription()
    with qtbot.waitSignal(downloads.finished):
        downloads.resume(entry)
    qtbot.waitUntil(lambda: indicator.text() == "Model ready")
    downloads.see(entry)
    assert indicator.isHidden()


def test_the_indicator_says_that_a_download_stopped(
    qtbot: QtBot, downloads: Downloads, server: LyingHub, own_models: Path, indicator: DownloadIndicator
) -> None:
    wanted = offer(server)
    server.faults[FILE].append(says(404, X_Error_Code="EntryNotFound"))
    with qtbot.waitSignal(downloads.stopped):
        downloads.begin(wanted, own_models, TARGET, "none")
    qtbot.waitUntil(lambda: indicator.text() == "Download stopped")
    [entry] = downloads.entries
    assert entry.shown.trouble in indicator.toolTip()
