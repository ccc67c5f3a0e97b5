"""From an answer's figures to what they say about predictions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log2

from engine.planner.corrections import Correction, Observed, corrected
from engine.planner.machines import Machine
from engine.planner.outlines import Pair
from engine.planner.plan import Asked, Plan
from engine.planner.planning import Candidate, Corrections, plan_for, predict

MOST = 20.0  # a factor beyond that is an accident, and is kept as this


@dataclass(frozen=True, slots=True)
class Answered:
    """Figures of one answer, after its prefill. budgets: of each iteration. target_s: with waiting for what
    is streamed, and all else that is not drafting."""

    budgets: Sequence[int]
    tokens: int
    draft_s: float
    target_s: float


def observed(machine: Machine, pair: Pair, asked: Asked, plan: Plan, answer: Answered) -> Observed | None:
    """plan: what was loaded by. None: there is nothing to learn from an answer without trees."""
    gains = sum(pair.acceptance.gain * log2(1 + budget) for budget in answer.budgets)
    seconds = answer.draft_s + answer.target_s
    if not gains or seconds <= 0:
        return None
    limits = replace(asked, vram_limit=plan.vram_limit, ram_limit=plan.ram_limit)
    acceptance = bounded((answer.tokens - len(answer.budgets)) / gains)
    draft_s = target_s = 0.0
    for budget in answer.budgets:
        candidate = Candidate(
            pair, machine, limits, plan.device, budget, plan.target_unpacked, plan.draft_unpacked
        )
        placement = candidate.placement()
        if placement is None:
            return None  # other memory is free than when the plan was made
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
        pair.draft.file if pair.draft else "",
        plan.device,
        acceptance,
        drafting,
        verifying,
        choosing,
    )


def learned(history: Sequence[Observed], pair: Pair) -> Corrections:
    """What `plan_for` takes."""
    draft = pair.draft.file if pair.draft else ""
    return lambda device: corrected(history, pair.target.file, draft, device)


def bounded(factor: float) -> float:
    return min(MOST, max(1 / MOST, factor))
