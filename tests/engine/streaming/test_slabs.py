"""A card's cache of experts takes the memory that was planned, and gives memory back that others can use."""

import weakref
from math import ceil

import numpy as np
import pytest

from engine.streaming.chunks import Chunk, StoredMatrix
from engine.streaming.device_experts import DeviceExperts
from engine.streaming.expert_policy import ExpertPolicy
from engine.streaming.slabs import Slabs, fitting

MIB = 1 << 20
# (bytes of an expert, slots): Qwen3-30B-A3B, gpt-oss-20b, Mixtral-8x7B and others, in 4 bits; some are few.
CACHES = [(2_654_208, 2000), (2_654_208, 20), (13_271_040, 300), (99_090_432, 40), (99_090_432, 5)]
CACHES += [(1_327_104, 3000), (4_300_800, 500), (6_291_456, 77)]


def segments(blocks):
    """The memory that torch takes from the driver for blocks, by the rules of its allocator."""
    small = [each for each in blocks if each <= MIB]
    shared = [each for each in blocks if MIB < each < 10 * MIB]
    taken = sum(ceil(each / (2 * MIB)) * 2 * MIB for each in blocks if each >= 10 * MIB)
    for several, segment in ((small, 2 * MIB), (shared, 20 * MIB)):
        room = 0
        for each in several:
            if room < each:
                taken += segment
                room = segment
            room -= each
    return taken


class Nothing:
    """A link whose device has memory that nobody touches. Attributes: `asked`, the bytes of each block that
    was asked for; `blocks`, those that exist, by place in `asked`."""

    def __init__(self):
        self.asked, self.blocks = [], weakref.WeakValueDictionary()

    def slots(self, count, nbytes):
        made = [np.empty(nbytes, np.uint8) for _ in range(count)]
        for each in made:
            self.blocks[len(self.asked)] = each
            self.asked.append(nbytes)
        return made

    def spare_nbytes(self):
        return 0

    def copy(self, slot, source, after):
        pass

    def used(self):
        pass

    def wait(self, event):
        pass


def full_cache(size, slots):
    """A cache all of whose slots are used, and its link."""
    link, experts = Nothing(), [Chunk((StoredMatrix(None, ()),), (), (((0, size),),), size, 0)] * slots
    source = np.empty(0, np.uint8)
    cache = DeviceExperts(experts, slots, ExpertPolicy([0] * slots), link, [source] * slots, None)
    cache.fill(range(slots), lambda expert: source, lambda done, total: None)
    return cache, link


@pytest.mark.parametrize(("size", "slots"), CACHES)
def test_a_cards_cache_takes_what_was_planned_and_hardly_more_than_its_experts(size, slots):
    cache, link = full_cache(size, slots)
    assert cache.nbytes == sum(link.asked)
    assert len(link.asked) <= 17
    if cache.nbytes > 160 * MIB:
        assert segments(link.asked) == cache.nbytes
    assert segments(link.asked) < max(1.02 * size * slots, size * slots + 8 * MIB)


@pytest.mark.parametrize(("size", "slots"), CACHES)
def test_memory_that_is_given_back_is_whole_blocks_and_an_eighth_of_the_cache(size, slots):
    cache, link = full_cache(size, slots)
    while True:
        before, blocks = cache.nbytes, len(link.blocks)
        if not cache.shrink():
            break
        assert len(link.blocks) < blocks
        left = [link.asked[number] for number in link.blocks]
        assert sum(left) == cache.nbytes
        assert before // 17 <= before - cache.nbytes
        assert before - cache.nbytes <= max(before // 3, link.asked[0])
    assert 2 * size <= cache.nbytes < slots * size


@pytest.mark.parametrize("size", sorted({size for size, _ in CACHES}))
def test_as_many_slots_as_fit_are_planned(size):
    for room in (0, size, 2 * size + 5, 100 * MIB, 1000 * MIB, 3000 * MIB + 4096):
        slots = fitting(room, size)
        taken = Slabs.cut(slots, size).nbytes(slots) if slots else 0
        assert room - 20 * MIB - max(size, room // 100) < taken <= room
