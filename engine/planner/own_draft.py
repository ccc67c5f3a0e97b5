"""The decision whether a streamed target should draft for itself, in fewer bits."""

from collections.abc import Sequence

from engine.planner.corrections import Observed
from engine.planner.machines import MachineProfile
from engine.planner.observation import fastest
from engine.planner.outline import PairOutline, self_pairs
from engine.planner.plan import Asked, Plan
from engine.planner.recommendation import reliable_speed
from engine.protocol.events import OwnDraft

WORTHWHILE = 1.25  # factor of speed from which substitutes are worth their room on the disk


def own_draft(
    machine: MachineProfile, pair: PairOutline, asked: Asked, plan: Plan, history: Sequence[Observed] = ()
) -> OwnDraft | None:
    """Return what the target of a pair would gain as its own draft; None if that is too little, or if the
    plan for the pair streams nothing or uses a card. A mixture has none: it reads few of its experts, and a
    draft would hold all of them. Nor has a model whose layers have states, which are not shared.

    pair: the best one, with or without a draft model. Without one, the gain is that over drafts from text
    alone (`merged` without heads), also where heads or a layer for drafts are there: what these bring is not
    predicted. Beside SmolLM2's head it was 2.0, and 1.7 beside text alone (docs/benchmarks/streaming.md)."""
    if pair.target.states or pair.target.active < 1:
        return None
    if plan.device != "cpu" or not plan.memory.ssd:
        return None
    its, own = fastest(machine, self_pairs(pair.target), asked, history)
    # A draft model's promise is taken as carefully as that of the target's own copy.
    before = reliable_speed(plan, pair, history) if pair.draft else plan.predicted_tokens_per_second
    after = reliable_speed(its, own, history)
    if not before or not after or after < WORTHWHILE * before:
        return None
    assert own.substitutes is not None
    weights = its.memory.ssd / own.target.nbytes * own.target.weights
    return OwnDraft(speedup=after / before, nbytes=int(weights * own.substitutes.stored_bits / 8))
