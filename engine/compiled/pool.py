"""The threads that run compiled programs, and how they wait for each other.

A program is a table of steps; all threads run each step together and meet at a barrier behind it. A thread
that waits spins for a few dozen microseconds, because most steps are that short, then sleeps until it is
woken: on a machine that other programs keep busy, spinning would take the time that the others need.

There, one thread that has lost its core makes all others wait at every barrier, and two threads are slower
than one. So the pool counts how often threads had to sleep at barriers, and leaves out threads while they do.
"""

import ctypes
import os
import sys
import threading
import time
from functools import cache

import numba
import numpy as np
import psutil
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from engine.compiled.instructions import (
    I32,
    I64,
    fetch_add_word,
    ints_at,
    read_word,
    run_step,
    spin_pause,
    write_word,
)
from engine.compiled.matrix import aligned
from engine.formats.jit import cached_address, helper

SPINS = 2000  # pauses of some tens of nanoseconds each

# Offsets in the control block, each in a cache line of its own. Words are int32.
# JOB: number of the job, times 256, plus the number of threads that run it. SLEPT: how often threads have
# slept at a barrier.
_JOB, _JOB_SLEEPERS, _ARRIVED, _GENERATION, _SLEEPERS, _SLEPT, _TASK = (64 * line for line in range(7))
# What to run, int64 each: the table of steps; the first step; the step after the last.
_STEPS, _FIRST, _LAST = range(3)
_READY = _TASK + 64  # a word for each thread: whether it waits for jobs

STEP = 2  # int64 per step: address of its code, address of its arguments

# A run in which threads sleep at more than this share of the barriers is a sign that cores are taken. On a
# quiet machine the share is below 0.1, beside a busy program nearly 1.
CROWDED = 0.4
FEWEST_STEPS = 32  # a shorter run tells nothing
PATIENCE_S = 0.1, 3.2  # how long threads are left out at first, and at most

if sys.platform == "linux":
    _FUTEX, _WAIT, _WAKE = 202 if os.uname().machine == "x86_64" else 98, 128, 129  # private futexes
    _syscall = types.ExternalFunction("syscall", types.int64(*[types.int64] * 7))

    @helper
    def sleep_while(address, value):  # type: ignore[no-untyped-def]
        _syscall(_FUTEX, address, _WAIT, numba.int64(value), 0, 0, 0)

    @helper
    def wake_all(address):  # type: ignore[no-untyped-def]
        _syscall(_FUTEX, address, _WAKE, 1 << 30, 0, 0, 0)

elif sys.platform == "win32":
    binding.load_library_permanently("api-ms-win-core-synch-l1-2-0.dll")
    _wake = types.ExternalFunction("WakeByAddressAll", types.void(types.int64))

    @intrinsic
    def _wait(_, address, value):  # type: ignore[no-untyped-def]
        def code(context, b, signature, arguments):  # type: ignore[no-untyped-def]
            compared = b.ptrtoint(cgutils.alloca_once_value(b, arguments[1]), I64)
            kind = ir.FunctionType(I32, [I64, I64, I64, I32])
            wait = cgutils.get_or_insert_function(b.module, kind, "WaitOnAddress")
            b.call(wait, [arguments[0], compared, I64(4), I32(-1)])
            return context.get_dummy_value()

        return types.void(types.int64, types.int32), code

    @helper
    def sleep_while(address, value):  # type: ignore[no-untyped-def]
        _wait(address, value)

    @helper
    def wake_all(address):  # type: ignore[no-untyped-def]
        _wake(address)

else:
    _usleep = types.ExternalFunction("usleep", types.int32(types.uint32))

    @helper
    def sleep_while(address, value):  # type: ignore[no-untyped-def]
        _usleep(50)

    @helper
    def wake_all(address):  # type: ignore[no-untyped-def]
        return


@helper
def wait_while(address, value, sleepers):  # type: ignore[no-untyped-def]
    """Wait until the word at `address` is no longer `value`; return whether the thread slept. sleepers:
    address of the number of threads that sleep until then."""
    for _ in range(SPINS):
        if read_word(address) != value:
            return False
        spin_pause()
    fetch_add_word(sleepers, numba.int32(1))
    while read_word(address) == value:
        sleep_while(address, value)
    fetch_add_word(sleepers, numba.int32(-1))
    return True


