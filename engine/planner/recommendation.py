"""Recommend a pair for a machine, give the reason, and name a larger and a smaller alternative."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from engine.catalog import Catalog, CatalogModel, Variant
from engine.planner.acceptance import acceptance
from engine.planner.candidate import helper_of
from engine.planner.corrections import Observed
from engine.planner.machines import MachineProfile
from engine.planner.outline import Outline, variant_outline
from engine.planner.pairs import PairOutline, smallest_form, with_heads
from engine.planner.plan import Asked, Plan
from engine.planner.selection import fastest
from engine.protocol.requests import Helps

READING_SPEED = 5.0  # tokens/s: 240 words a minute
PATIENCE_S = 15.0  # longest wait for the first token after a prompt of 1,000 tokens
USABLE_SPEED = 1.0  # tokens/s below which a larger model is no alternative
NOTABLE = 1.5  # factor of rank or of tokens/s from which an alternative is worth a line
ALIKE = 1.05  # factor of rank up to which models count as equally large
# The share of a predicted speed to rely on if the pair's acceptance was never measured.
CAUTION = 0.75
CONTEXT = 8192  # tokens, if the model allows them


@dataclass(frozen=True, slots=True)
class RatedPlan:
    """A pair with its plan. `model`: the target's; `pair`: as it is planned, with optional heads or without
    them; `speed`: the tokens/s to rely on, 0 if the pair will not run."""

    model: CatalogModel
    pair: PairOutline
    plan: Plan
    speed: float

    @property
    def fluent(self) -> bool:
        """Whether the model answers soon and at reading speed."""
        return is_fluent(self.plan, self.speed)


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The recommended pair, and at most two alternatives.

    Attributes: `reason`: "fluent" for the largest target that answers soon and at reading speed without
    reading weights from the disk, "mixture" for a mixture of experts that answers faster than the largest
    other target that answers soon and at reading speed, "fastest" if there is neither; "none" if nothing
    runs, and `plan` is the one that lacks the least; `larger`, a larger target that answers later or more
    slowly; `smaller`, a smaller target that answers much faster.
    """

    plan: Plan
    reason: Literal["fluent", "mixture", "fastest", "none"]
    larger: RatedPlan | None = None
    smaller: RatedPlan | None = None


def pairs(catalog: Catalog) -> Iterator[tuple[CatalogModel, PairOutline]]:
    """Yield every target of the catalogue in each of its quantized variants, with the smallest variant of
    each of its drafts, and without a draft: then with the layer for drafts that comes with it, where
    `fastest` loads that."""
    for model in catalog.models.values():
        drafts = []
        for pair in catalog.drafts_for(model.id):
            draft = catalog.models[pair.draft]
            outline = variant_outline(draft, smallest_form(draft))
            drafts.append((outline, acceptance(outline.weights, pair.expectations)))
        for variant in quantized(model):
            target = variant_outline(model, variant)
            for outline, accepted in drafts:
                yield model, PairOutline(target, outline, accepted)
            yield model, with_heads(target, target.own_layer, optional=True)


def quantized(model: CatalogModel) -> list[Variant]:
    """Return the model's variants except the 16-bit ones, which gain little quality for four times the bytes.
    If there are only 16-bit ones, return these."""
    return [each for each in model.variants if each.format != "16-bit"] or list(model.variants)


def is_fluent(plan: Plan, speed: float | None) -> bool:
    """Return whether a pair answers soon, and at reading speed. speed: the tokens/s to rely on."""
    first_s = plan.time_to_first_token_s
    return first_s is not None and first_s <= PATIENCE_S and (speed or 0.0) >= READING_SPEED


def begins_later(plan: Plan, other: Plan) -> bool:
    """Return whether the first token of `plan` is predicted to come after that of `other`. Both run."""
    return (plan.time_to_first_token_s or 0.0) > (other.time_to_first_token_s or 0.0)


def asked_for(machine: MachineProfile, target: Outline, helps: Helps = "auto") -> Asked:
    """Return the settings to plan with for a target if the user has fixed none but `helps`, which is as in
    `Load`."""
    return Asked(min(CONTEXT, target.context), helper=helper_of(machine, target, helps))


