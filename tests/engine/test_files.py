"""Files that are written whole or not at all."""

import os
from pathlib import Path

import pytest

from engine.errors import BadOption
from engine.files import make_private_folder, named_path, open_private, replacing, sync_folder, write_whole


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with old content, alone in its folder."""
    path = tmp_path / "file.json"
    path.write_bytes(b"old")
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_new_content_replaces_the_old_and_leaves_nothing_beside_it(file):
    write_whole(file, b"new")
    assert file.read_bytes() == b"new"
    assert names(file.parent) == [file.name]


def test_a_file_is_created_where_there_was_none(tmp_path):
    write_whole(tmp_path / "fresh", b"new")
    assert (tmp_path / "fresh").read_bytes() == b"new"
    assert names(tmp_path) == ["fresh"]


@pytest.mark.parametrize("single_writer", [False, True])
def test_an_exception_in_the_middle_keeps_the_old_content(file, single_writer):
    def write() -> None:
        with replacing(file, single_writer) as temporary:
            temporary.write_bytes(b"ne")
            assert temporary.parent == file.parent, "replacing is atomic only within one file system"
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert file.read_bytes() == b"old"
    assert names(file.parent) == [file.name]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_disk_that_fails_keeps_the_old_content(file, monkeypatch, failing):
    def fail(*arguments):
        raise OSError("the disk is gone")

    monkeypatch.setattr(os if failing == "fsync" else Path, failing, fail)
    with pytest.raises(OSError, match="the disk is gone"):
        write_whole(file, b"new")
    assert file.read_bytes() == b"old"
    assert names(file.parent) == [file.name]


def test_content_is_flushed_before_it_gets_the_name_and_the_name_after(file, monkeypatch):
    flushed = []

    def fsync(descriptor: int, original=os.fsync) -> None:
        is_folder = os.path.isdir(descriptor) if os.name != "nt" else False  # noqa: PTH112 - a descriptor
        flushed.append(("folder" if is_folder else "content", file.read_bytes()))
        original(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    write_whole(file, b"new")
    assert flushed == [("content", b"old"), ("folder", b"new")][: 1 if os.name == "nt" else 2]


def test_two_writers_at_once_never_share_a_temporary_file(file):
    with replacing(file) as first, replacing(file) as second:
        assert first != second
        first.write_bytes(b"first")
        second.write_bytes(b"second")
    assert file.read_bytes() == b"first", "the outer one ends last"
    assert names(file.parent) == [file.name]


def test_a_single_writer_overwrites_what_a_killed_one_left(file):
    with pytest.raises(ZeroDivisionError), replacing(file, single_writer=True) as temporary:
        raise ZeroDivisionError
    temporary.write_bytes(b"left by a process that was killed")
    write_whole(file, b"new", single_writer=True)
    assert file.read_bytes() == b"new"
    assert names(file.parent) == [file.name]


def test_a_folder_that_is_missing_or_a_file_raises(tmp_path, file):
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "missing" / "file", b"new")
    with pytest.raises(NotADirectoryError if os.name != "nt" else OSError):
        write_whole(file / "file", b"new")
    assert names(tmp_path) == [file.name]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not bind this user")
def test_a_read_only_folder_raises_and_keeps_the_old_content(file):
    file.parent.chmod(0o500)
    try:
        with pytest.raises(PermissionError):
            write_whole(file, b"new")
    finally:
        file.parent.chmod(0o700)
    assert file.read_bytes() == b"old"


@pytest.mark.skipif(os.name == "nt", reason="Windows flushes no folders")
def test_a_folder_flush_that_is_not_supported_is_no_error_and_one_that_fails_is(tmp_path, monkeypatch):
    errors = [OSError(22, "Invalid argument"), OSError(5, "Input/output error")]

    def fsync(descriptor: int) -> None:
        raise errors.pop(0)

    monkeypatch.setattr(os, "fsync", fsync)
    sync_folder(tmp_path)
    with pytest.raises(OSError, match="Input/output"):
        sync_folder(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="on Windows, the user's own folders are private")
@pytest.mark.parametrize("is_appended", [False, True])
def test_a_private_file_is_for_this_user_only_also_an_older_one(file, is_appended):
    file.chmod(0o666)
    for path in (file, file.with_name("fresh")):
        with open_private(path, is_appended) as opened:
            opened.write(b"new")
        assert path.stat().st_mode & 0o777 == 0o600
    assert file.read_bytes() == (b"oldnew" if is_appended else b"new")
    with open_private(Path(os.devnull)) as opened:
        opened.write(b"a device keeps its rights")
    assert Path(os.devnull).stat().st_mode & 0o777 == 0o666


@pytest.mark.skipif(os.name == "nt", reason="on Windows, the user's own folders are private")
def test_a_private_folder_is_for_this_user_only_also_an_older_one(tmp_path):
    (tmp_path / "old").mkdir(0o755)
    for folder in (tmp_path / "old", tmp_path / "fresh"):
        make_private_folder(folder)
        assert folder.stat().st_mode & 0o777 == 0o700


def test_a_path_may_name_what_does_not_exist(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    for path in (tmp_path / "no" / "such", tmp_path / "file" / "in", tmp_path / "file"):
        assert named_path(str(path)) == path
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert named_path("~/file") == tmp_path / "file"


@pytest.mark.parametrize("text", ["x" * 300, "a/" * 4000, "a\0b", "~no-such-user/x", "\ud800"], ids=ascii)
@pytest.mark.skipif(os.name == "nt", reason="Windows has other limits")
def test_a_path_that_nothing_can_have_is_refused(text):
    with pytest.raises(BadOption, match="cannot be used") as refused:
        named_path(text)
    assert refused.value.hint == "Check the path."
    assert len(refused.value.message) < 400
