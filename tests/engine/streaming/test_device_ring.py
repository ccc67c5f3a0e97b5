"""The device ring's copies and events, on a device that works in any order they allow."""

import os
import random
import threading
from itertools import pairwise

import numpy as np
import pytest
import torch

from engine import interruption
from engine.checkpoints import Span
from engine.errors import Interrupted, StreamBroken
from engine.formats import format_named
from engine.planner.even import spread
from engine.quantization import Packed, Workspace
from engine.streaming.chunk_placement import place
from engine.streaming.chunks import StoredMatrix, make_chunk
from engine.streaming.device_ring import DeviceRing
from engine.streaming.disk import DiskFile, memory
from engine.streaming.disk_watch import DiskWatch
from engine.streaming.ring import Ring
from tests.engine.streaming.fake_link import Event, FakeLink

WORKSPACE = Workspace(torch.float32, torch.device("cpu"))
CHUNKS = 11


@pytest.fixture
def chunks(tmp_path):
    """Chunks of one matrix each, with their bytes."""
    path = tmp_path / "weights"
    path.write_bytes(os.urandom(CHUNKS * 10_000))
    made = []
    for number in range(CHUNKS):
        span = Span(path, number * 10_000 + number, 5000 + 7 * number, (1,), "U8")
        made.append(make_chunk([StoredMatrix(Packed(format_named("F32"), (1, 1), [], WORKSPACE), (span,))]))
    return made


def content(chunk):
    span = chunk.stored[0].spans[0]
    return span.file.read_bytes()[span.offset : span.offset + span.nbytes]


def slab_of(chunk):
    slab = np.zeros(chunk.nbytes, np.uint8)
    at, nbytes = chunk.places[0][0]
    slab[at : at + nbytes] = np.frombuffer(content(chunk), np.uint8)
    return slab


class Device:
    """A ring over `chunks`, of which those in `in_ram` are in slabs; `use` computes with a chunk."""

    def __init__(self, chunks, in_ram, slots, seed):
        self.chunks = chunks
        self.link = FakeLink(seed)
        self.files = {chunks[0].extents[0].file: DiskFile(chunks[0].extents[0].file)}
        staged = [chunk for number, chunk in enumerate(chunks) if number not in in_ram]
        slabs = {number: slab_of(chunks[number]) for number in in_ram}
        watch = DiskWatch("weights")
        staging = Ring(staged, 2, self.files, memory, watch, staging=True) if staged else None
        self.ring = DeviceRing(chunks, slots, self.link, slabs, staging, watch)
        self.wrong = []
        self.used = 0

    def use(self, number):
        slot = self.ring.fetch(number)
        at, nbytes = self.chunks[number].device_places[0][0]
        expected = content(self.chunks[number])

        def look():  # when the device gets to it
            self.used += 1
            if slot[at : at + nbytes].numpy().tobytes() != expected:
                self.wrong.append(number)

        self.link.compute(look)

    def close(self):
        self.ring.close()
        for file in self.files.values():
            file.close()


@pytest.mark.parametrize("in_ram", [range(CHUNKS), range(0), range(0, CHUNKS, 2), range(5)], ids=str)
@pytest.mark.parametrize("slots", [2, 3, 4])
def test_the_device_computes_with_the_right_bytes_pass_after_pass(chunks, in_ram, slots):
    for seed in range(8):
        device = Device(chunks, in_ram, slots, seed)
        for _ in range(6):
            for number in range(CHUNKS):
                device.use(number)
        device.close()
        assert (device.wrong, device.used) == ([], 6 * CHUNKS)


@pytest.mark.parametrize("in_ram", [range(CHUNKS), range(0, CHUNKS, 2), range(5)], ids=str)
@pytest.mark.parametrize("slots", [2, 3, 4])
def test_chunks_of_ram_that_are_left_out_are_not_copied_and_the_others_are_right(chunks, in_ram, slots):
    for seed in range(8):
        device, rng, used = Device(chunks, in_ram, slots, seed), random.Random(seed), 0
        for _ in range(8):
            left_out = frozenset(rng.sample(list(in_ram), rng.randint(0, len(in_ram))))
            device.ring.leave_out(left_out)
            for _ in range(slots + 1):  # as many passes as chunks may have been planned ahead, and one more
                before = device.ring.moved
                for number in range(CHUNKS):
                    if number not in left_out:
                        device.use(number)
                        used += 1
            copied = sum(chunk.nbytes for number, chunk in enumerate(chunks) if number not in left_out)
            assert device.ring.moved - before == copied
        device.close()
        assert (device.wrong, device.used) == ([], used)


