"""Experts of a synthetic file through the cache, in any order, with faults, on a disk that stands still."""

import mmap
import os
import threading
import time
from ctypes import string_at
from dataclasses import replace

import numpy as np
import pytest

from engine import interruption
from engine.checkpoints import Span
from engine.errors import Interrupted, StreamBroken
from engine.machine.disk_reads import READERS, SECTOR
from engine.streaming import disk, disk_watch, expert_cache
from engine.streaming.chunks import GAP_NBYTES, CachedForm, StoredMatrix, make_chunk
from engine.streaming.crew import SystemCrew
from engine.streaming.disk import DiskFile
from engine.streaming.disk_watch import DiskWatch
from engine.streaming.expert_cache import ExpertCache
from engine.streaming.expert_policy import ExpertPolicy

MIXTURES, EXPERTS, NBYTES = 3, 6, 3 * SECTOR


@pytest.fixture
def data(tmp_path):
    """(the experts' chunks, the open files, the bytes of each expert)"""
    path = tmp_path / "weights"
    content = [os.urandom(NBYTES) for _ in range(MIXTURES * EXPERTS)]
    path.write_bytes(b"".join(content))
    chunks = [
        make_chunk(
            [
                StoredMatrix(
                    None, (Span(path, number * NBYTES, NBYTES, (NBYTES,), "U8"),), divmod(number, EXPERTS)
                )
            ]
        )
        for number in range(MIXTURES * EXPERTS)
    ]
    file = DiskFile(path)
    yield chunks, {path: file}, content
    file.close()


def cache_of(chunks, slots, files, counts=None):
    policy = ExpertPolicy([chunk.mixture for chunk in chunks], counts)
    return ExpertCache(chunks, slots, files, policy, DiskWatch("weights"), policy.common())


def one_pass(cache, content, random):
    """Fetch some experts of each mixture; return how many."""
    fetched = 0
    for mixture in range(MIXTURES):
        chosen = sorted(random.choice(EXPERTS, random.integers(1, EXPERTS + 1), replace=False).tolist())
        wanted = [mixture * EXPERTS + each for each in chosen]
        cache.choose(wanted)
        for expert in wanted:
            assert cache.fetch(expert).tobytes() == content[expert]
        fetched += len(wanted)
    return fetched


@pytest.mark.parametrize("slots", [2, 3, 7, MIXTURES * EXPERTS])
def test_every_expert_arrives_whatever_the_number_of_slots(data, slots):
    chunks, files, content = data
    cache = cache_of(chunks, slots, files)
    random = np.random.default_rng(slots)
    fetched = sum(one_pass(cache, content, random) for _ in range(40))
    counts = cache.counts
    assert counts.used == fetched
    assert counts.right <= counts.predicted
    cache.close()
    if slots == MIXTURES * EXPERTS:
        assert cache.counts.read <= slots * NBYTES


class FaultyFile:
    """A file of which some experts cannot be read, and which stands still while `stalled` is set."""

    def __init__(self, file):
        self.file, self.faulty, self.stalled = file, set(), threading.Event()
        self.going = threading.Event()
        self.going.set()

    def read(self, into, offset, needed):
        self.going.wait()
        if offset // NBYTES in self.faulty:
            raise StreamBroken("weights can no longer be read.", "Check the disk.")
        self.file.read(into, offset, needed)


def test_only_the_expert_that_cannot_be_read_fails_and_it_is_read_again(data):
    chunks, files, content = data
    ((path, file),) = files.items()
    faulty = FaultyFile(file)
    faulty.faulty.add(4)
    cache = cache_of(chunks, 4, {path: faulty})
    for _ in range(3):
        cache.choose([1, 4, 5])
        assert cache.fetch(1).tobytes() == content[1]
        with pytest.raises(StreamBroken):
            cache.fetch(4)
        cache.choose([5])
        assert cache.fetch(5).tobytes() == content[5]
    faulty.faulty.clear()
    cache.choose([4])
    assert cache.fetch(4).tobytes() == content[4]
    cache.close()


def test_a_file_that_ends_within_an_expert_is_named(data):
    chunks, files, content = data
    ((path, _),) = files.items()
    path.write_bytes(b"".join(content)[: 4 * NBYTES + 5])
    file = DiskFile(path)
    cache = cache_of(chunks, 4, {path: file})
    cache.choose([3, 4])
    assert cache.fetch(3).tobytes() == content[3]
    with pytest.raises(StreamBroken, match=f"ends after {4 * NBYTES + 5:,} bytes"):
        cache.fetch(4)
    cache.close()
    file.close()


