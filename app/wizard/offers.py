"""The catalogue's pairs on this machine: what each takes, where it would lie, how fast it would be. Knows no
Qt."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine import catalog, planner
from engine.catalog import Catalog, Variant
from engine.planner import Observed, Plan
from engine.planner.plan import Fit
from engine.planner.recommending import READING_SPEED, pairs


@dataclass(frozen=True, slots=True)
class Offer:
    """One way to run a target.

    Attributes: `target`; `draft`: None, alone; `plan`, its predictions; `missing`: what of it is not on this
    machine; `is_best`: the one to take for this target; `why`: in words, for the recommended one, else "".
    """

    target: Variant
    draft: Variant | None
    plan: Plan
    missing: tuple[Variant, ...]
    is_best: bool = False
    why: str = ""

    @property
    def nbytes(self) -> int:
        """Of the target and its draft."""
        return self.target.nbytes + (self.draft.nbytes if self.draft else 0)

    @property
    def missing_nbytes(self) -> int:
        return sum(variant.nbytes for variant in self.missing)

    @property
    def is_here(self) -> bool:
        return not self.missing

    @property
    def gated(self) -> bool:
        """Whether something that is missing asks for an account."""
        return any(variant.gated for variant in self.missing)

    @property
    def licenses(self) -> tuple[str, ...]:
        """The target's first; each once."""
        both = (self.target, self.draft) if self.draft else (self.target,)
        return tuple(dict.fromkeys(variant.license for variant in both if variant.license))


@dataclass(frozen=True, slots=True)
class Offers:
    """`recommended` is one of `all`."""

    machine: planner.Machine
    all: tuple[Offer, ...]
    recommended: Offer


def offers_for(machine: planner.Machine, known: Catalog, history: Sequence[Observed] = ()) -> Offers:
    """Takes half a second."""
    best = planner.recommend(machine, known, history)
    found = [
        _offer(known, planner.plan_for(machine, pair, planner.asked_for(pair.target), learned))
        for _, pair in pairs(known)
        for learned in [planner.learned(history, pair)]
    ]
    chosen: dict[str, Offer] = {}
    for offer in found:
        kept = chosen.get(offer.target.model)
        if kept is None or _merit(offer) > _merit(kept):
            chosen[offer.target.model] = offer
    recommended = next(offer for offer in found if offer.plan.pair == best.plan.pair)
    chosen[recommended.target.model] = recommended
    marked = [replace(offer, is_best=offer is chosen[offer.target.model]) for offer in found]
    first = replace(recommended, is_best=True, why=best.why)
    others = [offer for offer in marked if offer.plan.pair != first.plan.pair]
    return Offers(machine, (first, *sorted(others, key=lambda offer: _rank(known, offer))), first)


def where_it_fits(machine: planner.Machine, nbytes: int) -> Fit:
    """By its bytes alone, for a model that the catalogue does not know."""
    if nbytes <= machine.vram_room:
        return "in VRAM"
    if nbytes <= machine.ram_room:
        return "in RAM"
    return "VRAM + RAM" if nbytes <= machine.vram_room + machine.ram_room else "with SSD"


def _offer(known: Catalog, plan: Plan) -> Offer:
    target = known.variants[plan.pair.target]
    draft = known.variants[plan.pair.draft] if plan.pair.draft else None
    both = (target, draft) if draft else (target,)
    return Offer(target, draft, plan, tuple(each for each in both if catalog.find(each) is None))


def _rank(known: Catalog, offer: Offer) -> tuple[bool, float]:
    """Those that answer as fast as a person reads, the largest first; then the others, the fastest first."""
    speed = offer.plan.predicted_tokens_per_second or 0.0
    if speed >= READING_SPEED:
        return False, -known.models[offer.target.model].parameters
    return True, -speed


def _merit(offer: Offer) -> tuple[float, int]:
    """Of two ways to the same target, the faster; as fast, the smaller download."""
    return round(offer.plan.predicted_tokens_per_second or 0.0, 2), -offer.nbytes
