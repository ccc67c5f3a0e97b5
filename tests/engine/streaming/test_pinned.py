"""Pinned memory has exactly the size asked for, and is unlocked before it is freed."""

import mmap
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from engine.streaming.disk import MemoryFile
from engine.streaming.pinned import DriverLocks, pinned
from engine.streaming.ram_tier import pinning
from tests.engine.streaming.fake_link import FakeLink
from tests.engine.streaming.pages import is_mapped


class Locks:
    """Page locks of a driver that locks up to `most` bytes, and allocates up to `own`. Attributes: `late`,
    the addresses that were unmapped before they were unlocked; `refused`, the address that was last not
    locked; `given`, allocated memory by its address."""

    def __init__(self, most, own=0):
        self.most = most
        self.own = own
        self.locked = {}
        self.late = []
        self.refused = None
        self.given = {}

    def lock(self, address, nbytes):
        assert address % mmap.PAGESIZE == 0
        if sum(self.locked.values()) + nbytes > self.most:
            self.refused = address
            raise RuntimeError("the driver locks no more")
        self.locked[address] = nbytes

    def unlock(self, address):
        del self.locked[address]
        if not is_mapped(address):
            self.late.append(address)

    def allocate(self, nbytes):
        unknown = sys.platform == "win32"
        assert unknown or not is_mapped(self.refused), "the pages that were refused take the room"
        if sum(map(len, self.given.values())) + nbytes > self.own:
            raise RuntimeError("the driver has no more of its own")
        memory = mmap.mmap(-1, nbytes)
        address = np.frombuffer(memory, np.uint8).ctypes.data
        self.given[address] = memory
        return address

    def free(self, address):
        del self.given[address]


def test_nothing_is_rounded_up_and_locks_end_with_the_last_part():
    locks = Locks(100 << 20)
    slab = pinned(5_000_001, locks)
    assert locks.locked == {slab.ctypes.data: 5_000_001}
    slab[:] = 9
    part = torch.from_numpy(slab[1000:2000])
    del slab
    assert locks.locked
    assert part.eq(9).all()
    del part
    assert not locks.locked


def test_pages_are_unlocked_before_they_are_unmapped():
    locks = Locks(1 << 20)
    slab = pinned(100_000, locks)
    address = slab.ctypes.data
    assert is_mapped(address)
    del slab
    assert not locks.locked
    assert not locks.late


def test_memory_that_cannot_be_locked_is_refused_and_freed():
    locks = Locks(1 << 20)
    first = pinned(1 << 19, locks)
    with pytest.raises(RuntimeError, match="locks no more"):
        pinned(1 << 20, locks)
    assert locks.locked == {first.ctypes.data: 1 << 19}


def test_where_no_pages_of_the_system_are_locked_the_driver_gives_its_own():
    locks = Locks(0, own=100_000)
    slab = pinned(100_000, locks)
    ((address, memory),) = locks.given.items()
    assert (slab.ctypes.data, len(slab), len(memory)) == (address, 100_000, 100_000)
    slab[:] = 7
    assert memory[99_999] == 7
    with pytest.raises(RuntimeError, match="locks no more"):
        pinned(1, locks)
    part = slab[5:9]
    del slab, memory
    assert locks.given
    del part
    assert not locks.given


def test_threads_that_have_no_context_lock_in_that_of_the_thread_that_made_the_locks():
    class Driver:
        """Knows contexts by thread, as NVIDIA's driver does."""

        def __init__(self):
            self.here = threading.local()
            self.locked = set()
            self.given = {}
            self.registers = True

        def cuCtxGetCurrent(self, into):
            into._obj.value = getattr(self.here, "context", None)

        def cuCtxSetCurrent(self, context):
            self.here.context = context.value

        def cuMemHostRegister_v2(self, address, nbytes, flags):
            if getattr(self.here, "context", None) != 7:
                return 201  # no context
            if not self.registers:
                return 801  # not supported
            self.locked.add(address.value)
            return 0

        def cuMemHostUnregister(self, address):
            assert self.here.context == 7
            self.locked.remove(address.value)

        def cuMemHostAlloc(self, into, nbytes, flags):
            assert (self.here.context, flags) == (7, 1)
            memory = mmap.mmap(-1, nbytes.value)
            into._obj.value = np.frombuffer(memory, np.uint8).ctypes.data
            self.given[into._obj.value] = memory
            return 0

        def cuMemFreeHost(self, address):
            assert self.here.context == 7
            del self.given[address.value]

    driver = Driver()
    driver.here.context = 7
    locks = DriverLocks(driver)
    with ThreadPoolExecutor(1) as pool:
        slab = pool.submit(pinned, 100, locks).result()
        assert driver.locked == {slab.ctypes.data}
        kept = [slab]
        del slab
        pool.submit(kept.clear).result()
        assert not driver.locked
        driver.registers = False
        kept.append(pool.submit(pinned, 100, locks).result())
        assert driver.given.keys() == {kept[0].ctypes.data}
        pool.submit(kept.clear).result()
    assert not driver.given


def test_without_pinned_memory_staging_slots_are_plain_memory(caplog):
    class Refusing(FakeLink):
        def slab(self, nbytes):
            raise RuntimeError("the driver locks no more")

    room = pinning(Refusing(0))(100_000)
    assert (len(room.slab), room.pinned) == (100_000, False)
    assert "cannot be pinned" in caplog.text


def test_copying_within_memory_lets_other_threads_run():
    content = np.ones(200 << 20, np.uint8)
    into = np.zeros(200 << 20, np.uint8)
    into[::4096] = 0  # its pages are there
    file, counted, ended = MemoryFile(content), [0], threading.Event()
    before = sys.getswitchinterval()

    def count():
        while not ended.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    try:
        ended.wait(0.01)
        sys.setswitchinterval(2)  # longer than the copy takes: a thread keeps the lock unless it releases it
        start = counted[0]
        file.read(into.data, 0, len(into))
        during = counted[0] - start
    finally:
        sys.setswitchinterval(before)
        ended.set()
        thread.join()
    assert into.all()
    assert during > 0
