"""Watches the disk that threads read: for how long it has not answered, and how long to wait for it.

No system lets a program take back a read that its disk has begun: on Linux it ignores signals, and io_uring
cannot cancel it either (io_uring_prep_cancel(3)); on Windows, CancelSynchronousIo only marks it as cancelled,
and it goes on until its driver lets go of it. So the computing thread never reads. It waits for threads that
do, and a thread whose read is never answered is left behind, with the memory that it reads to.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from engine.errors import DiskSilent, Interrupted
from engine.interruption import is_interrupted
from engine.streaming.crew import SYSTEM, Condition, Crew, Member

# Seconds after which a wait for bytes looks whether the user has pressed Stop: too short to be noticed.
STOP_S = 0.1
# Seconds without an answer after which the user is told, and told again. A disk that has to spin up, or an
# SSD that cleans up, takes less.
TOLD_S = 10.0
# Seconds without an answer after which a pass ends. Linux itself gives a disk up before, and reports an
# error: it waits 30 s for a command, and tries it five times more (SD_TIMEOUT, SD_MAX_RETRIES in
# drivers/scsi/sd.h). Network drives may stay silent for ever.
GIVEN_UP_S = 300.0
# Seconds without an answer after which nobody waits for a reader's end: less than a client waits for the
# engine's (`engine.protocol.engine_process.SHUTDOWN_TIMEOUT_S`).
LEFT_S = 2.0
# A wait of STOP_S that took so many seconds was none: the machine slept, or this process was stopped. On
# Windows, the clock goes on meanwhile (QueryPerformanceCounter; Microsoft, "Acquiring high-resolution time
# stamps"), but the disk could not answer, and may have to spin up now. A wait ends by taking its lock again,
# and waiting for that counts, too: if somebody held it for so long, it would look like sleep.
ASLEEP_S = 5.0


class DiskWatch:
    """Knows since when a disk has not answered. Threads that read note their reads, and threads that need
    bytes wait with it. All methods may be called on any thread.

    Attribute: `on_silence`: called on a thread that waits, with the seconds for which the disk has not
    answered, each time that TOLD_S more have passed, and with 0 once it answers, or once nobody waits any
    more. The lock of what waits is held then, so it must not wait. Its errors are ignored: what waits for
    bytes does not fail because the user cannot be told.
    """

    def __init__(self, name: str, crew: Crew = SYSTEM) -> None:
        """name: of the model on the disk. crew: its threads and clock."""
        self.on_silence: Callable[[float], None] = ignore_silence
        self._name = name
        self._crew = crew
        self._guard = threading.Lock()
        self._reads = 0  # that are under way
        self._answered = 0.0  # when the last read ended, or the first of those under way began
        self._idle_s, self._idle_since = 0.0, crew.now()  # until the first read began that is under way

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Return a context in which a read is under way."""
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    @property
    def silent_s(self) -> float:
        """Seconds for which the disk has answered none of the reads that are under way; 0 if there are
        none."""
        with self._guard:
            return self._crew.now() - self._answered if self._reads else 0.0

    @property
    def idle_s(self) -> float:
        """Seconds since the start in which no read was under way."""
        with self._guard:
            return self._idle_s + (0.0 if self._reads else self._crew.now() - self._idle_since)

    def wait(self, changed: Condition, is_over: Callable[[], bool]) -> None:
        """Wait on a condition, whose lock is held, until `is_over`.

        Raises Interrupted if the pass is interrupted; DiskSilent if the disk has not answered for
        GIVEN_UP_S, during all of which this has waited. Where the machine was asleep meanwhile, both times
        begin anew.
        """
        told, began = 0, self._crew.now()
        now = began
        try:
            while not is_over():
                changed.wait(STOP_S)
                end_if_interrupted()
                before, now = now, self._crew.now()
                if now - before >= ASLEEP_S:
                    began = now
                    self._begin_anew()
                silent_s = self.silent_s
                if min(silent_s, now - began) >= GIVEN_UP_S:
                    raise DiskSilent(self._name, silent_s)
                if (times := int(silent_s / TOLD_S)) != told:
                    told = times
                    self._tell(silent_s if told else 0.0)
        finally:
            if told:
                self._tell(0.0)

    def join(self, threads: Sequence[Member], is_patient: bool = True) -> None:
        """Wait for threads that end once their reads have ended, but for no disk that has not answered for
        LEFT_S. is_patient: whether to wait for a thread that does something else, however long; otherwise,
        for LEFT_S, too."""
        began = self._crew.now()
        for thread in threads:
            while thread.is_alive() and self.silent_s < LEFT_S:
                if not is_patient and self._crew.now() - max(began, self._answered) >= LEFT_S:
                    break
                thread.join(STOP_S)

    def _begin_anew(self) -> None:
        with self._guard:
            self._answered = self._crew.now()

    def _tell(self, seconds: float) -> None:
        with suppress(Exception):  # any error: a terminal, for example, may be gone
            self.on_silence(seconds)

    def _count(self, more: int) -> None:
        with self._guard:
            now = self._crew.now()
            if more < 0 or not self._reads:
                self._answered = now
            if not self._reads:
                self._idle_s += now - self._idle_since
            self._reads += more
            if not self._reads:
                self._idle_since = now


def end_if_interrupted() -> None:
    """Raise Interrupted if the running pass is to end."""
    if is_interrupted():
        raise Interrupted("The pass was interrupted.")


def ignore_silence(seconds: float) -> None:
    """An `on_silence` where there is nobody to tell."""
