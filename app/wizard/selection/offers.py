"""How the catalogue's pairs run on this machine: download size, memory, predicted speed. Uses no Qt."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from engine import catalog, planner
from engine.catalog import Catalog, Variant
from engine.planner import Observed, Plan, RatedPlan
from engine.planner.plan import Fit
from engine.protocol.messages import Helps


@dataclass(frozen=True, slots=True)
class Offer:
    """One way to run a target.

    Attributes:
        draft: None if no other model drafts for the target.
        about: what the target is and what it is good at, in English.
        rank: the parameters by which the target is compared with other models, as in `CatalogModel`.
        run_here: whether this project has run its architecture with real weights, as in `CatalogModel`.
        plan: the prediction of where the pair runs.
        speed: the tokens/s to rely on; None if the pair will not run.
        missing: those of the two variants that are not on this machine.
        companion: the repository of what the target's maker trained to draft for it; "" if there is none, or
            if another model drafts.
        lacks_companion: whether it is not on this machine. No size here includes it, for only the Hub knows
            its size.
        is_best: whether this is the best way to run the target's model.
        is_recommended: whether this is the recommended offer.
    """

    target: Variant
    draft: Variant | None
    about: str
    rank: int
    run_here: bool
    plan: Plan
    speed: float | None
    missing: tuple[Variant, ...]
    companion: str = ""
    lacks_companion: bool = False
    is_best: bool = False
    is_recommended: bool = False

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
    def fluent(self) -> bool:
        """Whether the target answers soon and at reading speed."""
        return planner.is_fluent(self.plan, self.speed)

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
    """All offers for a machine, the recommended one first.

    Attributes:
        reason: why `recommended` is, as in `Recommendation`.
        larger, smaller: the alternatives to it, as in `Recommendation`.
    """

    machine: planner.MachineProfile
    all: tuple[Offer, ...]
    recommended: Offer
    reason: Literal["fluent", "mixture", "fastest", "none"]
    larger: Offer | None
    smaller: Offer | None


def offers_for(
    machine: planner.MachineProfile, known: Catalog, helps: Helps, history: Sequence[Observed] = ()
) -> Offers:
    """Return the catalogue's offers for `machine`. helps: whether the processor may help a graphics card, as
    in `Load`.

    Takes about a second; not to be called on the GUI thread.
    """
    rated = planner.rated_plans(machine, known, history, helps)
    best = planner.recommend_among(rated)
    offers = [_offer(known, each) for each in rated]
    chosen: dict[str, Offer] = {}
    for offer in offers:
        kept = chosen.get(offer.target.model)
        if kept is None or _merit(offer) > _merit(kept):
            chosen[offer.target.model] = offer
    recommended = next(offer for offer in offers if offer.plan.pair == best.plan.pair)
    chosen[recommended.target.model] = recommended
    first = replace(recommended, is_best=True, is_recommended=True)
    others = [
        replace(offer, is_best=offer is chosen[offer.target.model])
        for offer in offers
        if offer is not recommended
    ]

    def found(other: RatedPlan | None) -> Offer | None:
        return next((offer for offer in others if other and offer.plan.pair == other.plan.pair), None)

    ranked = (first, *sorted(others, key=_order))
    return Offers(machine, ranked, first, best.reason, found(best.larger), found(best.smaller))


def where_it_fits(machine: planner.MachineProfile, nbytes: int) -> Fit:
    """Return where a model of this size would run. Used for models that are not in the catalogue."""
    if nbytes <= machine.usable_vram:
        return "in VRAM"
    if nbytes <= machine.usable_ram:
        return "in RAM"
    return "VRAM + RAM" if nbytes <= machine.usable_vram + machine.usable_ram else "with SSD"


def _offer(known: Catalog, rated: RatedPlan) -> Offer:
    plan, model = rated.plan, rated.model
    target = known.variants[plan.pair.target]
    draft = known.variants[plan.pair.draft] if plan.pair.draft else None
    both = (target, draft) if draft else (target,)
    companion = model.companion.repository if model.companion and not draft else ""
    return Offer(
        target,
        draft,
        model.about,
        model.rank,
        model.run_here,
        plan,
        rated.speed if plan.runs else None,
        tuple(variant for variant in both if catalog.find(variant) is None),
        companion,
        bool(companion) and catalog.companion_for(target.id) is None,
    )


def _order(offer: Offer) -> tuple[bool, float]:
    """Return the sort key of an offer.

    Offers at reading speed or faster come first, the largest target at the top. The slower offers follow, the
    fastest first.
    """
    speed = offer.speed or 0.0
    if speed >= planner.READING_SPEED:
        return False, -offer.rank
    return True, -speed


def _merit(offer: Offer) -> tuple[float, int]:
    """Return a key that is higher for the faster offer and, at equal speed, for the smaller one."""
    return round(offer.speed or 0.0, 2), -offer.nbytes
