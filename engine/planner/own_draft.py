"""The decision whether a streamed target should draft for itself, in fewer bits."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from engine.planner.corrections import Observed
from engine.planner.machines import MachineProfile
from engine.planner.pairs import PairOutline, own_draft_refusal, self_pairs
from engine.planner.plan import Asked, Plan
from engine.planner.recommendation import reliable_speed
from engine.planner.selection import fastest
from engine.protocol.events import OwnDraft

NOTHING_KEPT: Mapping[str, float] = MappingProxyType({})
WORTHWHILE = 1.25  # factor of speed from which substitutes are worth their room on the disk


def own_draft(
    machine: MachineProfile,
    pair: PairOutline,
    asked: Asked,
    plan: Plan,
    history: Sequence[Observed] = (),
    kept: Mapping[str, float] = NOTHING_KEPT,
) -> OwnDraft | None:
    """Return what the target of a pair would gain as its own draft; None if that is too little, if the target
    cannot draft for itself, or if the plan for the pair streams nothing or uses a card.

    pair: the best one, with or without a draft model. Without one, the gain is that over drafts from text
    alone (`merged` without heads), also where heads are there, whose gain is not predicted; or over the
    target's own layer for drafts. Beside SmolLM2's head it was 2.0, and 1.7 beside text alone
    (docs/benchmarks/streaming.md). kept: the formats of substitutes that the disk has, as for `fastest`,
    which loading asks, too; and the share of all weights of which it has them."""
    if own_draft_refusal(pair.target) is not None:
        return None
    if plan.device != "cpu" or not plan.memory.ssd:
        return None
    its, own = fastest(machine, self_pairs(pair.target), asked, history, kept)
    # A draft model's promise is taken as carefully as that of the target's own copy.
    before = reliable_speed(plan, pair, history) if pair.draft else plan.predicted_tokens_per_second
    after = reliable_speed(its, own, history)
    if not before or not after or after < WORTHWHILE * before:
        return None
    assert own.substitutes is not None
    share = its.memory.ssd / own.target.multiplied - kept.get(own.substitutes.name, 0.0)
    return OwnDraft(speedup=after / before, nbytes=int(max(0.0, share) * own.substitutes.stored))
