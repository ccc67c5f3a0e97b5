"""Measured figures outlive the process; a file that cannot be understood is as none."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.machine.data import DiskSpeed, LinkSpeed
from engine.machine.kept import Kept, is_fresh, now, read, remember_disk, remember_link

SPEED = DiskSpeed(1.5, None, datetime(2026, 3, 1, 12, 30, tzinfo=UTC))


def test_what_was_measured_is_read_again(data_folder: Path):
    assert read() == Kept()
    remember_disk("/", SPEED)
    remember_disk("/mnt/big disk", DiskSpeed(None, 0.2, SPEED.measured))
    remember_link("8d5d2a33", 25.5)
    remember_link("8d5d2a33", 26.5)
    kept = read()
    assert kept.disks == {"/": SPEED, "/mnt/big disk": DiskSpeed(None, 0.2, SPEED.measured)}
    assert kept.links == {"8d5d2a33": LinkSpeed(26.5, kept.links["8d5d2a33"].measured)}
    assert is_fresh(kept.links["8d5d2a33"].measured)
    assert [file.name for file in data_folder.iterdir()] == ["machine.json"]


def test_a_reader_never_sees_half_a_file(data_folder: Path):
    remember_disk("/", SPEED)
    before = data_folder / "before"
    before.hardlink_to(data_folder / "machine.json")
    content = before.read_bytes()
    remember_link("8d5d2a33", 25.5)
    assert before.read_bytes() == content, "the file was written to, not replaced"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\x00",
        b'{"disks": {"/": {}}}',
        b'{"links": {"a": {"gb_per_s": 0, "measured": "2026-03-01T12:30:00Z"}}}',
        b'{"links": {"a": {"gb_per_s": 9, "measured": "2026-03-01T12:30:00"}}}',
        b'{"links": {"a": {"gb_per_s": "fast", "measured": "2026-03-01T12:30:00Z"}}}',
    ],
)
def test_a_garbled_file_is_as_none_and_is_replaced(data_folder: Path, content: bytes):
    data_folder.mkdir(parents=True)
    (data_folder / "machine.json").write_bytes(content)
    assert read() == Kept()
    remember_disk("/", SPEED)
    assert read() == Kept({"/": SPEED}, {})


def test_a_folder_that_cannot_be_made_keeps_nothing(data_folder: Path):
    data_folder.parent.mkdir(parents=True)
    data_folder.write_text("a file is in its place")
    remember_disk("/", SPEED)
    assert read() == Kept()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a folder that refuses")
def test_a_folder_that_cannot_be_written_keeps_what_it_had(data_folder: Path):
    remember_disk("/", SPEED)
    data_folder.chmod(0o500)
    remember_link("8d5d2a33", 25.5)
    data_folder.chmod(0o700)
    assert read() == Kept({"/": SPEED}, {})


def test_figures_age_within_a_week_and_none_is_of_the_future():
    assert is_fresh(now())
    assert is_fresh(now() - timedelta(days=6))
    assert not is_fresh(now() - timedelta(days=7))
    assert not is_fresh(now() + timedelta(days=1))
