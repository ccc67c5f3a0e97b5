"""The engine process, but its disk is so slow that passes wait for it. If an environment variable names a
moment of an answer, the engine is killed then; and so that the draft is ahead by then on any machine, passes
wait for it, too. Not a test itself; see test_process.py.
"""

import os
import signal
import threading
from collections.abc import Callable
from typing import Any

from engine.bench.slower_disk import slow_down
from engine.decoding.pass_thread import PassThread, Whole
from engine.decoding.verification import TargetVerifier
from engine.drafting.draft_rows import DraftRows
from engine.drafting.specexec import SpecExecDrafter
from engine.serving import process
from engine.serving.service import EngineService

MOMENT = "SPECEXEC_TEST_MOMENT"
PASS_S = 0.5  # seconds in which a pass reads the streamed weights
ROUNDS = 3  # of the draft for which a pass waits
PATIENCE_S = 10.0  # longest wait for them
AFTER = 1  # passes that verify a tree, before the engine is killed at a moment of an iteration


def main() -> None:
    slow_the_disk()
    if moment := os.environ.get(MOMENT):
        wait_for_the_draft()
        moments[moment]()
    process.main()


def started(command: Callable[..., list[str]], *arguments: str) -> list[str]:
    """Return the command line that starts this in place of the engine process. command: that of
    `engine.launch.interpreter`; arguments: of it."""
    module, *rest = arguments
    return command(__name__ if module == process.__name__ else module, *rest)


def slow_the_disk() -> None:
    load = EngineService.load

    def slowly(self: EngineService, *how: Any) -> Any:
        loaded = load(self, *how)
        assert self.session is not None
        streamer = self.session.pair.target.model.streamer
        assert streamer is not None
        slow_down(streamer, streamer.pass_nbytes / PASS_S / 1e9)
        return loaded

    EngineService.load = slowly  # type: ignore[method-assign]


def wait_for_the_draft() -> None:
    """Let each pass end only when the draft has grown for some rounds beside it, or has nothing to grow."""
    begin, grow = PassThread.__init__, SpecExecDrafter.grow
    is_ahead, rounds_done = threading.Event(), [0]

    def begun(self: PassThread[Any], run: Callable[[Any], Any], *how: Any, **named: Any) -> None:
        def longer(progress: Any) -> Any:
            result = run(progress)
            self._note_wait(True)
            is_ahead.wait(PATIENCE_S)
            self._note_wait(False)
            return result

        is_ahead.clear()
        rounds_done[0] = 0
        begin(self, longer, *how, **named)

    def counted(self: SpecExecDrafter, rounds: int, progress: Any) -> bool:
        grows = grow(self, rounds, progress)
        if isinstance(progress, PassThread):
            rounds_done[0] += 1
            if not grows or rounds_done[0] >= ROUNDS:
                is_ahead.set()
        return grows

    PassThread.__init__ = begun  # type: ignore[method-assign]
    SpecExecDrafter.grow = counted  # type: ignore[method-assign]


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def in_prefill() -> None:
    """The draft begins to read the prompt while the target reads it."""
    begin = DraftRows.begin

    def dying(self: DraftRows, context: Any, progress: Any) -> None:
        if isinstance(progress, Whole):
            die()
        begin(self, context, progress)

    DraftRows.begin = dying  # type: ignore[method-assign]


def before_the_launch() -> None:
    """A tree has grown, and its pass is to begin."""
    count_launches(lambda launches: die() if launches > AFTER else None)


def while_the_draft_is_ahead() -> None:
    """The draft has grown nodes beyond the tree, and the target's pass goes on."""
    grow, launches = SpecExecDrafter.grow, count_launches()

    def dying(self: SpecExecDrafter, rounds: int, progress: Any) -> bool:
        before = self.size
        grows = grow(self, rounds, progress)
        beside = isinstance(progress, PassThread) and not progress.ready
        if beside and self.size > before and len(launches) > AFTER:
            die()
        return grows

    SpecExecDrafter.grow = dying  # type: ignore[method-assign]


def at_the_verdict() -> None:
    """The target has chosen; nothing is committed yet."""
    verdict, launches = PassThread.verdict, count_launches()

    def dying(self: PassThread[Any]) -> Any:
        found = verdict(self)
        if len(launches) > AFTER:
            die()
        return found

    PassThread.verdict = dying  # type: ignore[method-assign]


def while_re_rooting() -> None:
    """The tree has its new root; its rows have not."""
    reroot = DraftRows.reroot

    def dying(self: DraftRows, *how: Any) -> None:
        die()
        reroot(self, *how)

    DraftRows.reroot = dying  # type: ignore[method-assign]


def count_launches(then: Callable[[int], None] = lambda launches: None) -> list[None]:
    """Return a list that grows with each pass that verifies a tree. then: called with its length before each
    pass."""
    launch, launches = TargetVerifier.launch, list[None]()

    def counting(self: TargetVerifier, *how: Any) -> Any:
        launches.append(None)
        then(len(launches))
        return launch(self, *how)

    TargetVerifier.launch = counting  # type: ignore[method-assign]
    return launches


moments: dict[str, Callable[[], None]] = {
    each.__name__: each
    for each in (in_prefill, before_the_launch, while_the_draft_is_ahead, at_the_verdict, while_re_rooting)
}

if __name__ == "__main__":
    main()
