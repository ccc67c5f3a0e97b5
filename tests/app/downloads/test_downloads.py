import time
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from app.downloads.downloads import POLL_MS, Downloads, Entry, loaded_by
from app.downloads.indicator import DownloadIndicator
from engine import catalog
from engine.hub import Hub, Stop, choose, item, move, unfinished
from tests.engine.hub.conftest import FILE, ID, content, offer
from tests.engine.hub.lying_hub import LyingHub, Offered, says, stalls

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
    return entry.progress.state


def test_a_complete_download_is_announced(
    qtbot: QtBot, downloads: Downloads, server: LyingHub, own_models: Path
) -> None:
    with qtbot.waitSignal(downloads.finished) as emitted:
        entry = begun(downloads, server, own_models)
    assert emitted.args == [entry]
    assert state(entry) == "done"
    assert (own_models / TARGET).is_file()
    assert catalog.resolve(entry.target) == own_models / TARGET


def test_a_paused_download_resumes_where_it_stopped(
    qtbot: QtBot, downloads: Downloads, server: LyingHub, own_models: Path
) -> None:
    entry = begun(downloads, server, own_models, stuck_at=100_000)
    qtbot.waitUntil(lambda: entry.progress.done == 100_000)
    downloads.pause(entry)
    qtbot.waitUntil(lambda: state(entry) == "paused")
    with qtbot.waitSignal(downloads.finished):
        downloads.resume(entry)
    assert server.sent_nbytes == 300_000


def test_a_cancelled_download_leaves_the_list_and_the_disk(
    qtbot: QtBot, downloads: Downloads, server: LyingHub, own_models: Path
) -> None:
    entry = begun(downloads, server, own_models, stuck_at=100_000)
    qtbot.waitUntil(lambda: entry.progress.done == 100_000)
    downloads.cancel(entry)
    qtbot.waitUntil(lambda: downloads.entries == [])
    assert unfinished(own_models) == []


def test_the_same_files_are_not_downloaded_twice_at_once(
    qtbot: QtBot, downloads: Downloads, server: LyingHub, own_models: Path
) -> None:
    entry = begun(downloads, server, own_models, stuck_at=1000)
    assert downloads.begin(entry.download.item, own_models, TARGET, "none") is entry
    assert downloads.entries == [entry]


def test_a_failed_download_shows_a_hint_and_can_be_retried(
    qtbot: QtBot, downloads: Downloads, server: LyingHub, own_models: Path
) -> None:
    wanted = offer(server)
    server.faults[FILE].append(says(404, X_Error_Code="EntryNotFound"))
    with qtbot.waitSignal(downloads.stopped) as emitted:
        downloads.begin(wanted, own_models, TARGET, "none")
    [entry] = emitted.args
    assert state(entry) == "failed"
    assert entry.progress.error
    assert entry.progress.hint
    with qtbot.waitSignal(downloads.finished):
        downloads.resume(entry)


def test_unfinished_downloads_of_an_earlier_run_are_listed_but_not_started(
    qtbot: QtBot, downloads: Downloads, server: LyingHub, own_models: Path
) -> None:
    entry = begun(downloads, server, own_models, stuck_at=100_000)
    qtbot.waitUntil(lambda: entry.progress.done == 100_000)
    downloads.close()
    again = Downloads(lambda: Hub(server.endpoint))
    asked = len(server.ranges())
    with qtbot.waitSignal(again.found):
        again.look_around()
    [found] = again.entries
    assert (state(found), found.target, found.draft) == ("waiting", TARGET, "none")
    assert len(server.ranges()) == asked
    with qtbot.waitSignal(again.finished):
        again.resume(found)
    assert server.sent_nbytes == 300_000
    again.close()


def test_a_download_of_the_draft_alone_keeps_its_target_after_a_restart(
    qtbot: QtBot, downloads: Downloads, server: LyingHub, own_models: Path
) -> None:
    entry = begun(downloads, server, own_models, stuck_at=100_000, target="elsewhere/target", draft=TARGET)
    qtbot.waitUntil(lambda: entry.progress.done == 100_000)
    downloads.close()
    again = Downloads(lambda: Hub(server.endpoint))
    with qtbot.waitSignal(again.found):
        again.look_around()
    assert [(each.target, each.draft) for each in again.entries] == [("elsewhere/target", TARGET)]
    again.close()


