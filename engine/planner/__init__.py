"""What would run on a machine, where its parts would go, how fast it would be, and what would limit it.

Arithmetic over plain data; free of torch. Three files here look at the disk: `named` reads
resources/machines.toml, `finding` the catalogue and the headers of models, `kept` what answers taught about
predictions.
"""

from engine.planner.accepting import Acceptance, acceptance
from engine.planner.corrections import Correction, Observed, corrected
from engine.planner.finding import outline_named, pair_named, pair_of
from engine.planner.kept import history, remember
from engine.planner.learning import Answered, learned, observed
from engine.planner.machines import Compute, Machine, described, of_probed
from engine.planner.named import cards, named_machines, published, usual_card
from engine.planner.outlines import Outline, Pair, of_checkpoint, of_variant
from engine.planner.plan import Asked, Names, Plan, Tiers
from engine.planner.planning import LEAST_CONTEXT, PROMPT, plan_for, smaller
from engine.planner.recommending import CONTEXT, Recommendation, asked_for, recommend

__all__ = [
    "CONTEXT",
    "LEAST_CONTEXT",
    "PROMPT",
    "Acceptance",
    "Answered",
    "Asked",
    "Compute",
    "Correction",
    "Machine",
    "Names",
    "Observed",
    "Outline",
    "Pair",
    "Plan",
    "Recommendation",
    "Tiers",
    "acceptance",
    "asked_for",
    "cards",
    "corrected",
    "described",
    "history",
    "learned",
    "named_machines",
    "observed",
    "of_checkpoint",
    "of_probed",
    "of_variant",
    "outline_named",
    "pair_named",
    "pair_of",
    "plan_for",
    "published",
    "recommend",
    "remember",
    "smaller",
    "usual_card",
]
