"""Experts of a synthetic file through the cache, in any order, with faults, on a disk that stands still."""

import os
import threading

import numpy as np
import pytest

from engine import interruption
from engine.checkpoints import Span
from engine.errors import Interrupted, StreamBroken
from engine.streaming.chunks import StoredMatrix, make_chunk
from engine.streaming.disk import SECTOR, DiskFile
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
    cache = ExpertCache(chunks, slots, files)
    random = np.random.default_rng(slots)
    fetched = sum(one_pass(cache, content, random) for _ in range(40))
    counts = cache.counts
    assert counts.hits + counts.misses == fetched
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
    cache = ExpertCache(chunks, 4, {path: faulty})
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
    cache = ExpertCache(chunks, 4, {path: file})
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
    cache = ExpertCache(chunks, 4, {path: faulty})
    cache.choose([1, 2])
    monkeypatch.setattr("engine.streaming.ring.is_interrupted", lambda: True)
    with pytest.raises(Interrupted):
        cache.fetch(1)
    monkeypatch.setattr("engine.streaming.ring.is_interrupted", interruption.is_interrupted)
    faulty.going.set()
    cache.choose([1, 2])
    assert cache.fetch(2).tobytes() == content[2]
    cache.close()


def test_what_the_last_pass_used_is_read_before_its_mixture_chooses(data):
    chunks, files, content = data
    cache = ExpertCache(chunks, 4, files)
    for _ in range(3):
        for mixture in range(MIXTURES):
            wanted = [mixture * EXPERTS + 1, mixture * EXPERTS + 2]
            with cache._changed:
                assert cache._changed.wait_for(
                    lambda: all(cache._ready[each] for each in cache._policy.guess()), timeout=60
                )
            cache.choose(wanted)
            for expert in wanted:
                assert cache.fetch(expert).tobytes() == content[expert]
    counts = cache.counts
    assert (counts.hits, counts.misses) == (12, 6)  # all of the first pass are misses
    assert counts.right == counts.predicted == 6  # the other hits had stayed
    cache.close()


# The policy


def test_wanted_experts_come_first_then_the_frequent_then_the_next_in_turn():
    policy = ExpertPolicy([0, 0, 0, 1, 1, 1])
    for _ in range(20):
        policy.choose(0, [0])
        policy.choose(1, [3])
    policy.choose(0, [1, 2])
    uses = policy.next_uses()
    assert uses[1] < uses[2] < 1 <= uses[3] < uses[0] < uses[4]
    assert uses[4] == uses[5]
    policy.use(1)
    assert policy.next_uses()[1] > 2  # in the next pass at the earliest
    assert policy.guess() == [3]


def test_an_expert_that_is_no_longer_used_is_expected_later_and_later():
    policy = ExpertPolicy([0, 0])
    policy.choose(0, [0, 1])
    before = policy.next_uses()[0]
    found = []
    for _ in range(5):
        policy.choose(0, [1])
        found.append(policy.next_uses()[0])
    assert found == sorted(found)
    assert found[0] > before
