"""The engine process on the card for tests, which stops for good in the middle of an answer's first pass, as
a card does that does not answer any more. Not a test itself; see test_mid_pass.py."""

import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.serving import fit, process
from engine.serving import load as steps
from engine.serving.session import Session
from engine.streaming import link
from tests.engine.card.card import CARD
from tests.engine.card.kernels import TYPE
from tests.engine.card.streams import Queue
from tests.engine.planner.made import DESKTOP

STUCK = "SPECEXEC_TEST_STUCK"  # names a pipe that is written to then
BEFORE = 20  # pieces of the card's work


def main() -> None:
    there = replace(DESKTOP, card=replace(DESKTOP.card, launch_s=0.0))
    fit.planner.profile_of = lambda *known: there  # type: ignore[attr-defined]
    steps.choose_device = lambda requested: TYPE  # type: ignore[attr-defined]
    link.driver_locks = lambda: CARD  # type: ignore[assignment,return-value]
    answer, do = Session.answer, Queue._do
    done: list[None] = []
    answers = threading.Event()

    def begin(self: Session, *how: Any) -> Any:
        answers.set()
        return answer(self, *how)

    def stop(self: Queue) -> bool:
        if answers.is_set():
            done.append(None)
        if len(done) > BEFORE:
            Path(os.environ[STUCK]).write_bytes(b"stuck")
            threading.Event().wait()
        return do(self)

    Session.answer, Queue._do = begin, stop  # type: ignore[method-assign]
    process.main()


if __name__ == "__main__":
    main()
