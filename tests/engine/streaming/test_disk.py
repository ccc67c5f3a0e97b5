import os
import threading

import pytest

from engine.errors import StreamBroken
from engine.machine.disk_reads import SECTOR
from engine.streaming import disk
from engine.streaming.disk import DiskFile, aligned, memory, open_files


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "weights"
    path.write_bytes(os.urandom(3 * SECTOR + 123))
    return path


def read(file, start, stop):
    first, last = aligned(start, stop)
    sectors = memory(last - first)
    file.read(memoryview(sectors), first, stop - first)
    return sectors[start - first : stop - first].tobytes()


@pytest.mark.parametrize("direct", [True, False])
@pytest.mark.parametrize(
    ("start", "stop"), [(0, 1), (5, 5000), (SECTOR, 2 * SECTOR), (3 * SECTOR, 3 * SECTOR + 123)]
)
def test_the_bytes_read_are_those_of_the_file(file, direct, start, stop):
    opened = DiskFile(file, direct)
    assert read(opened, start, stop) == file.read_bytes()[start:stop]
    opened.close()


def test_many_threads_read_one_file(file):
    opened, wrong = DiskFile(file), []

    def work(number):
        for _ in range(50):
            if read(opened, number, 2 * SECTOR + number) != file.read_bytes()[number : 2 * SECTOR + number]:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    opened.close()
    assert not wrong


def test_a_file_that_cannot_be_examined_is_not_left_open(file, monkeypatch):
    closed = []
    close = disk._close

    def note_and_close(handle):
        closed.append(handle)
        close(handle)

    def fail(handle, path):
        raise OSError("the drive is gone")

    monkeypatch.setattr(disk, "_close", note_and_close)
    monkeypatch.setattr(disk, "_state", fail)
    with pytest.raises(StreamBroken, match="the drive is gone"):
        DiskFile(file)
    assert len(closed) == 1


def test_a_file_that_ends_too_early_is_a_named_error(file):
    opened = DiskFile(file)
    with pytest.raises(StreamBroken, match="it ends after"):
        read(opened, 3 * SECTOR, 3 * SECTOR + 200)
    opened.close()


def test_a_file_that_changes_while_it_is_open_is_a_named_error(file):
    opened = DiskFile(file)
    read(opened, 0, 100)
    with file.open("r+b") as other:
        other.write(b"something else")
    os.utime(file, ns=(1, 1))
    with pytest.raises(StreamBroken, match="changed"):
        read(opened, 0, 100)
    opened.close()


@pytest.mark.skipif(os.name == "nt", reason="Windows does not let an open file be deleted")
def test_a_file_deleted_while_open_can_still_be_read(file):
    expected = file.read_bytes()[:100]
    opened = DiskFile(file)
    file.unlink()
    assert read(opened, 0, 100) == expected
    opened.close()


def test_a_file_changed_since_its_header_was_read_is_a_named_error(file):
    changed = file.stat().st_mtime_ns
    for one in open_files({file: changed}).values():
        assert read(one, 0, 100) == file.read_bytes()[:100]
        one.close()
    with pytest.raises(StreamBroken, match="changed"):
        open_files({file: changed - 1})


def test_a_missing_file_is_a_named_error(tmp_path):
    with pytest.raises(StreamBroken) as refused:
        DiskFile(tmp_path / "gone")
    assert refused.value.hint


def test_memory_that_the_system_does_not_have_is_a_memory_error():
    """The service then takes a smaller plan."""
    with pytest.raises(MemoryError):
        memory(1 << 60)


def test_where_a_handle_serves_one_read_at_a_time_each_thread_has_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "HANDLE_PER_THREAD", True)
    path = tmp_path / "weights"
    path.write_bytes(content := os.urandom(1 << 20))
    used, opened, closed = {}, [], []
    read, start, end = disk._read, disk._open, disk._close
    both = threading.Barrier(2)

    def noting(file, buffer, offset):
        used.setdefault(threading.get_ident(), set()).add(file)
        both.wait(20)  # at the same time
        return read(file, buffer, offset)

    monkeypatch.setattr(disk, "_read", noting)
    monkeypatch.setattr(disk, "_open", lambda *how: opened.append(start(*how)) or opened[-1])
    monkeypatch.setattr(disk, "_close", lambda file: closed.append(file) or end(file))
    file = DiskFile(path)
    halves = [memory(1 << 19), memory(1 << 19)]
    threads = [
        threading.Thread(target=file.read, args=(half.data, number << 19, 1 << 19))
        for number, half in enumerate(halves)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    file.close()
    assert b"".join(half.tobytes() for half in halves) == content
    first, second = used.values()
    assert (len(first), len(second)) == (1, 1)
    assert first != second
    assert sorted(opened) == sorted(closed)
