"""The cache of experts in device memory, on a device that works in any order its events allow."""

import os
import random
import threading
from contextlib import closing

import numpy as np
import pytest
import torch

from engine.checkpoints import Span
from engine.errors import StreamBroken
from engine.machine.disk_reads import SECTOR
from engine.streaming import expert_cache
from engine.streaming.chunks import StoredMatrix, make_chunk
from engine.streaming.crew import SYSTEM
from engine.streaming.device_experts import MARGIN_NBYTES, PATIENCE_S, DeviceExperts
from engine.streaming.disk import DiskFile, memory
from engine.streaming.disk_watch import DiskWatch
from engine.streaming.expert_cache import ExpertCache
from engine.streaming.expert_policy import ExpertPolicy
from engine.streaming.ram_tier import InRam
from engine.streaming.staged_link import StagedLink
from tests.engine.streaming.fake_link import FakeLink

MIXTURES, EXPERTS, NBYTES = 3, 6, SECTOR
ALL = MIXTURES * EXPERTS


class SmallLink(FakeLink):
    """A device with memory for so many slots."""

    def __init__(self, seed: int, room: int = 1 << 30) -> None:
        super().__init__(seed)
        self.room = room

    def slots(self, count, nbytes):
        self.room -= count
        if self.room < 0:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return super().slots(count, nbytes)


class Device:
    """A device with a cache of the experts in a file; those in RAM are in slabs, or in a cache of `ram`
    slots."""

    def __init__(self, path, slots, link, ram=0, counts=None, faulty=()):
        self.content = [os.urandom(NBYTES) for _ in range(ALL)]
        path.write_bytes(b"".join(self.content))
        chunks = []
        for number in range(ALL):
            span = Span(path, number * NBYTES, NBYTES, (NBYTES,), "U8")
            chunks.append(make_chunk([StoredMatrix(None, (span,), divmod(number, EXPERTS))]))
        self.link, self.wrong, self.used, self.faulty = link, [], 0, faulty
        self.file = DiskFile(path)
        self.policy = ExpertPolicy([chunk.mixture for chunk in chunks], counts)
        self.slabs = [link.slab(NBYTES) for _ in range(ALL)]
        for slab, each in zip(self.slabs, self.content, strict=True):
            slab[:] = np.frombuffer(each, np.uint8)
        files = {path: self}
        self.ram = (
            ExpertCache(chunks, ram, files, self.policy, DiskWatch("weights"), link=link) if ram else None
        )
        self.cache = DeviceExperts(chunks, slots, self.policy, link, [] if ram else self.slabs, self.ram)

    def read(self, into, offset, needed):
        if offset // NBYTES in self.faulty:
            raise StreamBroken("weights can no longer be read.", "Check the disk.")
        self.file.read(into, offset, needed)

    def use(self, expert):
        slot = self.cache.fetch(expert)

        def look():  # when the device gets to it
            self.used += 1
            if slot.numpy().tobytes() != self.content[expert]:
                self.wrong.append(expert)

        self.link.compute(look)

    def one_pass(self, rng, stop=ALL, count=None):
        """Use some experts of each mixture, up to `stop` of them; return those used."""
        used = []
        for mixture in range(MIXTURES):
            chosen = sorted(rng.sample(range(EXPERTS), rng.randint(1, EXPERTS) if count is None else count))
            wanted = [mixture * EXPERTS + each for each in chosen]
            self.cache.choose(wanted)
            for expert in wanted[: stop - len(used)]:
                self.use(expert)
                used.append(expert)
        return used

    def close(self):
        self.cache.close()
        self.file.close()


@pytest.mark.parametrize("ram", [0, 2, 5], ids=["all in RAM", "2 in RAM", "5 in RAM"])
@pytest.mark.parametrize("slots", [2, 3, 7, ALL])
def test_the_device_computes_with_the_right_expert_whatever_the_number_of_slots(tmp_path, slots, ram):
    for seed in range(6):
        rng, used = random.Random(seed), []
        with closing(Device(tmp_path / "weights", slots, FakeLink(seed), ram)) as device:
            for _ in range(12):
                used += device.one_pass(rng, stop=ALL if seed % 2 else rng.randint(1, ALL))
        counts = device.cache.counts
        assert (device.wrong, device.used) == ([], len(used))
        assert counts.hits + counts.misses == len(used)
        assert (counts.ram is None) == (ram == 0)
        assert counts.right <= counts.predicted
        assert (counts.from_disk > 0) == (ram > 0)
        if slots == ALL:
            assert counts.read <= ALL * NBYTES