def test_stop_ends_a_miss_on_a_disk_that_stands_still(data, monkeypatch):
    chunks, files, content = data
    ((path, file),) = files.items()
    faulty = FaultyFile(file)
    faulty.going.clear()
    cache = cache_of(chunks, 4, {path: faulty})
    cache.choose([1, 2])
    monkeypatch.setattr("engine.streaming.disk_watch.is_interrupted", lambda: True)
    with pytest.raises(Interrupted):
        cache.fetch(1)
    monkeypatch.setattr("engine.streaming.disk_watch.is_interrupted", interruption.is_interrupted)
    faulty.going.set()
    cache.choose([1, 2])
    assert cache.fetch(2).tobytes() == content[2]
    cache.close()


class ClosesWhenRead(SystemCrew):
    """Its condition closes the cache right after a reader has noted the last piece of an expert, as another
    thread may. Attributes: `cache`; `closed`, set then."""

    def __init__(self):
        self.cache, self.closed = None, threading.Event()

    def condition(self):
        crew = self

        class Condition(threading.Condition):
            def __exit__(self, *error):
                super().__exit__(*error)
                if crew.cache and 0 in crew.cache._missing.values() and not crew.closed.is_set():
                    crew.closed.set()
                    crew.cache.close()

        return Condition()


def test_a_reader_that_a_close_leaves_behind_ends_without_an_error(data, monkeypatch):
    chunks, files, _ = data
    monkeypatch.setattr(disk_watch, "LEFT_S", 0.0)  # `close` waits for no reader
    crew = ClosesWhenRead()
    policy = ExpertPolicy([chunk.mixture for chunk in chunks])
    crew.cache = cache = ExpertCache(chunks, 4, files, policy, DiskWatch("weights"), crew=crew)
    cache.choose([1])
    assert crew.closed.wait(60)
    for thread in cache._threads:
        thread.join(60)
        assert not thread.is_alive()
    assert not cache._slots


def test_what_the_last_pass_used_is_read_before_its_mixture_chooses(data):
    chunks, files, content = data
    cache = cache_of(chunks, 4, files)
    for _ in range(3):
        for mixture in range(MIXTURES):
            wanted = [mixture * EXPERTS + 1, mixture * EXPERTS + 2]
            with cache._changed:
                assert cache._changed.wait_for(
                    lambda: all(cache._ready[each] for each in cache._policy.guess()), timeout=60
                )
                predicted = cache.counts.predicted  # later ones have not been chosen yet
            cache.choose(wanted)
            for expert in wanted:
                assert cache.fetch(expert).tobytes() == content[expert]
    counts = cache.counts
    assert (counts.hits, counts.misses) == (12, 6)  # all of the first pass are misses
    assert counts.right == predicted >= 6  # the other hits had stayed
    cache.close()


class Machine:
    """The free RAM of a machine, and a clock on which the cache looks at it in each turn."""

    def __init__(self, monkeypatch):
        self.free = 1 << 40
        monkeypatch.setattr(expert_cache, "available_nbytes", lambda: self.free)
        monkeypatch.setattr(expert_cache, "CHECK_S", 0.0)


def test_a_cache_shrinks_while_other_programs_take_the_ram_and_grows_again(data, monkeypatch):
    chunks, files, content = data
    machine = Machine(monkeypatch)
    cache = cache_of(chunks, 12, files)
    random = np.random.default_rng(3)
    for _ in range(10):
        one_pass(cache, content, random)
    slot = cache.nbytes // 12
    assert len(cache._slots) + len(cache._free) == 12
    machine.free = expert_cache.SPARE_NBYTES - 3 * slot
    cache.choose([1])
    assert cache.fetch(1).tobytes() == content[1]
    assert cache.nbytes == 9 * slot
    machine.free = 0  # however little there is, two experts at a time go through
    for _ in range(3):
        one_pass(cache, content, random)
    assert cache.nbytes == 2 * slot
    machine.free = expert_cache.SPARE_NBYTES + slot  # neither too little nor enough to grow
    one_pass(cache, content, random)
    assert cache.nbytes == 2 * slot
    machine.free = 1 << 40
    for _ in range(10):
        one_pass(cache, content, random)
    assert cache.nbytes == 12 * slot
    assert len(cache._slots) + len(cache._free) == 12
    cache.close()


