"""Downloads as the user sees them: paused, resumed, cancelled, short of disk space; their progress."""

import errno
import hashlib
import os
import time
from io import FileIO
from pathlib import Path

import msgspec
import psutil
import pytest

from engine.hub import Download, Hub, Limit, choose, disk, item, manifest, part, unfinished
from engine.hub.lock import locked
from engine.hub.part import Sidecar
from engine.hub.progress import TransferRate
from tests.engine.hub.conftest import FILE, ID, QUICK, asked, content, finished, offer, wait_for
from tests.engine.hub.lying_hub import COMMIT, LyingHub, Offered, silent, stalls

NBYTES = 300_000
DRAFT = "owner/draft"
FOLDER = {
    "config.json": b"{}",
    "tokenizer.json": b"{ }",
    "model-00001-of-00002.safetensors": content(120_000, 1),
    "model-00002-of-00002.safetensors": content(150_000, 2),
    "model.safetensors.index.json": b'{"weight_map": {}}',
}


def arrived(server: LyingHub, models: Path, id: str = ID) -> bool:
    files = server.repositories[id].files
    return all((models / id / name).read_bytes() == content for name, content in files.items())


def left(models: Path) -> list[str]:
    """The files in the models folder, except locks."""
    return sorted(path.name for path in models.rglob("*") if path.is_file() and path.suffix != ".lock")


def begun(server: LyingHub, models: Path, after: int = 100_000) -> Download:
    """A running download whose server stalls after this many bytes of the file."""
    wanted = offer(server, NBYTES)
    server.faults[FILE].append(stalls(after))
    running = Download(
        wanted, models, Hub(server.endpoint)
    )  # with default patience: only a stop ends the silence
    running.start()
    wait_for(running, after)
    return running


def test_a_pause_ends_even_a_silent_connection_at_once_and_resume_continues(server, models):
    running = begun(server, models)
    began = time.monotonic()
    running.pause()
    assert running.wait(10).state == "paused"
    assert time.monotonic() - began < 2
    assert running.error is None
    running.resume()
    assert running.wait(10).state == "done"
    assert arrived(server, models)
    assert server.sent_nbytes == NBYTES


def test_a_pause_ends_a_wait_for_the_head_of_an_answer(server, models):
    wanted = offer(server)
    server.faults[FILE].append(silent)
    running = Download(wanted, models, Hub(server.endpoint))
    running.start()
    while not server.ranges():
        time.sleep(0.005)
    running.pause()
    assert running.wait(5).state == "paused"


def test_resume_right_after_pause_is_not_lost(server, models):
    running = begun(server, models)
    running.pause()
    running.resume()
    assert running.wait(10).state == "done"
    assert arrived(server, models)


def test_another_run_of_the_program_continues_where_this_one_ended(server, models):
    first = begun(server, models)
    first.pause()
    first.wait(10)
    [found] = unfinished(models)
    assert found == first.item
    assert finished(server, found, models).progress().fetched_nbytes == NBYTES - 100_000
    assert arrived(server, models)
    assert unfinished(models) == []


@pytest.mark.parametrize("paused", [True, False], ids=["paused", "running"])
def test_cancel_leaves_nothing(server, models, paused):
    running = begun(server, models)
    if paused:
        running.pause()
        running.wait(10)
    running.cancel()
    assert running.wait(10).state == "cancelled"
    assert left(models) == []
    assert not (models / "owner").exists()
    running.start()
    assert running.wait(10).state == "cancelled"


def test_cancel_after_the_end_changes_nothing(server, models):
    done = finished(server, offer(server), models)
    done.cancel()
    assert done.wait(10).state == "done"
    assert arrived(server, models)