def test_only_experts_that_are_missing_are_copied_and_others_than_the_chosen_only_if_most_are(tmp_path):
    with closing(Device(tmp_path / "weights", 8, FakeLink(1))) as device:
        rng = random.Random(1)
        for _ in range(10):
            device.one_pass(rng, count=2)
        few = device.cache.counts
        assert few.predicted == 0 < few.hits
        assert few.read == few.misses * NBYTES
        device.one_pass(rng, count=EXPERTS)
        done = device.cache.counts - few
        assert done.right > 0
        assert done.read == (done.misses + done.predicted) * NBYTES
    assert device.wrong == []


def test_what_the_cache_in_ram_did_is_counted_beside_the_cards(tmp_path):
    with closing(Device(tmp_path / "weights", 2, FakeLink(4), ram=3)) as device:
        rng, cache = random.Random(4), device.cache
        for _ in range(10):
            device.one_pass(rng, count=2)
        counts = cache.counts
        assert counts.ram.used == counts.misses > counts.ram.misses > 0
        assert counts.ram.predicted >= counts.ram.right > 0
        with cache.changed:
            assert cache.changed.wait_for(lambda: cache.lacking(range(ALL)), timeout=60)
            (expert,) = cache.lend(cache.lacking(range(ALL))[:1])  # so that it stays there
            before = cache.counts
            cache.choose([expert])
            device.use(expert)
            done = cache.counts - before
        assert (done.misses, done.ram.hits, done.ram.late, done.ram.misses) == (1, 1, 0, 0)
        counts = cache.counts  # once: readers may go on
        assert counts.from_disk == counts.ram.read


def test_an_expert_read_ahead_to_ram_was_right_where_the_processor_multiplies_by_it(tmp_path):
    with closing(Device(tmp_path / "weights", 2, FakeLink(5), ram=5)) as device:
        cache = device.cache
        cache.choose([0])
        device.use(0)
        assert device.ram.asks(1, 1)
        device.ram.expect([[EXPERTS + 1]])
        with cache.changed:
            assert cache.changed.wait_for(lambda: device.ram.has(EXPERTS + 1), timeout=60)
        before = cache.counts
        cache.choose([EXPERTS + 1], near=list(cache.lend([EXPERTS + 1])))
        done = cache.counts - before
        assert (done.near, done.ram.right, done.ram.used) == (1, 1, 0)


def test_passes_over_prompts_leave_the_experts_that_answers_use(tmp_path):
    with closing(Device(tmp_path / "weights", 9, FakeLink(2))) as device:
        for _ in range(6):
            for expert in (1, EXPERTS + 2, 2 * EXPERTS + 3):
                device.cache.choose([expert])
                device.use(expert)
        device.one_pass(random.Random(2), count=EXPERTS)
        before = device.cache.counts
        for expert in (1, EXPERTS + 2, 2 * EXPERTS + 3):
            device.cache.choose([expert])
            device.use(expert)
        assert (device.cache.counts - before).misses == 0
    assert device.wrong == []


@pytest.mark.parametrize("ram", [0, 3], ids=["all in RAM", "3 in RAM"])
def test_a_device_with_less_memory_than_planned_keeps_fewer_experts(tmp_path, ram):
    with closing(Device(tmp_path / "weights", 12, SmallLink(3, room=5), ram)) as device:
        rng = random.Random(3)
        used = sum(len(device.one_pass(rng)) for _ in range(10))
        assert device.cache.nbytes == 5 * NBYTES
    assert (device.wrong, device.used) == ([], used)


def test_a_device_without_memory_for_two_experts_says_so(tmp_path):
    with (
        closing(Device(tmp_path / "weights", 12, SmallLink(3, room=1))) as device,
        pytest.raises(torch.OutOfMemoryError),
    ):
        device.one_pass(random.Random(3), count=2)