def test_a_cache_takes_as_many_slots_as_the_system_gives(data, monkeypatch):
    chunks, files, content = data
    given = []

    def memory(nbytes):
        if len(given) == 5:
            raise MemoryError
        given.append(nbytes)
        return disk.memory(nbytes)

    monkeypatch.setattr(expert_cache, "memory", memory)
    cache = cache_of(chunks, 12, files)
    random = np.random.default_rng(4)
    for _ in range(20):
        one_pass(cache, content, random)
    assert cache.nbytes == sum(given)
    cache.close()


def test_the_experts_of_earlier_answers_are_read_while_nothing_else_is(data):
    chunks, files, content = data
    cache = cache_of(chunks, 6, files)
    for _ in range(5):
        for wanted in ([1, 2], [7], [13]):
            cache.choose(wanted)
            for expert in wanted:
                cache.fetch(expert)
    counts = cache.routing
    cache.close()
    again = cache_of(chunks, 6, files, counts)
    with again._changed:
        assert again._changed.wait_for(lambda: again._ready[[1, 2, 7, 13]].all(), timeout=60)
    assert np.count_nonzero(again._ready) == 4  # nothing that no answer has used
    again.choose([1, 2])
    assert again.fetch(2).tobytes() == content[2]
    assert again.counts.misses == 0
    again.close()


def test_what_a_card_has_makes_room_first_in_the_ram_behind_it(data):
    chunks, files, content = data
    cache = cache_of(chunks, 3, files)

    def use(expert):
        cache.choose([expert])
        assert cache.fetch(expert).tobytes() == content[expert]

    for expert in (0, 0, 0, 0, 0, 1, 2):
        use(expert)
    cache.elsewhere[0] = True  # the likeliest one
    use(3)
    read = cache.counts.read
    use(1)
    use(2)
    assert cache.counts.read == read
    cache.close()


def test_readers_with_nothing_to_read_wait(data):
    chunks, files, _ = data
    cache = cache_of(chunks, 4, files)
    cache.choose([1])
    cache.fetch(1)
    looked, guess = [], cache._policy.guess
    with cache._changed:
        cache._policy.guess = lambda: looked.append(0) or guess()
        cache._changed.notify_all()
    time.sleep(0.3)
    cache.close()
    assert len(looked) < 50


def test_memory_of_systems_without_huge_pages_is_memory_too(monkeypatch):
    class Region(mmap.mmap):
        def madvise(self, *options):
            raise OSError(22, "Invalid argument")

    monkeypatch.setattr(disk.mmap, "mmap", Region)
    assert len(disk.memory(2 * disk.HUGE_NBYTES)) == 2 * disk.HUGE_NBYTES


# The policy


def test_wanted_experts_come_first_then_the_likely_and_the_next_in_turn():
    policy = ExpertPolicy([0] * 6 + [1] * 6)
    for _ in range(20):
        policy.choose(0, [0])
        policy.choose(1, [6])
    policy.choose(0, [1, 2])
    worth = policy.worth()
    assert worth[1] > worth[2] > 1 >= worth[6] > worth[0] > worth[3]
    assert worth[7] == worth[8] > worth[3]  # the turn of mixture 1 comes sooner
    policy.use(1)
    assert policy.worth()[1] < 1  # in the next pass at the earliest
    assert policy.guess() == [6]


def test_an_expert_that_is_no_longer_used_is_worth_less_and_less():
    policy = ExpertPolicy([0] * 4)
    policy.choose(0, [0, 1])
    found = [policy.worth()[0]]
    for _ in range(5):
        policy.choose(0, [1])
        found.append(policy.worth()[0])
    assert found == sorted(found, reverse=True)
    assert found[-1] < found[0]


def test_the_next_pass_is_expected_to_begin_with_the_experts_of_the_last_token_kept():
    policy = ExpertPolicy([0] * 8)
    for other in (1, 2, 3, 4):
        policy.choose(0, [0, other])
        policy.end([0])  # which is what each next pass chooses again
    policy.choose(0, [5, 6])
    policy.use(5)
    policy.use(6)
    assert policy.worth()[5] == policy.worth()[6]
    policy.end([5])
    assert policy.worth()[5] > policy.worth()[6]


def test_a_pass_over_a_prompt_changes_no_expectation():
    policy = ExpertPolicy([0] * 8)
    policy.choose(0, [1, 2])
    policy.use(1)
    policy.use(2)
    before = policy.worth()
    policy.choose(0, list(range(8)))
    for expert in range(8):
        policy.use(expert)
    assert policy.worth().tolist() == before.tolist()