def test_passes_that_end_early_do_not_corrupt_later_ones(chunks):
    for seed in range(40):
        device = Device(chunks, range(0, CHUNKS, 3), 3, seed)
        generator = torch.Generator().manual_seed(seed)
        for _ in range(15):
            for number in range(int(torch.randint(1, CHUNKS + 1, (1,), generator=generator))):
                device.use(number)
        device.close()
        assert device.wrong == []


def test_a_failed_read_ends_the_pass_and_the_next_pass_restarts(chunks, monkeypatch):
    device = Device(chunks, range(0, CHUNKS, 2), 3, seed=1)
    whole, broken = DiskFile.read, threading.Event()

    def read(self, buffer, offset, needed):
        if broken.is_set():
            raise StreamBroken("weights can no longer be read: Input/output error.", "Check the disk.")
        whole(self, buffer, offset, needed)

    monkeypatch.setattr(DiskFile, "read", read)

    def one_pass():
        for number in range(CHUNKS):
            device.use(number)

    one_pass()
    broken.set()
    with pytest.raises(StreamBroken):
        two_passes(one_pass)
    broken.clear()
    one_pass()
    device.close()
    assert device.wrong == []


def test_a_failed_read_for_a_pass_that_ended_early_does_not_end_the_next(chunks, monkeypatch):
    device = Device(chunks, range(0), 2, seed=1)
    whole, anew, begun = DiskFile.read, DeviceRing._restart, threading.Event()

    def read(self, buffer, offset, needed):
        if offset == chunks[1].extents[0].start and not begun.is_set():
            begun.wait()
            raise StreamBroken("weights can no longer be read: Input/output error.", "Check the disk.")
        whole(self, buffer, offset, needed)

    def restart(self, chunk):
        anew(self, chunk)
        begun.set()

    monkeypatch.setattr(DiskFile, "read", read)
    monkeypatch.setattr(DeviceRing, "_restart", restart)
    device.use(0)
    with device.ring._changed:
        assert device.ring._changed.wait_for(lambda: device.ring._queue == 2, timeout=10)
    for number in range(CHUNKS):
        device.use(number)
    device.close()
    assert device.wrong == []


def two_passes(one_pass):
    one_pass()
    one_pass()


def test_copies_run_ahead_into_the_next_pass(chunks):
    """After the last chunk of a pass has been fetched, the first chunks of the next are copied while nothing
    computes."""
    device = Device(chunks, range(CHUNKS), 4, seed=3)
    for number in range(CHUNKS):
        device.use(number)
    with device.ring._changed:
        assert device.ring._changed.wait_for(lambda: device.ring._queue == CHUNKS + 3, timeout=10)
    device.close()


def test_threads_are_gone_after_close_at_any_moment(chunks):
    before = threading.active_count()
    for seed in range(40):
        device = Device(chunks, range(0, CHUNKS, 2), 2 + seed % 3, seed)
        for number in range(seed % CHUNKS):
            device.use(number)
        device.close()
        assert device.wrong == []
    assert threading.active_count() == before


def test_the_first_copies_wait_for_work_that_still_uses_the_slots_memory(chunks, monkeypatch):
    """Memory that the host has freed may be allocated for slots while the device still writes to it."""
    for seed in range(8):
        slots = [torch.zeros(20_000, dtype=torch.uint8) for _ in range(3)]
        monkeypatch.setattr(FakeLink, "slots", lambda self, count, nbytes, slots=slots: slots)
        earlier = FakeLink.__init__

        def busy(self, seed, slots=slots, earlier=earlier):
            earlier(self, seed)
            self._streams["compute"].append((None, Event(), lambda: [slot.fill_(7) for slot in slots]))

        with monkeypatch.context() as patched:
            patched.setattr(FakeLink, "__init__", busy)
            device = Device(chunks, range(CHUNKS), 3, seed)
        for number in range(3):
            device.use(number)
        device.close()
        assert (device.wrong, device.used) == ([], 3)