def reliable_speed(plan: Plan, pair: PairOutline, history: Sequence[Observed]) -> float | None:
    """Return the tokens/s to rely on: the predicted ones if the pair was measured, by its authors or on this
    machine, else a share of them. None if the pair will not run."""
    if plan.predicted_tokens_per_second is None:
        return None
    files = pair.target.file, pair.draft_file
    is_known = pair.acceptance.source != "estimated" or any(
        (each.target, each.draft) == files for each in history
    )
    return plan.predicted_tokens_per_second * (1.0 if is_known else CAUTION)


def rated_plans(
    machine: MachineProfile, catalog: Catalog, history: Sequence[Observed] = (), helps: Helps = "auto"
) -> list[RatedPlan]:
    """Return the plan of each of the catalogue's `pairs`, in their order. helps: as in `Load`. Takes
    about a second."""
    rated = []
    for model, offered in pairs(catalog):
        asked = asked_for(machine, offered.target, helps)
        plan, pair = fastest(machine, [offered], asked, history)
        rated.append(RatedPlan(model, pair, plan, reliable_speed(plan, pair, history) or 0.0))
    return rated


def recommend(
    machine: MachineProfile, catalog: Catalog, history: Sequence[Observed] = (), helps: Helps = "auto"
) -> Recommendation:
    """Return what `recommend_among` returns for all pairs of the catalogue."""
    return recommend_among(rated_plans(machine, catalog, history, helps))


def recommend_among(rated: Sequence[RatedPlan]) -> Recommendation:
    """Recommend a mixture of experts that answers soon and reliably at reading speed, and faster than the
    largest other target that does so; without one the largest target that does so from memory; without that
    the fastest. A model that its maker has replaced by one of the same size is not recommended. rated: all
    pairs of the catalogue, at least one."""
    contenders = [
        each for each in rated if each.plan.runs and not each.model.special and not each.model.successor
    ]
    if not contenders:
        smallest = min(rated, key=lambda each: each.pair.target.nbytes)
        return Recommendation(smallest.plan, "none")
    fluent = [each for each in contenders if each.fluent]
    mixture = _mixture(fluent)
    if mixture:
        return _found(contenders, mixture, "mixture")
    in_memory = [each for each in fluent if each.plan.fit != "with SSD"]
    if in_memory:
        return _found(contenders, max(in_memory, key=_size), "fluent")
    return _found(contenders, max(contenders, key=lambda each: each.speed), "fastest")


def _found(
    contenders: Sequence[RatedPlan], best: RatedPlan, reason: Literal["fluent", "mixture", "fastest"]
) -> Recommendation:
    return Recommendation(best.plan, reason, _larger(contenders, best), _smaller(contenders, best))


def _mixture(fluent: Sequence[RatedPlan]) -> RatedPlan | None:
    """Return the fastest mixture of experts if it is faster than the largest other target; None if there is
    none. A mixture smaller than that target, or whose maker likens it to smaller ones, is left out: it knows
    less than any dense model of its size."""
    others = [each for each in fluent if not each.model.experts]
    dense = max(others, key=_size, default=None)
    least = dense.model.rank / ALIKE if dense else 0
    mixtures = [each for each in fluent if each.model.experts and each.model.rank >= least]
    best = max(mixtures, key=lambda each: each.speed, default=None)
    return best if best and (dense is None or best.speed > dense.speed) else None


def _larger(contenders: Sequence[RatedPlan], best: RatedPlan) -> RatedPlan | None:
    """Return the fastest usable one of the larger targets that are slower than `best`, in tokens/s or until
    their first token; None if there is none."""
    larger = [
        each
        for each in contenders
        if _is_larger(each.model, best.model)
        and each.speed >= USABLE_SPEED
        and (each.speed < best.speed or begins_later(each.plan, best.plan))
    ]
    return max(larger, key=lambda each: each.speed, default=None)


def _smaller(contenders: Sequence[RatedPlan], best: RatedPlan) -> RatedPlan | None:
    """Return the largest one of the smaller targets that are much faster than `best`, or None."""
    smaller = [
        each
        for each in contenders
        if _is_larger(best.model, each.model) and each.speed >= NOTABLE * best.speed
    ]
    return max(smaller, key=_size, default=None)


def _is_larger(model: CatalogModel, other: CatalogModel) -> bool:
    """Return whether a model is notably larger than another by rank, and in its number of parameters, which
    users read as its size, too."""
    return model.rank >= NOTABLE * other.rank and model.parameters > other.parameters


def _size(rated: RatedPlan) -> tuple[int, float]:
    return rated.model.rank, rated.speed