def twice(nbytes):
    """The form of a matrix of so many bytes that has each of them, followed by its complement."""

    def pack(parts, into):
        into[::2], into[1::2] = parts[0], ~parts[0]

    return CachedForm(2 * nbytes, pack, np.zeros(1, np.int64))


def packed_bytes(chunk):
    """What products of the chunk's matrices would read."""
    return [string_at(int(each.form.place[0]), each.form.nbytes) for each in chunk.stored]


@pytest.fixture
def packed(tmp_path):
    """(chunks of experts of two matrices each, which are packed; the open files; their packed bytes)"""
    path = tmp_path / "packed"
    content = [[os.urandom(nbytes) for nbytes in (700, 5000)] for _ in range(MIXTURES * EXPERTS)]
    gap = bytes(GAP_NBYTES + 1)  # so that each matrix is read apart
    path.write_bytes(b"".join(part + gap for parts in content for part in parts))
    at, chunks = 0, []
    for number, parts in enumerate(content):
        stored = []
        for part in parts:
            span = Span(path, at, len(part), (len(part),), "U8")
            at += len(part) + len(gap)
            stored.append(StoredMatrix(None, (span,), divmod(number, EXPERTS), form=twice(len(part))))
        chunks.append(make_chunk(stored))
    file = DiskFile(path)
    packed = [
        [bytes(byte ^ mask for byte in part for mask in (0, 255)) for part in parts] for parts in content
    ]
    yield chunks, {path: file}, packed
    file.close()


@pytest.mark.parametrize("slots", [2, 3, 7, MIXTURES * EXPERTS])
def test_experts_are_packed_when_they_arrive_and_those_present_come_first(packed, slots):
    chunks, files, content = packed
    cache = cache_of(chunks, slots, files)
    random = np.random.default_rng(slots)
    together, fetched = 0, 0
    for turn in range(60):
        mixture = turn % MIXTURES
        chosen = sorted(random.choice(EXPERTS, random.integers(1, EXPERTS + 1), replace=False).tolist())
        left = {mixture * EXPERTS + each for each in chosen}
        fetched += len(left)
        cache.choose(sorted(left))
        while present := cache.fetch_present():
            assert len(present) <= max(1, slots // 2)
            for expert, slot in present.items():
                chunks[expert].give_packed(slot)
            for expert in present:  # all at once
                assert packed_bytes(chunks[expert]) == content[expert]
            together = max(together, len(present))
            left -= set(present)
        assert not left
    assert cache.counts.used == fetched
    assert cache.nbytes == (slots + READERS) * max(chunk.slot_nbytes for chunk in chunks)
    assert together > 1 or slots < 4
    cache.close()


def test_an_expert_of_which_a_part_failed_is_read_again_as_a_whole(packed):
    chunks, files, content = packed
    ((path, file),) = files.items()
    first, second = (extent.start for extent in chunks[4].extents)
    going, failing = threading.Event(), threading.Event()
    failing.set()

    class HalfFile:
        def read(self, into, offset, needed):
            if offset == first and failing.is_set():
                raise StreamBroken("weights can no longer be read.", "Check the disk.")
            if offset == second:
                going.wait()
            file.read(into, offset, needed)

    cache = cache_of(chunks, 4, {path: HalfFile()})
    cache.choose([4])
    with pytest.raises(StreamBroken):
        cache.fetch(4)  # while the other part is still on its way
    failing.clear()
    going.set()
    cache.choose([4])
    ((expert, slot),) = cache.fetch_present().items()
    chunks[expert].give_packed(slot)
    assert packed_bytes(chunks[expert]) == content[expert]
    cache.close()


def test_a_form_that_has_no_memory_is_an_error_of_the_pass(packed):
    chunks, files, _ = packed
    full = threading.Event()
    full.set()
    whole = chunks[4].stored[0].form.pack

    def pack(parts, into):
        if full.is_set():
            raise MemoryError
        whole(parts, into)

    stored = [replace(each, form=replace(each.form, pack=pack)) for each in chunks[4].stored]
    cache = cache_of([*chunks[:4], make_chunk(stored), *chunks[5:]], 4, files)
    cache.choose([4])
    with pytest.raises(MemoryError):
        cache.fetch_present()
    full.clear()
    cache.choose([4])
    assert list(cache.fetch_present()) == [4]
    cache.close()