def test_a_download_moved_with_the_models_resumes_in_the_new_folder(
    qtbot: QtBot, downloads: Downloads, server: LyingHub, own_models: Path, tmp_path: Path
) -> None:
    entry = begun(downloads, server, own_models, stuck_at=100_000)
    qtbot.waitUntil(lambda: entry.progress.done == 100_000)
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


def test_a_machine_with_only_the_shipped_model_lacks_a_model(
    qtbot: QtBot, downloads: Downloads, server: LyingHub, own_models: Path
) -> None:
    own_models.mkdir()
    shipped = next(variant for variant in catalog.entries().values() if variant.embedded)
    (own_models / shipped.file).write_bytes(b"GGUF")
    downloads.look_around()
    qtbot.waitUntil(lambda: downloads.lacks_model)
    with qtbot.waitSignal(downloads.finished):
        begun(downloads, server, own_models)
    assert not downloads.lacks_model
    again = Downloads(lambda: Hub(server.endpoint))
    with qtbot.waitSignal(again.changed):
        again.look_around()
    assert not again.lacks_model
    again.close()


def test_the_indicator_offers_a_model_where_there_is_only_the_shipped_one(
    qtbot: QtBot, downloads: Downloads, server: LyingHub, own_models: Path, indicator: DownloadIndicator
) -> None:
    assert indicator.isHidden()
    downloads.look_around()
    qtbot.waitUntil(lambda: not indicator.isHidden())
    assert indicator.text() == "Get a model"
    with qtbot.waitSignal(downloads.finished):
        entry = begun(downloads, server, own_models)
    assert indicator.text() == "Model ready"
    downloads.mark_seen(entry)
    assert indicator.isHidden()


def test_progress_is_emitted_at_most_four_times_a_second(
    qtbot: QtBot, downloads: Downloads, server: LyingHub, own_models: Path
) -> None:
    server.bytes_per_s = 300_000
    emitted: list[float] = []
    begun(downloads, server, own_models)
    downloads.changed.connect(lambda: emitted.append(time.monotonic()))
    with qtbot.waitSignal(downloads.finished, timeout=10_000):
        pass
    assert len(emitted) > 2
    assert emitted[-1] - emitted[0] >= 0.9 * POLL_MS / 1000 * (len(emitted) - 1)
    assert not any(timer.isActive() for timer in downloads.findChildren(QTimer))


def test_of_two_models_in_one_repository_the_larger_is_the_target(server: LyingHub) -> None:
    server.repositories["o/m"] = Offered({"small.gguf": content(100), "large.gguf": content(900)})
    repository = Hub(server.endpoint).repository("o/m")
    both = item("m", choose(repository, ["small.gguf"]), choose(repository, ["large.gguf"]))
    assert loaded_by(both) == ("o/m/large.gguf", "o/m/small.gguf")


def test_a_single_model_is_loaded_with_the_best_available_draft(server: LyingHub) -> None:
    server.repositories["o/m"] = Offered({"model.safetensors": content(9), "config.json": b"{}"})
    assert loaded_by(item("m", choose(Hub(server.endpoint).repository("o/m")))) == ("o/m", "auto")


@pytest.fixture
def indicator(qtbot: QtBot, downloads: Downloads) -> DownloadIndicator:
    made = DownloadIndicator(downloads)
    qtbot.addWidget(made)
    return made


def test_the_indicator_is_visible_while_a_download_is_unseen(
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
    assert entry.progress.title in indicator.accessibleDescription()
    with qtbot.waitSignal(downloads.finished):
        downloads.resume(entry)
    qtbot.waitUntil(lambda: indicator.text() == "Model ready")
    downloads.mark_seen(entry)
    assert indicator.isHidden()


def test_the_indicator_shows_that_a_download_stopped(
    qtbot: QtBot, downloads: Downloads, server: LyingHub, own_models: Path, indicator: DownloadIndicator
) -> None:
    wanted = offer(server)
    server.faults[FILE].append(says(404, X_Error_Code="EntryNotFound"))
    with qtbot.waitSignal(downloads.stopped):
        downloads.begin(wanted, own_models, TARGET, "none")
    qtbot.waitUntil(lambda: indicator.text() == "Download stopped")
    [entry] = downloads.entries
    assert entry.progress.error in indicator.toolTip()
