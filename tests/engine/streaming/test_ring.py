"""Chunks of a synthetic file through the ring, in order, out of order, and with faults."""

import os
import re
import threading
import time

import pytest
import torch

from engine import interruption
from engine.checkpoints import Span
from engine.errors import BadOption, Interrupted, StreamBroken
from engine.formats import format_named
from engine.machine.disk_reads import SECTOR
from engine.quantization import Packed, Workspace
from engine.streaming import Streamer, WeightLimits
from engine.streaming.chunks import GAP_NBYTES, StoredMatrix, make_chunk, split
from engine.streaming.disk import DiskFile, memory
from engine.streaming.disk_watch import DiskWatch
from engine.streaming.ring import Ring

SIZES = [3000, 9000, 12, 70_000, 4096, 1, 33_333, 5000]
WATCH = DiskWatch("weights")
WORKSPACE = Workspace(torch.float32, torch.device("cpu"))


@pytest.fixture
def data(tmp_path):
    """A file with a matrix for each of SIZES, at odd offsets, as (stored matrices, file, bytes of each)."""
    path = tmp_path / "weights"
    stored, content, blob = [], [], bytearray(b"header!")
    for size in SIZES:
        matrix = Packed(format_named("F32"), (1, size // 4), [], WORKSPACE)
        stored.append(StoredMatrix(matrix, (Span(path, len(blob), size, (size,), "U8"),)))
        content.append(os.urandom(size))
        blob += content[-1] + b"gap" * (size % 5)
    path.write_bytes(blob)
    return stored, path, content


@pytest.fixture
def opened(data):
    file = DiskFile(data[1])
    yield {data[1]: file}
    file.close()


def fetch(ring, chunks, number):
    """Return the bytes of each matrix of a chunk."""
    chunks[number].give(ring.fetch(number))
    return [bytes(each.matrix.parts[0].numpy()) for each in chunks[number].stored]


def test_every_chunk_is_read_in_every_pass(data, opened):
    stored, _, content = data
    chunks = split(stored, 10_000)
    assert [each for chunk in chunks for each in chunk.stored] == stored
    for slots in (2, 3, 20):
        ring = Ring(chunks, slots, opened, memory, WATCH)
        for _ in range(20):
            seen = []
            for number in range(len(chunks)):
                seen += fetch(ring, chunks, number)
            assert seen == content
        ring.close()
    assert ring.moved >= 20 * sum(SIZES)


def test_a_pass_that_ends_early_or_skips_still_gets_the_right_bytes(data, opened):
    stored, _, content = data
    chunks = [make_chunk([each]) for each in stored]
    ring = Ring(chunks, 3, opened, memory, WATCH)
    generator = torch.Generator().manual_seed(0)
    for _ in range(300):
        number = int(torch.randint(len(chunks), (1,), generator=generator))
        assert fetch(ring, chunks, number) == [content[number]]
    ring.close()


def two_passes(ring, chunks):
    for number in [*range(chunks), *range(chunks)]:
        ring.fetch(number)


def test_a_failed_read_ends_the_pass_and_the_next_pass_restarts(data, opened, monkeypatch):
    stored, _, content = data
    chunks = [make_chunk([each]) for each in stored]
    ring = Ring(chunks, 3, opened, memory, WATCH)
    whole = DiskFile.read
    broken = threading.Event()

    def read(self, buffer, offset, needed):
        if broken.is_set() and offset >= SECTOR:
            raise StreamBroken("weights can no longer be read: Input/output error.", "Check the disk.")
        whole(self, buffer, offset, needed)

    monkeypatch.setattr(DiskFile, "read", read)
    broken.set()
    for _ in range(3):
        with pytest.raises(StreamBroken):
            two_passes(ring, len(chunks))
    broken.clear()
    for _ in range(3):
        for number in range(len(chunks)):
            assert fetch(ring, chunks, number) == [content[number]]
    ring.close()


class LateFile:
    """A file of which one extent is read late, once."""

    def __init__(self, file, extent):
        self.file, self.late = file, (extent.start, extent.end - extent.start)
        self.begun, self.ends, self.done = threading.Event(), threading.Event(), threading.Event()

    def read(self, into, offset, needed):
        is_late = (offset, needed) == self.late and not self.begun.is_set()
        if is_late:
            self.begun.set()
            assert self.ends.wait(20)
        self.file.read(into, offset, needed)
        if is_late:
            self.done.set()


@pytest.mark.parametrize("last", [6, 7])
def test_a_read_that_a_stopped_pass_has_left_behind_spoils_no_chunk_of_the_next(data, opened, last):
    """Stop comes while the chunk `last` is read. The next pass begins with chunks that are planned
    already."""
    stored, path, content = data
    chunks = [make_chunk([each]) for each in stored]
    late = LateFile(opened[path], chunks[last].extents[0])
    ring = Ring(chunks, 4, {path: late}, memory, WATCH)
    for number in range(last):
        assert fetch(ring, chunks, number) == [content[number]]
    assert late.begun.wait(60)
    interruption.interrupt()
    try:
        with pytest.raises(Interrupted):
            ring.fetch(last)
    finally:
        interruption.resume()

    def waits(begins):
        if begins and ring._schedule.step == last:
            late.ends.set()  # only now, when the next pass waits for it

    ring.on_wait = waits
    for number in range(len(chunks)):
        slot = ring.fetch(number)
        if number == (last + 4) % len(chunks):  # which has the slot of the chunk that is late
            late.ends.set()
            assert late.done.wait(60)
        chunks[number].give(slot)
        assert bytes(chunks[number].stored[0].matrix.parts[0].numpy()) == content[number]
    ring.close()


def test_threads_are_gone_after_close_at_any_moment(data, opened):
    before = threading.active_count()
    chunks = split(data[0], 10_000)
    for number in range(50):
        ring = Ring(chunks, 2 + number % 3, opened, memory, WATCH)
        for chunk in range(number % len(chunks)):
            ring.fetch(chunk)
        ring.close()
    assert threading.active_count() == before


def test_close_spans_are_read_as_one():
    path = "x"
    near = [Span(path, 100, 50, (50,), "U8"), Span(path, 160, 50, (50,), "U8")]
    far = Span(path, 160 + 50 + GAP_NBYTES + 1, 10, (10,), "U8")
    stored = [
        StoredMatrix(Packed(format_named("F32"), (1, 1), [], WORKSPACE), (span,)) for span in (*near, far)
    ]
    chunk = make_chunk(stored)
    assert [(extent.start, extent.end) for extent in chunk.extents] == [
        (0, 210),
        (far.offset // SECTOR * SECTOR, far.offset + 10),
    ]
    assert chunk.places == (((100, 50),), ((160, 50),), ((SECTOR + far.offset % SECTOR, 10),))


def test_a_limit_smaller_than_the_smallest_ring_is_refused_with_the_number(data, opened):
    with pytest.raises(BadOption, match="GiB") as refused:
        Streamer(data[0], WeightLimits(100_000), opened, link=None)
    needed = float(re.search(r"[\d.]+", refused.value.hint)[0])
    streamer = Streamer(data[0], WeightLimits(int(needed * 2**30)), opened, link=None)
    streamer.close()


class CountedFile:
    """A file whose reads take a while."""

    def __init__(self, file, seconds):
        self.file, self.seconds = file, seconds

    def read(self, into, offset, needed):
        time.sleep(self.seconds)
        self.file.read(into, offset, needed)

    def close(self):
        self.file.close()


class HeldFile:
    """A file whose reads wait until `going` is set."""

    def __init__(self, file):
        self.file, self.going = file, threading.Event()

    def read(self, into, offset, needed):
        assert self.going.wait(30)
        self.file.read(into, offset, needed)


def test_stop_ends_a_restart_on_a_disk_that_hangs_and_the_next_pass_restarts(data, opened):
    stored, path, content = data
    chunks = [make_chunk([each]) for each in stored]
    held = HeldFile(opened[path])
    ring = Ring(chunks, 3, {path: held}, memory, WATCH)
    interruption.interrupt()
    try:
        for unread in (0, 5):  # the next chunk, then one for which the ring restarts
            with pytest.raises(Interrupted):
                ring.fetch(unread)
    finally:
        interruption.resume()
        held.going.set()
    for number in range(1, len(chunks)):  # as if there had been no restart: these chunks were planned
        assert fetch(ring, chunks, number) == [content[number]]
    ring.close()
