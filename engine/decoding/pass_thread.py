"""A pass of the target in a thread of its own, while the thread that launched it drafts ahead.

Where both passes share the processor's cores, the target comes first: the draft computes only while the
target waits for streamed bytes, a step at a time, and no longer than the target's pass takes. A step is a
layer; behind the layers, where compiled passes run the draft, it is the logits of a few nodes and the choice
of their children, which takes about as long. (Torch computes the logits of all nodes of a round in one step,
and chooses in others.) So neither the link nor the verdict waits for more than one step of the draft: a chunk
that arrives finds at most that one in its way, and the ring reads on. A card lets the target go first by
itself, and does not tell the program when it waits.

The launching thread alone calls `progress`. The thread of the pass tells only for how long the disk has not
answered, through `DiskWatch.on_silence`.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from engine.decoding.verdict import PassEnded, Verdict
from engine.model.interface import Progress, Yielding
from engine.streaming import Streamer
from engine.streaming.crew import SYSTEM, Crew

POLL_S = 0.01  # seconds between two calls of `progress` while the launching thread waits

T = TypeVar("T")


class PassThread(Yielding, Generic[T]):
    """A `Pending` pass in its thread. It is itself the progress for passes beside it.

    Attributes: `ready`, whether the pass has ended; `held_s`, seconds for which it has held up passes beside
    it.
    """

    def __init__(
        self,
        run: Callable[[Progress], T],
        choose: Callable[[T], Verdict],
        streamer: Streamer | None,
        progress: Progress,
        crew: Crew = SYSTEM,
        gives_way: bool = False,
    ) -> None:
        """run: the pass. choose: makes the verdict of its result. streamer: brings the weights of the pass;
        None if they are all here, so that there is no room beside the pass. crew: its threads. gives_way:
        whether the device lets this pass go before those beside it, so that these may run at any time."""
        self._run = run
        self._choose = choose
        self._streamer = streamer
        self._progress = progress
        self._crew = crew
        # The thread of the pass takes this while it holds the lock of its ring. So whoever takes this calls
        # nothing that may block, such as `progress`: the readers of the ring would stop, too.
        self._changed = crew.condition()
        self._reported = 0, 1
        self._waits = gives_way  # whether passes beside it may run, as while it waits for bytes
        self._is_cancelled = False
        self._result: T | None = None
        self._error: BaseException | None = None
        self.ready = False
        self.held_s = 0.0
        if streamer and not gives_way:
            streamer.on_wait = self._note_wait
        self._thread = crew.start(self._work, "target")

    @property
    def beside(self) -> Progress:
        return self

    def __call__(self, done: int, total: int) -> None:
        """Return once a step of a pass beside this one may run. Raises PassEnded in its place if this pass
        has ended."""
        began = self._crew.now()
        self._report()
        self._report_until(lambda: self._waits or self.ready)
        self.held_s += self._crew.now() - began
        if self.ready:
            raise PassEnded

    def verdict(self) -> Verdict:
        self._report_until(lambda: self.ready)
        self._thread.join()
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._choose(self._result)

    def cancel(self) -> None:
        self._is_cancelled = True
        self._thread.join()

    def _report_until(self, is_over: Callable[[], bool]) -> None:
        """Report now and then until `is_over`."""
        while True:
            with self._changed:
                if self._changed.wait_for(is_over, POLL_S):
                    return
            self._report()

    def _report(self) -> None:
        self._progress(*self._reported)

    # -- the thread of the pass ------------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            self._result = self._run(self._note_progress)
        except BaseException as error:  # any error: `verdict` raises it in the thread that launched the pass
            self._error = error
        if self._streamer:
            self._streamer.on_wait = ignore_wait
        with self._changed:
            self.ready = True
            self._changed.notify_all()

    def _note_progress(self, done: int, total: int) -> None:
        if self._is_cancelled:
            raise PassEnded
        self._reported = done, total

    def _note_wait(self, waits: bool) -> None:
        with self._changed:
            self._waits = waits
            self._changed.notify_all()


class Whole(Yielding):
    """The progress of a pass that is finished once it has begun, whatever ends meanwhile: what it computes is
    needed in any case. It gives way as `progress` does."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def __call__(self, done: int, total: int) -> None:
        try:
            self._progress(done, total)
        except PassEnded:
            if not done:
                raise


def ignore_wait(waits: bool) -> None:
    """An `on_wait` for passes that run alone."""
