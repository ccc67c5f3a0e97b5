"""Stored bandwidths persist; an invalid file counts as missing."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.machine.data import DiskSpeed, LinkSpeed
from engine.machine.stored_speeds import StoredSpeeds, is_fresh, now, read, remember_disk, remember_link

SPEED = DiskSpeed(1.5, None, datetime(2026, 3, 1, 12, 30, tzinfo=UTC))


def test_stored_bandwidths_are_read_back(data_folder: Path):
    assert read() == StoredSpeeds()
    remember_disk("/", SPEED)
    remember_disk("/mnt/big disk", DiskSpeed(None, 0.2, SPEED.measured))
    remember_link("8d5d2a33", LinkSpeed(25.5, now()))
    remember_link("8d5d2a33", LinkSpeed(26.5, now()))
    stored = read()
    assert stored.disks == {"/": SPEED, "/mnt/big disk": DiskSpeed(None, 0.2, SPEED.measured)}
    assert stored.links == {"8d5d2a33": LinkSpeed(26.5, stored.links["8d5d2a33"].measured)}
    assert is_fresh(stored.links["8d5d2a33"].measured)
    assert [file.name for file in data_folder.iterdir()] == ["machine.json"]


def test_a_reader_never_sees_half_a_file(data_folder: Path):
    remember_disk("/", SPEED)
    before = data_folder / "before"
    before.hardlink_to(data_folder / "machine.json")
    content = before.read_bytes()
    remember_link("8d5d2a33", LinkSpeed(25.5, now()))
    assert before.read_bytes() == content, "the file was overwritten in place"


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
def test_an_invalid_file_is_ignored_and_replaced(data_folder: Path, content: bytes):
    data_folder.mkdir(parents=True)
    (data_folder / "machine.json").write_bytes(content)
    assert read() == StoredSpeeds()
    remember_disk("/", SPEED)
    assert read() == StoredSpeeds({"/": SPEED}, {})


def test_nothing_is_stored_where_the_folder_cannot_be_created(data_folder: Path):
    data_folder.parent.mkdir(parents=True)
    data_folder.write_text("a file is in its place")
    remember_disk("/", SPEED)
    assert read() == StoredSpeeds()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a read-only folder")
def test_a_read_only_folder_keeps_its_values(data_folder: Path):
    remember_disk("/", SPEED)
    data_folder.chmod(0o500)
    remember_link("8d5d2a33", LinkSpeed(25.5, now()))
    data_folder.chmod(0o700)
    assert read() == StoredSpeeds({"/": SPEED}, {})


def test_bandwidths_are_fresh_for_a_week_and_never_from_the_future():
    assert is_fresh(now())
    assert is_fresh(now() - timedelta(days=6))
    assert not is_fresh(now() - timedelta(days=7))
    assert not is_fresh(now() + timedelta(days=1))
