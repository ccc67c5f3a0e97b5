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
# There, other heads stay at no less than this share of the speed without them, as long as memory does not run
# out. What they bring is not predicted: the share is a guess.
OTHERS_PAY = 0.9


def fastest(
    machine: MachineProfile,
    pairs: Sequence[PairOutline],
    asked: Asked,
    history: Sequence[Observed],
    kept: Collection[str] = (),
) -> tuple[Plan, PairOutline]:
    """Return the plan that promises most tokens per second, with its pair: the first one's if none runs. The
    pair says whether optional heads are loaded. They are if no part of the target is streamed beside them and
    they do not drive it from a card; or if that promises, by the tokens per second without them,
    OWN_LAYER_PAYS times as many with the target's own layer for drafts, OTHERS_PAY times as many with others.

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
    heads are loaded as in `fastest`, but others than the target's own layer must not cost any speed where
    they have to pay. If nothing runs on the machine, the context is halved until something does.
    """
    if full == "vram":
        machine = replace(machine, vram=plan.memory.vram * 7 // 8 + VRAM_MARGIN)
    else:
        machine = machine.with_usable_ram(plan.memory.ram * 7 // 8)
    context = plan.context
    while True:
        asked = replace(asked, context=context)
        found, its = _planned(machine, pair, asked, history, others_pay=1.0)
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
    others_pay: float = OTHERS_PAY,
) -> tuple[Plan, PairOutline]:
    """Return the plan for a pair, with optional heads only where they are loaded. others_pay: instead of
    OTHERS_PAY."""
    beside = plan, _ = plan_for(machine, pair, asked, learned(history, pair)), pair
    if pair.heads is None or not pair.optional_heads:
        return beside
    without = without_heads(pair)
    alone = plan_for(machine, without, asked, learned(history, without)), without
    if not plan.runs:
        return alone
    if plan.device == alone[0].device and not plan.streams:
        return beside
    least = OWN_LAYER_PAYS if pair.layer else others_pay
    return beside if _speed(beside) >= least * _speed(alone) else alone


def _speed(planned: tuple[Plan, PairOutline]) -> float:
    return planned[0].predicted_tokens_per_second or 0.0
