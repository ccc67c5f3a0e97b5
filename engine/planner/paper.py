"""The paper's measurements beside predictions: of the engine it measured, and of this one on its machines.

That engine (yandex-research/specexec) keeps no layer of the target resident, moves nothing while the draft
works, launches every kernel of transformers' layers by itself, and grows trees with up to 128 beams.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.planner.accepting import acceptance
from engine.planner.finding import catalogued, expectations
from engine.planner.machines import Compute, described, processor
from engine.planner.named import Published, cards, published
from engine.planner.outlines import Pair
from engine.planner.plan import Asked, Plan
from engine.planner.planning import plan_for

# Seconds of a draft's layer in a round: the README's own run with TinyLlama's 22 layers, 0.21 s for 15.2
# levels at budget 128, 0.27 s for 17.8 at 256, 0.37 s for 20.2 at 512. Those trees were 2.3 to 2.5 times as
# deep as the accepted path.
LAYER_S = 0.65e-3
DEPTH = 2.3

CONTEXT = 1024  # tokens; its runs were a few hundred long
RAM_GIB = 256


@dataclass(frozen=True, slots=True)
class Compared:
    """`tokens_per_pass`: as published, else as predicted from what was published of this pair. Seconds of an
    iteration: `published_s`, their tokens per pass over tokens/s; `predicted_s`, their engine's. Of a plain
    pass, which is the link alone: None where no speed-up was published. `ours`: this engine's plan with the
    same budget."""

    published: Published
    tokens_per_pass: float
    published_s: float
    predicted_s: float
    published_plain_s: float | None
    predicted_plain_s: float
    ours: Plan

    @property
    def ratio(self) -> float:
        return self.predicted_s / self.published_s


def comparison() -> Iterator[Compared]:
    for each in published():
        target, draft = catalogued(each.target), catalogued(each.draft)
        said = expectations(target, draft)
        nearest = min(said, key=lambda one: abs(math.log(one.budget / each.budget)))
        accepted = acceptance(draft.weights, [nearest], temperature=0.6)
        tokens = each.tokens_per_pass or accepted.tokens(each.budget)
        pair = Pair(target, draft, replace(accepted, gain=(tokens - 1) / math.log2(1 + each.budget)))
        card = cards()[each.card]
        # Nothing of theirs runs on the processor.
        machine = described(each.vram, RAM_GIB, each.link, 1e9, card, processor(1, set()))
        yield Compared(
            published=each,
            tokens_per_pass=tokens,
            published_s=tokens / each.tokens_per_second,
            predicted_s=iteration_s(pair, tokens, each.link, card),
            published_plain_s=each.speed_up and each.speed_up / each.tokens_per_second,
            predicted_plain_s=sum(target.layers) / each.link,
            ours=plan_for(machine, pair, Asked(CONTEXT, budget=each.budget, device="cuda")),
        )


def iteration_s(pair: Pair, tokens_per_pass: float, link: float, card: Compute) -> float:
    """Seconds of one iteration of the paper's engine: the draft's rounds, then all layers over the link."""
    draft_s = 0.0
    if pair.draft is not None:
        reading_s = pair.draft.nbytes / card.memory
        draft_s = DEPTH * tokens_per_pass * (len(pair.draft.layers) * LAYER_S + reading_s)
    return draft_s + sum(pair.target.layers) / link
