"""The process that tries ways on a card: reads a trial from each line of standard input, and writes what it
has shown as a line of JSON. Started by `engine.proof.trial_process`."""

import sys
from collections.abc import Iterable
from typing import BinaryIO

import msgspec
import torch

from engine import ways
from engine.errors import card_stopped, exhausted_tier, is_disk_full
from engine.proof.card import CudaCard, TestedCard
from engine.proof.checks import CHECKS
from engine.proof.speed import Differs, Slow
from engine.proof.trial import STARTED, Connection, Outcome, Trial, TriedWay, problem_of


def main() -> None:
    out = sys.stdout.buffer
    sys.stdout = sys.stderr  # what libraries print
    serve(CudaCard(), sys.stdin.buffer, out)


def serve(card: TestedCard, requests: Iterable[bytes], out: BinaryIO) -> None:
    """Try what is asked for on `card`, until there are no more requests."""
    out.write(STARTED)
    out.flush()
    try:
        torch.zeros(1, device=card.device)
        card.finish()
    except Exception as error:  # whatever a driver raises
        outcome: Outcome = "unchecked" if exhausted_tier(error) else "unreachable"
        _write(out, Connection(outcome, problem_of(error)))
        return
    _write(out, Connection())
    for line in requests:
        _write(out, tried(card, msgspec.json.decode(line, type=Trial)))


@torch.inference_mode()
def tried(card: TestedCard, trial: Trial) -> TriedWay:
    """Try one way of a kernel."""
    kind, *subject = trial.kernel.split()
    try:
        with ways.taking(trial.taken | {trial.kernel: trial.way}):
            speed = CHECKS[kind](card, subject, trial.way)
            card.finish()
    except Differs as error:
        return TriedWay(trial.kernel, trial.way, "wrong", str(error))
    except Slow as error:
        return TriedWay(trial.kernel, trial.way, "slow", str(error))
    except Exception as error:  # whatever a compiler or a driver raises
        return TriedWay(trial.kernel, trial.way, _outcome(card, error), problem_of(error))
    if speed is None:
        return TriedWay(trial.kernel, trial.way, "right")
    numbers = speed.rate, speed.possible, speed.unit, speed.remark, speed.launch_s
    return TriedWay(trial.kernel, trial.way, "right", "", *numbers)


def _outcome(card: TestedCard, error: Exception) -> Outcome:
    """Return what an error says about a way."""
    if exhausted_tier(error) or is_disk_full(error):
        return "unchecked"
    if card_stopped(error) == "fault":
        return "unreachable"
    return "failed" if _answers(card) else "crashed"


def _answers(card: TestedCard) -> bool:
    """Return whether the card still computes. After some errors, nothing in this process can use it."""
    try:
        torch.ones(8, device=card.device).sum().item()
        card.finish()
    except RuntimeError:
        return False
    return True


def _write(out: BinaryIO, answer: object) -> None:
    out.write(msgspec.json.encode(answer) + b"\n")
    out.flush()


if __name__ == "__main__":
    main()