def test_closing_waits_for_copies_under_way_after_a_failure(chunks):
    """The error of a later chunk ends the wait for a chunk whose copy has begun."""
    link = FakeLink(0)
    # The device works only when it is waited for, and computes before it copies.
    link._random.choice = lambda ready: 0 if 0 in ready else ready[-1]
    slabs = {number: slab_of(chunk) for number, chunk in enumerate(chunks)}
    ring = DeviceRing(chunks, 3, link, slabs, None, DiskWatch("weights"))
    with ring._changed:
        assert ring._changed.wait_for(lambda: len(ring._arrived) == 2, timeout=10)
    for _ in range(2):
        ring._error = StreamBroken("weights can no longer be read.", "Check the disk.")
        with pytest.raises(StreamBroken), ring._changed:
            ring._advance()
        ring._free[ring._schedule.step % 3] = link.used()  # as the next fetch notes
    ring.close()
    assert not link._streams["copy"], "slots and slabs would be freed under a copy"


def test_stop_ends_a_wait_for_a_disk_that_hangs(chunks, monkeypatch):
    whole, hangs = DiskFile.read, threading.Event()

    def read(self, buffer, offset, needed):
        assert hangs.wait(30)
        whole(self, buffer, offset, needed)

    monkeypatch.setattr(DiskFile, "read", read)
    device = Device(chunks, range(0), 3, seed=1)
    interruption.interrupt()
    try:
        with pytest.raises(Interrupted):
            device.use(0)
    finally:
        interruption.resume()
        hangs.set()
    for number in range(CHUNKS):
        device.use(number)
    device.close()
    assert device.wrong == []


# -- placement -----------------------------------------------------------------------------------------------


def test_tiers_are_filled_in_order_and_keep_to_their_limits():
    sizes = [10, 30] * 40
    for device_nbytes, host_nbytes in [(200, 400), (200, 2000), (700, 300), (1600, 0), (130, 130)]:
        placement = place(sizes, device_nbytes, host_nbytes)
        held = dict.fromkeys(("device", "ram", "ssd"), 0)
        for size, tier in zip(sizes, placement.tiers, strict=True):
            held[tier] += size
        assert held["device"] + 30 * placement.slots <= device_nbytes
        assert held["ram"] + 30 * placement.staging <= host_nbytes
        assert bool(held["ssd"]) == bool(placement.staging)
        assert held["device"] + 30 * placement.slots > device_nbytes - 40 or not placement.slots
    assert place(sizes, 1600, 0).tiers == ["device"] * 80
    assert set(place(sizes, 200, 2000).tiers) == {"device", "ram"}


def test_chunks_that_grow_in_memory_keep_to_its_limit():
    sizes, kept = [10] * 40, [10, 20] * 20
    assert place(sizes, 600, None, kept=kept).tiers == ["device"] * 40
    placement = place(sizes, 599, None, kept=kept)
    stays = [nbytes for nbytes, tier in zip(kept, placement.tiers, strict=True) if tier == "device"]
    assert 599 - 20 < sum(stays) + 10 * placement.slots <= 599


def test_resident_chunks_are_spread_evenly_between_the_others():
    stays = spread([5] * 100, 250)
    gaps = [b - a for a, b in pairwise(index for index, here in enumerate(stays) if here)]
    assert sum(stays) == 50
    assert set(gaps) == {2}


def test_chunks_that_are_computed_with_faster_stay_before_the_others():
    sizes, first = [5] * 60 + [20] * 10, [False] * 60 + [True] * 10
    stays = [tier == "device" for tier in place(sizes, 4 * 20 + 250, 1000, first).tiers]
    assert stays[60:] == [True] * 10
    assert sum(stays[:60]) == 10
    assert {b - a for a, b in pairwise(index for index in range(60) if stays[index])} == {6}
    part = [tier == "device" for tier in place(sizes, 4 * 20 + 100, 1000, first).tiers]
    assert (sum(part[:60]), sum(part[60:])) == (0, 5)
    assert place(sizes, 330, 1000, [True] * 70) == place(sizes, 330, 1000)
