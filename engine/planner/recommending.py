"""Which pair a machine should run, and why, in words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.catalog import Catalog, Model, Variant
from engine.planner.accepting import acceptance
from engine.planner.corrections import Observed
from engine.planner.learning import learned
from engine.planner.machines import Machine
from engine.planner.outlines import Outline, Pair, of_variant
from engine.planner.plan import Asked, Plan
from engine.planner.planning import plan_for

READING_SPEED = 5.0  # tokens/s: 240 words a minute
# So much of a predicted speed is counted on where nobody has measured how well the pair agrees.
CAUTION = 0.75
CONTEXT = 8192  # tokens, where the model allows them


@dataclass(frozen=True, slots=True)
class Recommendation:
    plan: Plan
    why: str


@dataclass(frozen=True, slots=True)
class Planned:
    """speed: predicted, in tokens/s. sure: how much of it is counted on."""

    model: Model
    plan: Plan
    speed: float
    sure: float


def pairs(catalog: Catalog) -> Iterator[tuple[Model, Pair]]:
    """Every target of the catalogue, in each of its quantized forms, with each draft for it in its smallest
    form, and without."""
    for model in catalog.models.values():
        drafts = []
        for pair in catalog.drafts_for(model.id):
            draft = catalog.models[pair.draft]
            smallest = min(draft.variants, key=lambda variant: variant.nbytes)
            outline = of_variant(draft, smallest)
            drafts.append((outline, acceptance(outline.weights, pair.expectations)))
        for variant in quantized(model):
            target = of_variant(model, variant)
            for outline, accepted in drafts:
                yield model, Pair(target, outline, accepted)
            yield model, Pair(target, None, acceptance(0))


def quantized(model: Model) -> list[Variant]:
    """Its forms but 16-bit ones, which say little more in four times the bytes; those where there are no
    others."""
    return [each for each in model.variants if each.format != "16-bit"] or list(model.variants)


def asked_for(target: Outline) -> Asked:
    return Asked(min(CONTEXT, target.context))


def recommend(machine: Machine, catalog: Catalog, history: Sequence[Observed] = ()) -> Recommendation:
    """The largest target that surely answers as fast as a person reads; where none does, the fastest."""
    planned = []
    for model, pair in pairs(catalog):
        plan = plan_for(machine, pair, asked_for(pair.target), learned(history, pair))
        if plan.predicted_tokens_per_second is not None:
            sure = 1.0 if pair.acceptance.source != "estimated" else CAUTION
            planned.append(Planned(model, plan, plan.predicted_tokens_per_second, sure))
    if not planned:
        smallest = min((pair for _, pair in pairs(catalog)), key=lambda pair: pair.target.nbytes)
        plan = plan_for(machine, smallest, asked_for(smallest.target))
        return Recommendation(plan, f"Not even the smallest model runs: {plan.missing} is needed.")
    fluent = [each for each in planned if each.speed * each.sure >= READING_SPEED]
    if not fluent:
        best = max(planned, key=lambda each: each.speed)
        return Recommendation(
            best.plan, f"{best.model.name} is the fastest here, with {best.speed:.1f} tokens/s."
        )
    best = max(fluent, key=lambda each: (each.model.parameters, each.speed))
    why = f"{best.model.name} is the largest model that answers at {READING_SPEED:.0f} tokens/s or more here"
    larger = [each for each in planned if each.model.parameters > best.model.parameters]
    if larger:
        other = max(larger, key=lambda each: each.speed)
        guessed = ", by a guess of how well its draft agrees" if other.sure < 1 else ""
        why += f"; {other.model.name} would reach {other.speed:.1f}{guessed}"
    return Recommendation(best.plan, why + ".")