@pytest.mark.parametrize("ram", [0, 3], ids=["all in RAM", "3 in RAM"])
def test_a_cache_that_gives_memory_back_goes_on_with_what_is_left(tmp_path, ram):
    with closing(Device(tmp_path / "weights", 12, FakeLink(4), ram)) as device:
        rng = random.Random(4)
        left = []
        while True:
            device.one_pass(rng)
            device.one_pass(rng, stop=rng.randint(1, 4))  # and then the memory is short
            if not device.cache.shrink():
                break
            left.append(device.cache.nbytes // NBYTES)
            assert not device.link._streams["copy"], "a copy may write to memory that was given back"
        device.one_pass(rng)
    assert left == [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]
    assert device.wrong == []


def test_only_the_expert_that_cannot_be_read_fails_and_it_is_read_again(tmp_path):
    with closing(Device(tmp_path / "weights", 4, FakeLink(5), ram=3, faulty={4})) as device:
        for _ in range(3):
            device.cache.choose([1, 4, 5])
            device.use(1)
            with pytest.raises(StreamBroken):
                device.use(4)
            device.cache.choose([5])
            device.use(5)
        device.faulty = ()
        device.cache.choose([4])
        device.use(4)
    assert device.wrong == []


def test_a_cache_begins_with_the_experts_that_earlier_answers_used(tmp_path):
    with closing(Device(tmp_path / "weights", 4, FakeLink(6))) as device:
        for _ in range(5):
            for wanted in ([1, 2], [7], [13]):
                device.cache.choose(wanted)
                for expert in wanted:
                    device.use(expert)
        counts = device.cache.routing
    again = Device(tmp_path / "weights", 4, FakeLink(7), counts=counts)
    first = again.policy.common()
    assert sorted(first) == [1, 2, 7, 13]
    again.cache.fill(first, again.slabs.__getitem__, lambda done, total: None)
    for wanted in ([1, 2], [7], [13]):
        again.cache.choose(wanted)
        for expert in wanted:
            again.use(expert)
    again.close()
    assert (again.cache.counts.hits, again.cache.counts.misses, again.wrong) == (4, 0, [])


def test_the_cache_in_ram_learns_from_what_the_card_has(tmp_path):
    with closing(Device(tmp_path / "weights", 4, FakeLink(8), ram=3)) as device:
        for _ in range(6):
            for expert in (1, EXPERTS + 2, 2 * EXPERTS + 3):
                device.cache.choose([expert], [[expert]])
                device.use(expert)
            device.cache.kept(0)
        assert device.cache.counts.misses == 3
        counts = device.ram.routing
        assert counts == device.cache.routing
        assert counts.passes > 5
    assert device.wrong == []


class Watched(FakeLink):
    """A device that knows which threads have waited for it."""

    def __init__(self, seed):
        super().__init__(seed)
        self.waited = set()

    def wait(self, event):
        self.waited.add(threading.current_thread().name)
        super().wait(event)


def test_the_thread_that_computes_waits_for_no_copy_from_ram(tmp_path):
    link, rng = Watched(9), random.Random(9)
    with closing(Device(tmp_path / "weights", 4, link, ram=3)) as device:
        for _ in range(10):
            device.one_pass(rng)
        assert link.waited
        assert threading.current_thread().name not in link.waited
    assert device.wrong == []


class PartlyPinned(StagedLink):
    """A link in whose RAM not all is pinned. A copy passes through its buffer in three pieces."""

    def __init__(self, device):
        self.random = random.Random(1)
        self.compute = device.compute
        super().__init__(device, lambda nbytes: InRam(memory(nbytes), self.random.random() < 0.3), 1500)


@pytest.mark.parametrize("ram", [0, 3], ids=["all in RAM", "3 in RAM"])
def test_experts_in_memory_that_is_not_pinned_are_the_right_ones_too(tmp_path, ram):
    for seed in range(4):
        rng, link = random.Random(seed), PartlyPinned(FakeLink(seed))
        with closing(link), closing(Device(tmp_path / "weights", 5, link, ram)) as device:
            used = sum(len(device.one_pass(rng, stop=rng.randint(1, ALL))) for _ in range(12))
            assert device.cache.shrink()
            used += len(device.one_pass(rng))
        assert (device.wrong, device.used) == ([], used)


def test_a_cache_that_was_short_of_memory_grows_again_when_enough_was_free_for_long(tmp_path, monkeypatch):
    link, rng, clock = FakeLink(11), random.Random(11), [0.0]
    monkeypatch.setattr(SYSTEM, "now", lambda: clock[0])
    with closing(Device(tmp_path / "weights", 12, link)) as device:

        def slots_after(seconds, spare):
            clock[0] += seconds
            link.spare = spare
            device.one_pass(rng)
            return device.cache.nbytes // NBYTES

        enough, longer = MARGIN_NBYTES + NBYTES, 2 * PATIENCE_S
        assert slots_after(0, 0) == 12
        assert device.cache.shrink()
        assert slots_after(longer - 1, enough) == 11
        assert slots_after(1, enough - 1) == 11
        assert slots_after(longer, enough) == 12
        assert slots_after(longer, enough) == 12  # as many as were planned
        assert device.cache.shrink()
        assert slots_after(longer, enough) == 11  # longer than after the first time
        assert slots_after(longer, enough) == 12
    assert device.wrong == []


def test_an_expert_whose_copy_failed_is_copied_again(tmp_path):
    link = PartlyPinned(FakeLink(12))
    with closing(link), closing(Device(tmp_path / "weights", 4, link)) as device:
        link._plain |= {slab.ctypes.data for slab in device.slabs}
        stage = link._stage

        def failing(slot, source, after):
            link._stage = stage
            raise StreamBroken("weights can no longer be copied.", "Load the model again.")

        link._stage = failing
        device.cache.choose([1, 2])
        with pytest.raises(StreamBroken):
            device.use(1)
        for _ in range(2):
            device.cache.choose([1, 2])
            device.use(1)
            device.use(2)
    assert device.wrong == []


@pytest.mark.parametrize("ram", [5, 8, 12])
def test_experts_that_are_lent_stay_in_ram_while_others_come_and_go(tmp_path, ram, monkeypatch):
    """Others may take the RAM meanwhile, too."""
    monkeypatch.setattr(expert_cache, "CHECK_S", 0.0)
    lent_in_all = 0
    for seed in range(4):
        rng, near = random.Random(seed), 0
        free = [0, *[1 << 40] * 9]
        monkeypatch.setattr(expert_cache, "available_nbytes", lambda rng=rng, free=free: rng.choice(free))
        with closing(Device(tmp_path / "weights", 3, FakeLink(seed), ram)) as device:
            cache = device.cache
            for _ in range(15):
                for mixture in range(MIXTURES):
                    first = mixture * EXPERTS
                    wanted = sorted(rng.sample(range(first, first + EXPERTS), 4))
                    lent = cache.lend(cache.lacking(wanted)[: rng.randint(0, 3)])
                    cache.choose(wanted, near=list(lent))
                    near += len(lent)
                    for expert in wanted:
                        if expert not in lent:
                            device.use(expert)
                        elif rng.randint(0, 1):
                            cache.bring(expert)
                    for expert, slab in lent.items():
                        assert slab.tobytes() == device.content[expert]
            device.link.wait(device.link.used())
            assert device.wrong == []
            assert cache.counts.near == near
            lent_in_all += near
    assert lent_in_all > 20


@pytest.mark.parametrize("slots", [3, 7, 12])
def test_experts_that_are_used_in_ram_are_not_fetched_and_may_be_brought_for_later(tmp_path, slots):
    for seed in range(4):
        rng, near, of_layers = random.Random(seed), 0, dict.fromkeys(range(MIXTURES), 0)
        with closing(Device(tmp_path / "weights", slots, FakeLink(seed))) as device:
            cache = device.cache
            for _ in range(15):
                for mixture in range(MIXTURES):
                    first = mixture * EXPERTS
                    wanted = sorted(rng.sample(range(first, first + EXPERTS), 3))
                    lacking = cache.lacking(wanted)
                    lent = lacking[: rng.randint(0, 3)]
                    cache.choose(wanted, near=lent)
                    near += len(lent)
                    of_layers[mixture] += len(lent)
                    for expert in lent[:1]:
                        cache.bring(expert)
                    for expert in wanted:
                        if expert not in lent:
                            device.use(expert)
            device.link.wait(device.link.used())
            counts = cache.counts
            assert device.wrong == []
            assert (counts.near, counts.used) == (near, 15 * MIXTURES * 3)
            assert counts.by_layer == {layer: (45, lent) for layer, lent in of_layers.items()}
            assert counts.hits + counts.misses == device.used
            assert counts.read == (counts.misses + counts.predicted) * NBYTES
            assert counts.predicted >= counts.right
            assert counts.right > 0 or slots == 3  # few are worth a slot there
