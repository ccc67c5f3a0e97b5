"""Predict whether a pair runs on a machine, where its layers go, how fast it is, and what limits it.

The package computes with plain data and does not use torch. Four of its modules access the disk: `machines`
reads resources/machines.toml; `outline` reads the catalogue and the headers of models, `stored_heads` those
of heads; `corrections` reads and writes what past answers taught about predictions.
"""

from engine.planner.acceptance import Acceptance, acceptance
from engine.planner.candidate import COMPILED_RAM, helper_of
from engine.planner.corrections import Correction, Observed, corrected, history, remember
from engine.planner.heads import HeadsOutline
from engine.planner.machines import (
    Compute,
    MachineProfile,
    cards,
    computing_in,
    data_sheet,
    described_machine,
    named_machines,
    profile_of,
    usual_card,
)
from engine.planner.observation import Answered, learned, observed
from engine.planner.outline import Outline, checkpoint_outline, layer_outline, outline_named, variant_outline
from engine.planner.own_draft import own_draft
from engine.planner.pairs import (
    OWN_LAYER,
    SELF,
    PairOutline,
    no_own_layer,
    no_self_draft,
    own_draft_refusal,
    pair_named,
    pair_of,
    pairs_named,
    self_pairs,
    with_heads,
)
from engine.planner.paper import published
from engine.planner.plan import Asked, ExpertPlan, HelpingProcessor, Names, OtherWay, Plan, Tiers
from engine.planner.recommendation import (
    CONTEXT,
    PATIENCE_S,
    READING_SPEED,
    USABLE_SPEED,
    RatedPlan,
    Recommendation,
    asked_for,
    begins_later,
    is_fluent,
    rated_plans,
    recommend,
    recommend_among,
)
from engine.planner.search import LEAST_CONTEXT, PROMPT, plan_for
from engine.planner.selection import fastest, smaller
from engine.planner.stored_heads import with_stored_heads
from engine.planner.tree_plan import TreePlan, iteration_seconds, tree_plan

__all__ = [
    "COMPILED_RAM",
    "CONTEXT",
    "LEAST_CONTEXT",
    "OWN_LAYER",
    "PATIENCE_S",
    "PROMPT",
    "READING_SPEED",
    "SELF",
    "USABLE_SPEED",
    "Acceptance",
    "Answered",
    "Asked",
    "Compute",
    "Correction",
    "ExpertPlan",
    "HeadsOutline",
    "HelpingProcessor",
    "MachineProfile",
    "Names",
    "Observed",
    "OtherWay",
    "Outline",
    "PairOutline",
    "Plan",
    "RatedPlan",
    "Recommendation",
    "Tiers",
    "TreePlan",
    "acceptance",
    "asked_for",
    "begins_later",
    "cards",
    "checkpoint_outline",
    "computing_in",
    "corrected",
    "data_sheet",
    "described_machine",
    "fastest",
    "helper_of",
    "history",
    "is_fluent",
    "iteration_seconds",
    "layer_outline",
    "learned",
    "named_machines",
    "no_own_layer",
    "no_self_draft",
    "observed",
    "outline_named",
    "own_draft",
    "own_draft_refusal",
    "pair_named",
    "pair_of",
    "pairs_named",
    "plan_for",
    "profile_of",
    "published",
    "rated_plans",
    "recommend",
    "recommend_among",
    "remember",
    "self_pairs",
    "smaller",
    "tree_plan",
    "usual_card",
    "variant_outline",
    "with_heads",
    "with_stored_heads",
]