def test_several_files_download_at_once_and_none_is_visible_before_all_are_complete(server, models):
    server.repositories[ID] = Offered(FOLDER)
    shards = [name for name in FOLDER if name.endswith(".safetensors")]
    for name in shards:
        server.faults[name].append(stalls(50_000))
    running = Download(asked(server), models, Hub(server.endpoint))
    running.start()
    wait_for(running, 100_000 + 20)
    assert {file.state for file in running.progress().files if file.done_nbytes == 50_000} == {"downloading"}
    assert not [path for path in left(models) if path in FOLDER]
    running.pause()
    running.wait(10)
    running.resume()
    assert running.wait(10).state == "done"
    assert arrived(server, models)
    assert server.sent_nbytes == sum(map(len, FOLDER.values()))


def test_files_complete_before_a_restart_are_not_requested_again(server, models):
    last = "model-00002-of-00002.safetensors"
    server.repositories[ID] = Offered(FOLDER)
    server.faults[last].append(stalls(0))
    first = Download(asked(server), models, Hub(server.endpoint))
    first.start()
    wait_for(first, sum(map(len, FOLDER.values())) - len(FOLDER[last]))
    first.pause()
    first.wait(10)
    server.asked.clear()
    finished(server, first.item, models)
    assert arrived(server, models)
    assert [asked.path.rpartition("/")[2] for asked in server.asked] == [last]


def test_a_pair_is_one_item(server, models):
    target = offer(server)
    draft = offer(server, 50_000, DRAFT)
    pair = item("both", *target.repositories, *draft.repositories)
    assert pair.nbytes == NBYTES + 50_000
    done = finished(server, pair, models)
    assert done.progress().nbytes == pair.nbytes
    assert arrived(server, models)
    assert arrived(server, models, DRAFT)


def test_existing_files_are_checked_and_not_downloaded(server, models):
    wanted = offer(server)
    (models / ID).mkdir(parents=True)
    (models / ID / FILE).write_bytes(server.repositories[ID].files[FILE])
    assert finished(server, wanted, models).progress().state == "done"
    assert server.sent_nbytes == 0
    (models / ID / FILE).write_bytes(bytes(NBYTES))
    assert finished(server, wanted, models).progress().state == "done"
    assert arrived(server, models)


def test_a_newer_commit_replaces_the_older(server, models):
    server.repositories[ID] = Offered(FOLDER)
    finished(server, asked(server), models)
    newer = {"config.json": b"{ }", "tokenizer.json": b"{ }", "model.safetensors": content(90_000, 3)}
    server.repositories[ID] = Offered(newer, commit="f" * 40)
    finished(server, asked(server), models)
    assert arrived(server, models)
    assert left(models) == sorted([*newer, "specexec.json"])


def test_gguf_files_of_a_repository_stay_when_other_files_of_it_are_downloaded(server, models):
    server.repositories[ID] = Offered({"a.gguf": content(100), "b.gguf": content(200)})
    for name in ("a.gguf", "b.gguf"):
        finished(server, item(name, choose(Hub(server.endpoint).repository(ID), [name])), models)
    server.repositories[ID].files |= FOLDER
    finished(server, item("folder", choose(Hub(server.endpoint).repository(ID))), models)
    assert left(models) == sorted(["a.gguf", "b.gguf", "specexec.json", *FOLDER])
    assert manifest.read(models / ID).files.keys() == {"a.gguf", "b.gguf", *FOLDER}


def test_a_second_download_of_the_same_is_refused_while_the_first_runs(server, models):
    first = begun(server, models)
    second = finished(server, first.item, models)
    assert second.error is not None
    assert second.error.kind == "download_running"
    second.cancel()
    assert second.wait(10).state == "failed", "the partial files belong to the first"
    first.pause()
    first.wait(10)
    assert (models / ID / f"{FILE}.part").stat().st_size == 100_000
    with locked(models, [ID]):
        pass
    second.start()
    assert second.wait(10).state == "done"


# -- what a crash leaves -------------------------------------------------------------------------------------


