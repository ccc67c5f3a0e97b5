"""Compare an answer's figures with the predictions."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

from engine.planner.candidate import Candidate
from engine.planner.corrections import Correction, Observed, corrected
from engine.planner.machines import MachineProfile
from engine.planner.pairs import PairOutline
from engine.planner.plan import Asked, Plan
from engine.planner.search import Corrections, plan_for, predict

MOST = 20.0  # larger factors, and smaller ones than 1 / MOST, are accidents and are clipped


@dataclass(frozen=True, slots=True)
class Answered:
    """The measured figures of one answer, not counting its prefill.

    Attributes: `budgets`: the budget of each iteration; `tokens`: how many tokens the answer has; `draft_s`:
    seconds of drafting; `target_s`: all other seconds, including those of waiting for streamed weights.
    """

    budgets: Sequence[int]
    tokens: int
    draft_s: float
    target_s: float


def observed(
    machine: MachineProfile, pair: PairOutline, asked: Asked, plan: Plan, answer: Answered
) -> Observed | None:
    """Return the ratios of an answer's figures to their predictions; None if the answer had no trees, or if
    the plan no longer fits into the free memory. plan: the plan by which the pair was loaded."""
    gains = sum(pair.acceptance.gain * log2(1 + budget) for budget in answer.budgets)
    seconds = answer.draft_s + answer.target_s
    if not gains or seconds <= 0:
        return None
    limits = plan.held_to(asked)
    acceptance = bounded((answer.tokens - len(answer.budgets)) / gains)
    draft_s = target_s = 0.0
    for budget in answer.budgets:
        candidate = Candidate(
            pair, machine, limits, plan.device, budget, plan.target_unpacked, plan.draft_unpacked
        )
        placement = candidate.placement()
        if placement is None:
            return None  # the free memory has changed since the plan was made
        predicted = predict(candidate, placement, Correction(acceptance))
        draft_s += predicted.draft_s
        target_s += predicted.target_s
    drafting = bounded(answer.draft_s / draft_s) if draft_s else 1.0
    verifying = bounded(answer.target_s / target_s)
    correction = Correction(acceptance, drafting, verifying)
    best = plan_for(machine, pair, asked, lambda device: correction)
    choosing = bounded(answer.tokens / seconds / (best.predicted_tokens_per_second or 1.0))
    return Observed(
        pair.target.file,
        pair.draft_file,
        plan.device,
        acceptance,
        drafting,
        verifying,
        choosing,
    )


def learned(history: Sequence[Observed], pair: PairOutline) -> Corrections:
    """Return a function that gives the correction for this pair on a device, as `plan_for` takes it."""
    return lambda device: corrected(history, pair.target.file, pair.draft_file, device)


def bounded(factor: float) -> float:
    return min(MOST, max(1 / MOST, factor))