@helper
def wake(address, sleepers):  # type: ignore[no-untyped-def]
    """Wake the threads that wait for a change of the word at `address`."""
    if read_word(sleepers) > 0:
        wake_all(address)


@helper
def run_steps(me, threads, control):  # type: ignore[no-untyped-def]
    task = ints_at(control + _TASK)
    steps, last = ints_at(task[_STEPS]), task[_LAST]
    for step in range(task[_FIRST], last):
        run_step(steps[STEP * step], me, threads, steps[STEP * step + 1])
        generation = read_word(control + _GENERATION)
        if fetch_add_word(control + _ARRIVED, numba.int32(1)) == threads - 1:
            write_word(control + _ARRIVED, numba.int32(0))
            fetch_add_word(control + _GENERATION, numba.int32(1))
            wake(control + _GENERATION, control + _SLEEPERS)
        elif wait_while(control + _GENERATION, generation, control + _SLEEPERS):
            fetch_add_word(control + _SLEPT, numba.int32(1))


def lead(control, job):  # type: ignore[no-untyped-def]
    """Run the task with the threads of `job`; return when it is done."""
    write_word(control + _JOB, numba.int32(job))
    wake(control + _JOB, control + _JOB_SLEEPERS)
    run_steps(0, job & 255, control)


def follow(control, me):  # type: ignore[no-untyped-def]
    """Take part in every task for at least me + 1 threads, forever."""
    job = read_word(control + _JOB)
    write_word(control + _READY + 64 * me, numba.int32(1))
    while True:
        wait_while(control + _JOB, job, control + _JOB_SLEEPERS)
        job = read_word(control + _JOB)  # a thread that is left out may have missed some
        if me < job & 255:
            run_steps(me, numba.int64(job & 255), control)


def cores() -> int:
    """Return the number of physical cores that this process may use."""
    physical = psutil.cpu_count(logical=False) or 1
    allowed = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return max(1, min(physical, allowed, 255))  # a job names them in eight bits


class ComputePool:
    """The threads of this process for compiled programs. One program runs at a time.

    Attributes: `threads`, their number, that of the caller included; `used`, how many run the next program.
    """

    def __init__(self, threads: int, adapts: bool = True) -> None:
        """adapts: whether threads are left out while other programs take their cores."""
        self.threads = self.used = threads
        self._adapts = adapts
        self._lock = threading.Lock()
        self._job = 0
        self._patience_s = PATIENCE_S[0]
        self._retry_at = 0.0
        self._room = aligned(_READY + 64 * threads)
        self._control = self._room.ctypes.data
        self._task = self._room[_TASK : _TASK + 24].view(np.int64)
        self._slept = self._room[_SLEPT : _SLEPT + 4].view(np.int32)
        kind = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)
        signature = numba.void(numba.int64, numba.int64)
        self._lead = kind(cached_address(signature, lead))
        follower = kind(cached_address(signature, follow))

        def work(me: int, room: NDArray[np.uint8]) -> None:  # the thread keeps the memory that it watches
            follower(room.ctypes.data, me)

        for me in range(1, threads):
            arguments = (me, self._room)
            threading.Thread(target=work, args=arguments, name=f"compute-{me}", daemon=True).start()
        while not all(self._room[_READY + 64 * me] for me in range(1, threads)):
            time.sleep(0.0005)

    def run(self, steps: int, first: int, last: int) -> None:
        """Run the steps first..last of a table at the address `steps`."""
        with self._lock:
            if self.used < self.threads and time.perf_counter() > self._retry_at:
                self.used = self.threads
            slept = int(self._slept[0])
            self._task[:] = steps, first, last
            self._job = (self._job + 1) & 0x3FFFFF
            self._lead(self._control, self._job << 8 | self.used)
            self._adapt((int(self._slept[0]) - slept) / (last - first), last - first)

    def _adapt(self, sleeping: float, steps: int) -> None:
        """Choose the number of threads for the next program. sleeping: how often a thread slept, per step."""
        if not self._adapts or steps < FEWEST_STEPS:
            return
        if sleeping > CROWDED * (self.used - 1) and self.used > 1:
            if self.used == self.threads:
                self._retry_at = time.perf_counter() + self._patience_s
                self._patience_s = min(2 * self._patience_s, PATIENCE_S[1])
            self.used -= 1
        elif self.used == self.threads:
            self._patience_s = PATIENCE_S[0]


@cache
def shared_pool() -> ComputePool:
    """Return the pool that all models of this process share."""
    return ComputePool(cores())