def test_after_the_machine_went_down_only_synced_bytes_are_trusted(server, models, monkeypatch):
    monkeypatch.setattr(part, "SYNC_NBYTES", 65536)
    first = begun(server, models)
    first.pause()
    first.wait(10)
    grown = models / ID / f"{FILE}.part"
    with grown.open("ab") as file:
        file.write(bytes(5000))  # a tail of zeros, as some file systems leave
    monkeypatch.setattr(psutil, "boot_time", lambda: time.time() + 10)
    done = finished(server, first.item, models)
    assert arrived(server, models)
    assert done.progress().fetched_nbytes == NBYTES - 100_000


def test_a_part_whose_synced_bytes_changed_is_downloaded_again(server, models):
    first = begun(server, models)
    first.pause()
    first.wait(10)
    with (models / ID / f"{FILE}.part").open("r+b") as file:
        file.write(b"other")
    done = finished(server, first.item, models)
    assert arrived(server, models)
    assert done.progress().fetched_nbytes == NBYTES


@pytest.mark.parametrize("sidecar", [b"", b"{}", b"[1]", b'{"file": 1}', None])
def test_a_part_without_a_valid_sidecar_is_downloaded_again(server, models, sidecar):
    first = begun(server, models)
    first.pause()
    first.wait(10)
    path = models / ID / f"{FILE}.part.json"
    path.unlink() if sidecar is None else path.write_bytes(sidecar)
    assert finished(server, first.item, models).progress().fetched_nbytes == NBYTES
    assert arrived(server, models)


def test_a_part_of_different_content_is_downloaded_again(server, models):
    begun(server, models).pause()
    server.repositories[ID] = Offered({FILE: content(NBYTES, 7)}, commit="a" * 40)
    until = time.monotonic() + 10
    while (done := finished(server, asked(server), models)).progress().state == "failed":
        assert time.monotonic() < until  # the paused download has yet to release the lock
    assert arrived(server, models)
    assert done.progress().fetched_nbytes == NBYTES


# -- free space ----------------------------------------------------------------------------------------------


def test_free_space_for_the_whole_item_is_checked_first(server, models, monkeypatch):
    monkeypatch.setattr(disk, "free", lambda folder: disk.RESERVE + NBYTES - 1)
    short = finished(server, offer(server), models)
    assert short.progress().state == "paused"
    assert "too little free space" in short.progress().error
    assert server.ranges() == []
    monkeypatch.setattr(disk, "free", lambda folder: disk.RESERVE + NBYTES)
    short.resume()
    assert short.wait(10).state == "done"


def test_free_space_is_needed_only_for_missing_bytes(server, models, monkeypatch):
    running = begun(server, models)
    running.pause()
    running.wait(10)
    monkeypatch.setattr(disk, "free", lambda folder: disk.RESERVE + NBYTES - 100_000)
    running.resume()
    assert running.wait(10).state == "done"


@pytest.mark.parametrize("number", [errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)])
def test_a_disk_that_fills_up_pauses_the_download_and_loses_nothing(server, models, monkeypatch, number):
    quota = 123_456

    class Filling(FileIO):
        def write(self, data):
            room = quota - self.tell()
            if room <= 0:
                raise OSError(number, os.strerror(number))
            return super().write(memoryview(data)[:room])

    wanted = offer(server)
    with monkeypatch.context() as patched:
        patched.setattr(part, "FileIO", Filling)
        full = finished(server, wanted, models)
        assert full.progress().state == "paused"
        assert "disk is full" in full.progress().error
        assert full.error is not None
        assert full.error.kind == "disk"
    assert (models / ID / f"{FILE}.part").stat().st_size == quota
    full.resume()
    assert full.wait(10).state == "done"
    assert full.progress().files[0].done_nbytes == NBYTES
    assert server.ranges()[-1] == f"bytes={quota}-{NBYTES - 1}"
    assert arrived(server, models)


def test_a_disk_filled_by_others_pauses_it_too(server, models, monkeypatch):
    monkeypatch.setattr(part, "SYNC_NBYTES", 65536)
    room = iter([disk.RESERVE + NBYTES, disk.RESERVE])
    monkeypatch.setattr(disk, "free", lambda folder: next(room, disk.RESERVE - 1))
    running = finished(server, offer(server), models)
    assert running.progress().state == "paused"
    assert "nearly full" in running.progress().error
    assert 0 < running.progress().done_nbytes < NBYTES


