"""Recommend a pair for a machine, and give the reason as text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.catalog import Catalog, CatalogModel, Variant
from engine.planner.acceptance import acceptance
from engine.planner.corrections import Observed
from engine.planner.machines import MachineProfile
from engine.planner.observation import learned
from engine.planner.outline import Outline, PairOutline, variant_outline
from engine.planner.plan import Asked, Plan
from engine.planner.search import plan_for

READING_SPEED = 5.0  # tokens/s: 240 words a minute
PATIENCE_S = 15.0  # longest wait for the first token after a prompt of 1,000 tokens
# The share of a predicted speed to rely on if the pair's acceptance was never measured.
CAUTION = 0.75
CONTEXT = 8192  # tokens, if the model allows them


@dataclass(frozen=True, slots=True)
class Recommendation:
    plan: Plan
    why: str


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan for a pair with `model` as the target. `speed`: predicted tokens/s; `sure`: the share of the
    speed to rely on."""

    model: CatalogModel
    plan: Plan
    speed: float
    sure: float

    @property
    def fluent(self) -> bool:
        """Whether the model answers soon and at reading speed."""
        first_s = self.plan.time_to_first_token_s
        soon = first_s is not None and first_s <= PATIENCE_S
        return soon and self.speed * self.sure >= READING_SPEED


def pairs(catalog: Catalog) -> Iterator[tuple[CatalogModel, PairOutline]]:
    """Yield every target of the catalogue in each of its quantized variants, with the smallest variant of
    each of its drafts, and without a draft."""
    for model in catalog.models.values():
        drafts = []
        for pair in catalog.drafts_for(model.id):
            draft = catalog.models[pair.draft]
            smallest = min(draft.variants, key=lambda variant: variant.nbytes)
            outline = variant_outline(draft, smallest)
            drafts.append((outline, acceptance(outline.weights, pair.expectations)))
        for variant in quantized(model):
            target = variant_outline(model, variant)
            for outline, accepted in drafts:
                yield model, PairOutline(target, outline, accepted)
            yield model, PairOutline(target, None, acceptance(0))


def quantized(model: CatalogModel) -> list[Variant]:
    """Return the model's variants except the 16-bit ones, which gain little quality for four times the bytes.
    If there are only 16-bit ones, return these."""
    return [each for each in model.variants if each.format != "16-bit"] or list(model.variants)


def asked_for(target: Outline) -> Asked:
    """Return the settings to plan with for a target if the user has fixed none."""
    return Asked(min(CONTEXT, target.context))


def recommend(machine: MachineProfile, catalog: Catalog, history: Sequence[Observed] = ()) -> Recommendation:
    """Recommend the largest target that answers soon and reliably at reading speed; if none does, the
    fastest."""
    planned = []
    for model, pair in pairs(catalog):
        plan = plan_for(machine, pair, asked_for(pair.target), learned(history, pair))
        if plan.predicted_tokens_per_second is not None:
            sure = 1.0 if pair.acceptance.source != "estimated" else CAUTION
            planned.append(Planned(model, plan, plan.predicted_tokens_per_second, sure))
    if not planned:
        smallest = min((pair for _, pair in pairs(catalog)), key=lambda pair: pair.target.nbytes)
        plan = plan_for(machine, smallest, asked_for(smallest.target))
        return Recommendation(plan, f"Not even the smallest model runs: it needs {plan.missing}.")
    fluent = [each for each in planned if each.fluent]
    if not fluent:
        best = max(planned, key=lambda each: each.speed)
        return Recommendation(
            best.plan,
            f"{best.model.name} is the fastest model for this machine, at {best.speed:.1f} tokens/s.",
        )
    best = max(fluent, key=lambda each: (each.model.parameters, each.speed))
    why = f"{best.model.name} is the largest model that reaches {READING_SPEED:.0f} tokens/s or more here"
    larger = [each for each in planned if each.model.parameters > best.model.parameters]
    if larger:
        other = max(larger, key=lambda each: each.speed)
        first_s = other.plan.time_to_first_token_s
        if other.speed * other.sure >= READING_SPEED and first_s is not None:
            why += f"; {other.model.name} would take {first_s:.0f} s to the first token after a long prompt"
        else:
            guessed = ", if its draft agrees as well as estimated" if other.sure < 1 else ""
            why += f"; {other.model.name} would reach {other.speed:.1f}{guessed}"
    return Recommendation(best.plan, why + ".")
