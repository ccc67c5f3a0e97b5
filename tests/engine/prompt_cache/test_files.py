"""Blocks on the disk: they outlast the process, nobody else reads them, and damage is only read anew."""

import os
import stat
import subprocess
import sys
import time

import numpy as np
import pytest

from engine.prompt_cache import BlockFiles, PromptCache
from engine.prompt_cache import files as module

MIB = 1 << 20


def key(number):
    return number.to_bytes(32, "little")


def rows(number, nbytes=1000):
    return np.random.default_rng(number).integers(0, 256, nbytes, np.uint8)


def written(folder, *blocks, budget=MIB, owners=frozenset({"chat 1"})):
    files = BlockFiles(folder, budget)
    for number in blocks:
        files.write(key(number), rows(number), set(owners))
    files.close()


def blocks(folder):
    return [path for path in folder.iterdir() if path.name != module.LOCK]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "cache" / "prompts"


def test_blocks_outlast_the_process(folder):
    written(folder, 1, 2)
    files = BlockFiles(folder, MIB)
    owners, found = files.read(key(1), 1000)
    assert owners == {"chat 1"}
    np.testing.assert_array_equal(found, rows(1))
    assert key(2) in files
    assert files.read(key(3), 1000) is None
    files.close()


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps the user's own folders private")
def test_only_this_user_reads_them(folder):
    written(folder, 1)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in blocks(folder)] == [0o600]
    folder.chmod(0o777)
    with pytest.raises(PermissionError):
        BlockFiles(folder, MIB)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:40],
        lambda data: data[:-1],
        lambda data: data + b"x",
        lambda data: bytes([data[0] ^ 1]) + data[1:],
        lambda data: data[:500] + bytes([data[500] ^ 1]) + data[501:],
        lambda data: data[:48] + b"\xff\xff\xff\xff" + data[52:],
        lambda data: b"\0" * len(data),
    ],
)
def test_a_damaged_file_is_deleted_and_not_used(folder, damage):
    written(folder, 1)
    (path,) = blocks(folder)
    path.write_bytes(damage(path.read_bytes()))
    files = BlockFiles(folder, MIB)
    assert files.read(key(1), 1000) is None
    assert not path.exists()
    files.close()


def test_a_block_under_the_name_of_another_or_of_another_size_is_not_used(folder):
    written(folder, 1, 2)
    one, two = (folder / f"{key(number).hex()}.rows" for number in (1, 2))
    one.write_bytes(two.read_bytes())
    files = BlockFiles(folder, MIB)
    assert files.read(key(1), 1000) is None
    assert files.read(key(2), 999) is None
    files.close()


def test_the_budget_holds_and_the_oldest_give_way(folder):
    written(folder, *range(10), budget=5_500)
    files = BlockFiles(folder, 5_500)
    assert [number for number in range(10) if key(number) in files] == [5, 6, 7, 8, 9]
    assert files.nbytes == sum(path.stat().st_size for path in blocks(folder)) <= 5_500
    files.read(key(5), 1000)
    files.close()
    files = BlockFiles(folder, 2_500)  # the budget was made smaller: what was read last stays
    assert [number for number in range(10) if key(number) in files] == [5, 9]
    files.close()


def test_a_forgotten_conversation_leaves_no_file_except_what_others_share(folder):
    written(folder, 1, 2)
    written(folder, 3, owners={"chat 1", "chat 2"})
    files = BlockFiles(folder, MIB)
    files.write(key(4), rows(4), {"chat 1"})  # still waits
    files.forget("chat 1")
    files.close()
    files = BlockFiles(folder, MIB)
    assert [number for number in range(1, 5) if key(number) in files] == [3]
    owners, found = files.read(key(3), 1000)
    assert owners == {"chat 2"}
    np.testing.assert_array_equal(found, rows(3))
    files.close()


def test_a_full_disk_ends_the_writing_and_nothing_else(folder, monkeypatch):
    files = BlockFiles(folder, MIB)
    files.write(key(1), rows(1), {""})
    while key(1) not in files or files._waiting:
        time.sleep(0.001)

    def full(path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "open_private", full)
    files.write(key(2), rows(2), {""})
    while files._waiting:
        time.sleep(0.001)
    files.write(key(3), rows(3), {""})
    assert [number for number in (1, 2, 3) if key(number) in files] == [1]
    files.close()
    assert len(blocks(folder)) == 1


def test_what_a_killed_process_leaves_is_whole_or_deleted(folder):
    code = (
        "import sys, pathlib; from tests.engine.prompt_cache.test_files import *\n"
        "files = BlockFiles(pathlib.Path(sys.argv[1]), 1 << 30)\n"
        "for number in range(10_000): files.write(key(number), rows(number, 100_000), {''})\n"
        "files.close()"
    )
    child = subprocess.Popen([sys.executable, "-c", code, str(folder)])
    while not folder.exists() or len(blocks(folder)) < 5:
        time.sleep(0.01)
        assert child.poll() is None
    child.kill()
    child.wait()
    (folder / f".{key(9999).hex()}.new").write_bytes(b"half")
    files = BlockFiles(folder, 1 << 30)
    there = [number for number in range(10_000) if key(number) in files]
    assert len(there) >= 4
    for number in there:
        stored = files.read(key(number), 100_000)
        assert stored is not None
        np.testing.assert_array_equal(stored[1], rows(number, 100_000))
    files.close()
    assert all(path.suffix == ".rows" for path in blocks(folder))


def test_blocks_come_back_from_the_disk_into_ram(folder):
    written(folder, 1)
    files = BlockFiles(folder, MIB)
    cache = PromptCache(MIB, files)
    np.testing.assert_array_equal(cache.find(key(1), 1000, "chat 2"), rows(1))
    cache.forget("chat 1")
    assert key(1) in cache
    cache.forget("chat 2")
    assert key(1) not in cache
    assert cache.nbytes == 0
    cache.close()
    assert not blocks(folder)


def test_two_engines_never_write_into_one_folder_and_both_can_forget(folder, monkeypatch):
    monkeypatch.setattr(module, "default_folder", lambda: folder)
    files = BlockFiles(folder, MIB)
    with pytest.raises(BlockingIOError):
        BlockFiles(folder, MIB)
    files.write(key(1), rows(1), {"chat 1"})
    files.write(key(2), rows(2), {"chat 2"})
    while files._waiting:
        time.sleep(0.001)
    module.forget_on_disk("chat 1")
    assert files.read(key(1), 1000) is None
    assert files.read(key(2), 1000) is not None
    files.close()
    module.forget_on_disk("chat 2")
    assert not blocks(folder)


def test_files_of_other_names_are_deleted(folder):
    written(folder, 1)
    for name in ("zz.rows", "notes.txt", ".half.new"):
        (folder / name).write_bytes(b"x")
    BlockFiles(folder, MIB).close()
    assert [path.name for path in blocks(folder)] == [f"{key(1).hex()}.rows"]
