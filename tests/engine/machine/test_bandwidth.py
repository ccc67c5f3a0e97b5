"""Measuring a disk: a simulated one with its own clock, and once this machine's."""

import errno
import os
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine.errors import DiskProblem, StreamBroken
from engine.machine import bandwidth
from engine.machine.bandwidth import LEAST_NBYTES, MOST_NBYTES, measure_disk
from engine.machine.disk_reads import PIECE_NBYTES
from engine.streaming import DiskFile


class Disk:
    """A simulated disk with two read speeds in GB/s; direct 0: direct reads are refused. Also the clock."""

    def __init__(self, direct: float, buffered: float) -> None:
        self.gb_per_s = {True: direct, False: buffered}
        self.seconds = 0.0
        self.done: list[tuple[bool, str, int]] = []  # reads: whether direct, file name, offset
        self.opened: list[File] = []
        self._lock = threading.Lock()

    def open(self, path: Path, direct: bool) -> "File":
        self.opened.append(File(self, path, direct and self.gb_per_s[True] > 0))
        return self.opened[-1]

    def read(self, direct: bool, name: str, offset: int, nbytes: int) -> None:
        with self._lock:
            self.done.append((direct, name, offset))
            self.seconds += nbytes / self.gb_per_s[direct] / 1e9


class File:
    def __init__(self, disk: Disk, path: Path, direct: bool) -> None:
        self.direct, self.closed, self.cached = direct, False, True
        self._disk, self._path = disk, path

    def read(self, into: memoryview, offset: int, needed: int) -> None:
        assert len(into) == needed == PIECE_NBYTES
        assert offset % 4096 == 0
        assert not self.cached, "this would measure memory, not the disk"
        if offset + needed > self._path.stat().st_size:
            raise StreamBroken("it ends", "")
        self._disk.read(self.direct, self._path.name, offset, needed)

    def forget(self) -> None:
        self.cached = False

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def models(tmp_path: Path) -> Path:
    folder = tmp_path / "models"
    folder.mkdir()
    return folder


def model(folder: Path, name: str, nbytes: int) -> None:
    """Create a sparse file."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as file:
        file.truncate(nbytes)


def measured(monkeypatch: pytest.MonkeyPatch, folder: Path, disk: Disk, system: str = "linux"):
    monkeypatch.setattr(bandwidth, "time", SimpleNamespace(perf_counter=lambda: disk.seconds))
    monkeypatch.setattr(bandwidth, "sys", SimpleNamespace(platform=system))
    speed = measure_disk(folder, disk.open)
    assert all(file.closed for file in disk.opened)
    return speed


def test_existing_models_are_read_both_ways(monkeypatch, models):
    model(models, "a.gguf", LEAST_NBYTES)
    model(models, "folder/b.safetensors", LEAST_NBYTES + 12345)
    model(models, "video.mkv", 4 * LEAST_NBYTES)
    disk = Disk(direct=2.0, buffered=0.5)
    speed = measured(monkeypatch, models, disk)
    # The first piece is read into both buffers, but not timed.
    assert speed.direct_gb_per_s == pytest.approx(2.0)
    assert speed.buffered_gb_per_s == pytest.approx(0.5)
    assert speed.best_gb_per_s == speed.direct_gb_per_s
    assert {name for _, name, _ in disk.done} == {"a.gguf", "b.safetensors"}
    directly = {(name, offset) for direct, name, offset in disk.done if direct}
    assert not directly & {(name, offset) for direct, name, offset in disk.done if not direct}
    assert sorted(file.name for file in models.rglob("*")) == [
        "a.gguf",
        "b.safetensors",
        "folder",
        "video.mkv",
    ]


def test_a_slow_disk_is_read_for_a_second_and_a_fast_one_for_a_gibibyte(monkeypatch, models):
    model(models, "large.gguf", 4 * MOST_NBYTES)
    slow = Disk(direct=0.05, buffered=0.05)
    assert measured(monkeypatch, models, slow).best_gb_per_s == pytest.approx(0.05)
    assert 2 < slow.seconds < 3
    fast = Disk(direct=50.0, buffered=50.0)
    assert measured(monkeypatch, models, fast).best_gb_per_s == pytest.approx(50)
    # The first piece of each way is read into both buffers, but not timed.
    assert len(fast.done) == 2 * (MOST_NBYTES // PIECE_NBYTES + 1)


def test_refused_direct_reads_have_no_bandwidth(monkeypatch, models):
    model(models, "a.gguf", LEAST_NBYTES)
    speed = measured(monkeypatch, models, Disk(direct=0, buffered=0.3))
    assert speed.direct_gb_per_s is None
    assert speed.best_gb_per_s == pytest.approx(0.3)


def test_windows_cache_is_not_measured_as_the_disk(monkeypatch, models):
    model(models, "a.gguf", LEAST_NBYTES)
    assert measured(monkeypatch, models, Disk(2.0, 9.0), "win32").buffered_gb_per_s is None
    assert measured(monkeypatch, models, Disk(0, 0.3), "win32").buffered_gb_per_s == pytest.approx(0.3)


def test_without_a_large_model_a_file_is_written_and_removed(monkeypatch, models):
    model(models, "small.gguf", LEAST_NBYTES - PIECE_NBYTES)
    (models / "folder.gguf").mkdir()
    before = set(models.iterdir())
    disk = Disk(direct=1.0, buffered=1.0)
    assert measured(monkeypatch, models, disk).best_gb_per_s == pytest.approx(1.0)
    assert {name for _, name, _ in disk.done} == {"random"}
    assert set(models.iterdir()) == before


def test_writing_to_a_slow_disk_ends_after_a_second(monkeypatch, models):
    disk = Disk(direct=1.0, buffered=1.0)

    def slowly(file: int) -> None:
        disk.seconds += 0.3

    monkeypatch.setattr(os, "fsync", slowly)
    measured(monkeypatch, models, disk)
    assert len(disk.done) == 4 + 2  # each way: half of four pieces, the first piece twice


def test_a_folder_that_cannot_be_written_is_a_named_error(monkeypatch, models):
    def refused(*args, **kwargs):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(bandwidth, "TemporaryDirectory", refused)
    with pytest.raises(DiskProblem, match="cannot be written") as caught:
        measure_disk(models, Disk(1.0, 1.0).open)
    assert caught.value.hint


def test_a_full_disk_is_a_named_error_and_leaves_nothing(monkeypatch, models):
    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskProblem, match="No space"):
        measure_disk(models, Disk(1.0, 1.0).open)
    assert list(models.iterdir()) == []


def test_a_read_error_is_passed_on_and_files_are_closed(monkeypatch, models):
    model(models, "a.gguf", LEAST_NBYTES)
    disk = Disk(1.0, 1.0)

    def broken(direct: bool, name: str, offset: int, nbytes: int) -> None:
        if offset > 0:
            raise StreamBroken("it cannot be read", "")

    disk.read = broken
    with pytest.raises(StreamBroken):
        measure_disk(models, disk.open)
    assert disk.opened
    assert all(file.closed for file in disk.opened)


def test_this_machines_disk_can_be_measured(monkeypatch, models):
    monkeypatch.setattr(bandwidth, "LEAST_NBYTES", 8 * PIECE_NBYTES)
    speed = measure_disk(models, DiskFile)
    assert speed.best_gb_per_s > 0.001
    assert list(models.iterdir()) == []
