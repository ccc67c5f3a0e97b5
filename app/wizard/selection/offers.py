"""How the catalogue's pairs run on this machine: download size, memory, predicted speed. Uses no Qt."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine import catalog, planner
from engine.catalog import Catalog, Variant
from engine.planner import Observed, Plan
from engine.planner.plan import Fit
from engine.planner.recommendation import READING_SPEED, pairs


@dataclass(frozen=True, slots=True)
class Offer:
    """One way to run a target.

    Attributes:
        draft: None if the target runs alone.
        plan: the prediction of where and how fast the pair runs.
        missing: those of the two variants that are not on this machine.
        is_best: whether this is the best way to run the target's model.
        why: why this offer is recommended; "" for every other offer.
    """

    target: Variant
    draft: Variant | None
    plan: Plan
    missing: tuple[Variant, ...]
    is_best: bool = False
    why: str = ""

    @property
    def nbytes(self) -> int:
        """The size of the target and its draft."""
        return self.target.nbytes + (self.draft.nbytes if self.draft else 0)

    @property
    def missing_nbytes(self) -> int:
        """The size of the download."""
        return sum(variant.nbytes for variant in self.missing)

    @property
    def is_local(self) -> bool:
        return not self.missing

    @property
    def gated(self) -> bool:
        """Whether a missing variant requires an account."""
        return any(variant.gated for variant in self.missing)

    @property
    def licenses(self) -> tuple[str, ...]:
        """The licences of target and draft, the target's first, without duplicates."""
        both = (self.target, self.draft) if self.draft else (self.target,)
        return tuple(dict.fromkeys(variant.license for variant in both if variant.license))


@dataclass(frozen=True, slots=True)
class Offers:
    """All offers for a machine, the recommended one first."""

    machine: planner.MachineProfile
    all: tuple[Offer, ...]
    recommended: Offer


def offers_for(machine: planner.MachineProfile, known: Catalog, history: Sequence[Observed] = ()) -> Offers:
    """Return the catalogue's offers for `machine`. Takes half a second."""
    best = planner.recommend(machine, known, history)
    offers = [
        _offer(known, planner.plan_for(machine, pair, planner.asked_for(pair.target), learned))
        for _, pair in pairs(known)
        for learned in [planner.learned(history, pair)]
    ]
    chosen: dict[str, Offer] = {}
    for offer in offers:
        kept = chosen.get(offer.target.model)
        if kept is None or _merit(offer) > _merit(kept):
            chosen[offer.target.model] = offer
    recommended = next(offer for offer in offers if offer.plan.pair == best.plan.pair)
    chosen[recommended.target.model] = recommended
    marked = [replace(offer, is_best=offer is chosen[offer.target.model]) for offer in offers]
    first = replace(recommended, is_best=True, why=best.why)
    others = [offer for offer in marked if offer.plan.pair != first.plan.pair]
    return Offers(machine, (first, *sorted(others, key=lambda offer: _rank(known, offer))), first)


def where_it_fits(machine: planner.MachineProfile, nbytes: int) -> Fit:
    """Return where a model of this size would run. Used for models that are not in the catalogue."""
    if nbytes <= machine.usable_vram:
        return "in VRAM"
    if nbytes <= machine.usable_ram:
        return "in RAM"
    return "VRAM + RAM" if nbytes <= machine.usable_vram + machine.usable_ram else "with SSD"


def _offer(known: Catalog, plan: Plan) -> Offer:
    target = known.variants[plan.pair.target]
    draft = known.variants[plan.pair.draft] if plan.pair.draft else None
    both = (target, draft) if draft else (target,)
    return Offer(target, draft, plan, tuple(variant for variant in both if catalog.find(variant) is None))


def _rank(known: Catalog, offer: Offer) -> tuple[bool, float]:
    """Return the sort key of an offer.

    Offers at reading speed or faster come first, the target with the most parameters at the top. The slower
    offers follow, the fastest first.
    """
    speed = offer.plan.predicted_tokens_per_second or 0.0
    if speed >= READING_SPEED:
        return False, -known.models[offer.target.model].parameters
    return True, -speed


def _merit(offer: Offer) -> tuple[float, int]:
    """Return a key that is higher for the faster offer and, at equal speed, for the smaller one."""
    return round(offer.plan.predicted_tokens_per_second or 0.0, 2), -offer.nbytes
