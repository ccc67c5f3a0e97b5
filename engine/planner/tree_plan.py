"""What a plan says of trees: the first one, the largest, and the predicted seconds of each."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from engine.planner.candidate import Candidate
from engine.planner.corrections import Correction
from engine.planner.machines import MachineProfile
from engine.planner.pairs import PairOutline
from engine.planner.plan import Asked, Plan
from engine.planner.search import predict


@dataclass(frozen=True, slots=True)
class TreePlan:
    """What a plan says of trees.

    Attributes: `first`: the budget of the first one, None for the drafter's default; `most`: that of the
    largest one for which there is memory; `iteration_s`: budget -> predicted seconds of an iteration;
    `computing_s`: the same if the cache of experts has all that are chosen; `is_moving`: whether moving bytes
    is what limits the speed.
    """

    first: int | None
    most: int
    iteration_s: Callable[[int], float]
    computing_s: Callable[[int], float]
    is_moving: bool = False


def tree_plan(machine: MachineProfile, pair: PairOutline, asked: Asked, plan: Plan) -> TreePlan | None:
    """Return what is to be known of trees with the target's layers where `plan` puts them; None if the plan
    does not run."""
    if plan.budget is None:
        return None
    limits = replace(plan.held_to(asked), context=plan.context)

    def candidate(budget: int) -> Candidate:
        unpacked = plan.target_unpacked, plan.draft_unpacked
        return Candidate(pair, machine, limits, plan.device, budget, *unpacked)

    first = candidate(plan.budget)
    placement = first.placement()
    if placement is None:
        return None
    known = Correction()
    return TreePlan(
        plan.budget,
        first.most_budget(placement),
        lambda budget: predict(candidate(budget), placement, known).s,
        lambda budget: predict(candidate(budget), placement, known, missing=False).s,
        plan.limited_by in ("disk", "PCIe"),
    )


def iteration_seconds(
    machine: MachineProfile, pair: PairOutline, asked: Asked, plan: Plan
) -> Callable[[int], float] | None:
    """Return `TreePlan.iteration_s`; None if the plan does not run."""
    trees = tree_plan(machine, pair, asked, plan)
    return None if trees is None else trees.iteration_s
