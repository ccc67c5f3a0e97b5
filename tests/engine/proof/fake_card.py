"""A card that is the processor, whose kernels can be sabotaged.

Run as a program, it stands for `engine.proof.worker`: its arguments are pairs of a kernel's kind and way,
joined by a colon, each with what is wrong with it: `attention:fused=wrong`.
"""

import os
import sys
import threading
from collections.abc import Callable
from contextlib import contextmanager

import torch
from torch import Tensor

from engine import ways
from engine.proof import checks, worker
from engine.proof.speed import Speed
from engine.proof.trial import Trial, TriedWay
from tests.engine.streaming.fake_link import FakeLink


class FakeCard:
    """A `TestedCard`."""

    device = torch.device("cpu")
    measures = False

    def link(self) -> FakeLink:
        return FakeLink(7)

    def recorder(self):
        def record(work):
            output = work()

            def replay():
                output.logits.copy_(work().logits)

            return replay, output

        return record

    def launch(self, link, work):
        link.compute(work)

    def finish(self) -> None:
        pass

    def lanes(self) -> str:
        return "PCIe 4 x16"


def sabotaged(kind: str, way: str, damage: Callable[[], object]) -> None:
    """Let the check of a kind of kernel find `damage` in one way of it."""
    sound = checks.CHECKS[kind]

    def check(card, subject, tried) -> Speed | None:
        if tried == way:
            damage()
        return sound(card, subject, tried)

    checks.CHECKS[kind] = check


class Sabotage:
    """A `Tester` in this process. tested: the trials so far."""

    def __init__(self) -> None:
        self.tested: list[Trial] = []

    def test(self, trial: Trial) -> TriedWay:
        self.tested.append(trial)
        return worker.tried(FakeCard(), trial)

    def close(self) -> None:
        pass


DAMAGE = {
    "crashing": lambda: os._exit(139),
    "slow": lambda: threading.Event().wait(600),
}

if __name__ == "__main__":
    for argument in sys.argv[1:]:
        place, _, damage = argument.partition("=")
        sabotaged(*place.split(":"), DAMAGE[damage])
    worker.serve(FakeCard(), sys.stdin.buffer, sys.stdout.buffer)
