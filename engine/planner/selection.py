"""Select the plan by which a pair is loaded: among several pairs, with optional heads or without them, and
the next smaller one once memory has run out."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Literal

from engine.planner.corrections import Observed
from engine.planner.machines import VRAM_MARGIN, MachineProfile
from engine.planner.observation import learned
from engine.planner.pairs import PairOutline, without_heads
from engine.planner.plan import Asked, Plan
from engine.planner.search import LEAST_CONTEXT, plan_for
from engine.planner.substitute_formats import CLEARLY

# Beside a streamed target, the layer for drafts takes memory in which more of the target would stay; what it
# brings is estimated.
OWN_LAYER_PAYS = 1.1


def fastest(
    machine: MachineProfile,
    pairs: Sequence[PairOutline],
    asked: Asked,
    history: Sequence[Observed],
    kept: Collection[str] = (),
) -> tuple[Plan, PairOutline]:
    """Return the plan that promises most tokens per second, with its pair: the first one's if none runs. The
    pair says whether optional heads are loaded. The target's own layer for drafts is if no part of the target
    is streamed beside it, or if that promises OWN_LAYER_PAYS times as many tokens per second; others are
    where the plan runs with them.

    kept: the formats of substitutes that the disk has. A plan with one of them is taken unless another
    promises CLEARLY more.
    """
    planned = [_planned(machine, pair, asked, history) for pair in pairs]
    best = max(planned, key=_speed)
    made = max((each for each in planned if each[0].substitutes in kept), key=_speed, default=best)
    return best if _speed(best) >= CLEARLY * _speed(made) else made


def smaller(
    plan: Plan,
    machine: MachineProfile,
    pair: PairOutline,
    asked: Asked,
    full: Literal["vram", "ram"],
    history: Sequence[Observed] = (),
) -> tuple[Plan, PairOutline, MachineProfile] | None:
    """Return the plan to try after `plan` has run out of memory, with its pair, and the machine that it is
    for; None if nothing is left to try.

    That machine has, in the tier that was `full`, an eighth less memory than `plan` uses there. Optional
    heads are given up if the target is streamed beside them, unless they pay as in `fastest`. If nothing runs
    on the machine, the context is halved until something does.
    """
    if full == "vram":
        machine = replace(machine, vram=plan.memory.vram * 7 // 8 + VRAM_MARGIN)
    else:
        machine = machine.with_usable_ram(plan.memory.ram * 7 // 8)
    context = plan.context
    while True:
        asked = replace(asked, context=context)
        found, its = _planned(machine, pair, asked, history, must_pay=True)
        if found.runs:
            return found, its, machine
        context //= 2
        if context < LEAST_CONTEXT:
            return None


def _planned(
    machine: MachineProfile,
    pair: PairOutline,
    asked: Asked,
    history: Sequence[Observed],
    must_pay: bool = False,
) -> tuple[Plan, PairOutline]:
    """Return the plan for a pair, with optional heads only where they are loaded. must_pay: whether heads
    whose gain is not predicted, too, are left out if the plan without them promises more."""
    beside = plan_for(machine, pair, asked, learned(history, pair)), pair
    if pair.heads is None or not pair.optional_heads:
        return beside
    plan = beside[0]
    if plan.runs and not (plan.streams and (pair.layer or must_pay)):
        return beside
    alone = _planned(machine, without_heads(pair), asked, history)
    least = (OWN_LAYER_PAYS if pair.layer else 1.0) * _speed(alone)
    return beside if plan.runs and _speed(beside) >= least else alone


def _speed(planned: tuple[Plan, PairOutline]) -> float:
    return planned[0].predicted_tokens_per_second or 0.0