def test_a_folder_that_cannot_be_written_is_a_named_error(server, tmp_path):
    (tmp_path / "file").write_text("no folder")
    failed = finished(server, offer(server), tmp_path / "file")
    assert failed.error is not None
    assert failed.error.kind == "disk"


# -- progress ------------------------------------------------------------------------------------------------


def test_progress_reports_bytes_speed_and_seconds_left(server, models):
    running = begun(server, models)
    seen = running.progress()
    assert (seen.state, seen.done_nbytes, seen.nbytes, seen.fetched_nbytes) == (
        "running",
        100_000,
        NBYTES,
        100_000,
    )
    [file] = seen.files
    assert (file.name, file.state, file.error) == (f"{ID}/{FILE}", "downloading", "")
    assert seen.bytes_per_s > 0
    assert seen.seconds_left is not None
    assert seen.seconds_left == pytest.approx((NBYTES - 100_000) / seen.bytes_per_s)
    running.pause()
    running.wait(10)
    assert running.progress().bytes_per_s == 0
    assert running.progress().seconds_left is None


def test_speed_is_that_of_the_last_seconds():
    now = 0.0
    speed = TransferRate(lambda: now)
    for _ in range(40):
        now += 0.5
        speed.add(1000)
    assert speed.bytes_per_s() == pytest.approx(2000, rel=0.06)
    now += 5
    assert speed.bytes_per_s() == pytest.approx(1000, rel=0.06)
    now += 6
    assert speed.bytes_per_s() == 0


def test_a_cap_holds_for_all_files_together():
    now = 0.0
    limit = Limit(1000, lambda: now)
    assert limit.delay(500) == pytest.approx(0.5)
    assert limit.delay(500) == pytest.approx(1.0)
    now = 3.0
    assert limit.delay(500) == pytest.approx(0.5), "idle time is not made up for"
    limit.bytes_per_s = 0
    assert limit.delay(10**9) == 0


def test_a_cap_slows_a_download(server, models):
    wanted = offer(server, 200_000)
    running = Download(wanted, models, Hub(server.endpoint), limit=Limit(400_000), patience=QUICK)
    began = time.monotonic()
    running.start()
    running.wait(10)
    assert time.monotonic() - began > 0.4
    assert arrived(server, models)


def test_the_commit_is_pinned(server, models):
    finished(server, offer(server), models)
    assert all(f"/resolve/{COMMIT}/" in asked.path for asked in server.asked if "range" in asked.headers)


def test_an_empty_file_needs_no_request(server, models):
    server.repositories[ID] = Offered({FILE: b""})
    assert finished(server, asked(server), models).progress().state == "done"
    assert server.ranges() == []


def test_a_bug_is_reported_and_leaves_no_model(server, models, monkeypatch):
    def broken(self, data):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(part.Part, "append", broken)
    failed = finished(server, offer(server), models)
    assert failed.progress().state == "failed"
    assert failed.error is not None
    assert failed.error.kind == "internal"
    assert not (models / ID / FILE).exists()


def test_a_sidecar_that_calls_a_wrong_part_whole_is_not_believed(server: LyingHub, models: Path):
    wanted = offer(server, 1000)
    file = wanted.repositories[0].files[0]
    (models / ID).mkdir(parents=True)
    (models / ID / f"{FILE}.part").write_bytes(bytes(1000))
    sidecar = Sidecar(file, synced=1000, digest=hashlib.sha256(bytes(1000)).hexdigest(), whole=True)
    (models / ID / f"{FILE}.part.json").write_bytes(msgspec.json.encode(sidecar))
    assert finished(server, wanted, models).progress().state == "done"
    assert (models / ID / FILE).read_bytes() == server.repositories[ID].files[FILE]
