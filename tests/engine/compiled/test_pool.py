"""All threads of a pool run each step of a program, one step after another."""

import gc
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from engine.compiled.instructions import fetch_add, ints_at
from engine.compiled.matrix import aligned
from engine.compiled.pool import ComputePool, cores, shared_pool
from engine.compiled.program import StepTable, address

THREADS = [1, 2, 5]


@cache
def pool_of(threads):
    """A pool that always uses all its threads, so that steps can count them."""
    return ComputePool(threads, adapts=False)


def counting_step(me, threads, arguments):
    """Count this thread in, and count a mistake unless all have run the step before.

    Arguments: address of the counts, int64, of the step before and of this one; address of the number of
    mistakes; address of int64 [threads], the number of steps that each has run.
    """
    a = ints_at(arguments)
    if ints_at(a[0])[0] != threads or ints_at(a[0])[1] >= threads:
        fetch_add(a[1], 1)
    fetch_add(a[2] + 8 * me, 1)
    fetch_add(a[0] + 8, 1)


class Counted:
    """A program of short steps that notices a thread that is early, late or missing."""

    def __init__(self, pool, steps):
        self.pool, self.steps = pool, steps
        self.counts = aligned(8 * (steps + 1)).view(np.int64)
        self.mistakes = np.zeros(1, np.int64)
        self.shares = np.zeros(pool.threads, np.int64)
        program = StepTable()
        for step in range(steps):
            where = address(self.counts[step:]), address(self.mistakes), address(self.shares)
            program.add(counting_step, *where)
        self.program, self.table = program, program.table()

    def run(self, pieces=1):
        """Run it once, in so many pieces."""
        self.counts[:] = 0
        self.counts[0] = self.pool.threads
        self.shares[:] = 0
        ends = np.linspace(0, self.steps, pieces + 1).astype(int).tolist()
        for first, last in pairwise(ends):
            self.pool.run(address(self.table), first, last)
        assert self.mistakes[0] == 0
        assert (self.counts == self.pool.threads).all()
        assert (self.shares == self.steps).all()


def run_at_once(programs, pieces):
    """Run each program three times, in a Python thread of its own."""
    with ThreadPoolExecutor(len(programs)) as callers:
        runs = [callers.submit(lambda each=each: [each.run(pieces) for _ in range(3)]) for each in programs]
        for run in runs:
            run.result()


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.timeout(60)
def test_many_short_steps_run_in_order_on_all_threads(threads):
    counted = Counted(pool_of(threads), 2000)
    for _ in range(3):
        counted.run()


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.timeout(60)
def test_many_short_programs_run_one_after_another(threads):
    counted = Counted(pool_of(threads), 500)
    for _ in range(3):
        counted.run(pieces=500)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.timeout(60)
def test_two_callers_take_turns(threads):
    pool = pool_of(threads)
    programs = [Counted(pool, 400), Counted(pool, 300)]
    run_at_once(programs, pieces=100)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.timeout(60)
def test_helpers_that_fell_asleep_are_woken(threads):
    counted = Counted(pool_of(threads), 20)
    for _ in range(5):
        counted.run()
        time.sleep(0.05)
    for pause in np.linspace(0, 0.0004, 200):  # about as long as they spin before they sleep
        counted.run()
        time.sleep(pause)


@pytest.mark.timeout(60)
def test_helpers_take_no_time_while_nothing_runs():
    Counted(pool_of(5), 20).run()
    time.sleep(0.05)
    before = time.process_time()  # of all threads
    time.sleep(0.5)
    assert time.process_time() - before < 0.1


def note_step(me, threads, arguments):
    """Note how many threads run the step. Arguments: address of int64 [threads], a place for each."""
    ints_at(ints_at(arguments)[0])[me] = threads


@pytest.mark.timeout(60)
def test_threads_without_a_core_are_left_out_and_called_back():
    pool = ComputePool(4 * cores())
    noted = np.zeros(pool.threads, np.int64)
    program = StepTable()
    for _ in range(1000):
        program.add(note_step, address(noted))
    table, used = program.table(), set()
    deadline = time.monotonic() + 40
    while len(used) < 2:
        noted[:] = 0
        pool.run(address(table), 0, len(table))
        running = int((noted > 0).sum())
        assert (noted[:running] == running).all()
        used.add(running)
        assert time.monotonic() < deadline, used
    assert pool.used >= 1


@pytest.mark.timeout(60)
def test_two_pools_run_at_once():
    programs = [Counted(pool_of(2), 500), Counted(pool_of(3), 500)]
    run_at_once(programs, pieces=10)


def test_the_shared_pool_has_a_thread_for_each_core():
    assert shared_pool() is shared_pool()
    assert shared_pool().threads == cores() >= 1


def test_threads_keep_the_memory_that_they_watch():
    """They wait for tasks as long as the process lives, also when nobody can start one any more."""
    pool = ComputePool(2)
    Counted(pool, 5).run()
    memory = weakref.ref(pool._room)
    del pool
    gc.collect()
    assert memory() is not None
