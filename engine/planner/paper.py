"""Compare the paper's measurements with predictions for its engine and for this one on the same machines.

The paper's engine (yandex-research/specexec) keeps no layer of the target resident, moves no weights
during drafting, launches every kernel of transformers' layers individually, and grows trees with up to 128
beams.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.planner.acceptance import acceptance
from engine.planner.machines import Compute, cards, described_machine, figures, processor
from engine.planner.outline import catalogued
from engine.planner.pairs import PairOutline, expectations
from engine.planner.plan import Asked, Plan
from engine.planner.search import plan_for

# LAYER_S: seconds that one layer of the draft takes in a round. DEPTH: depth of a tree relative to the
# accepted path. Both come from the run in that engine's README, with TinyLlama's 22 layers: growing a tree
# took 0.21 s for 15.2 levels at budget 128, 0.27 s for 17.8 at 256, and 0.37 s for 20.2 at 512. Those trees
# were 2.3 to 2.5 times as deep as the accepted path.
LAYER_S = 0.65e-3
DEPTH = 2.3

CONTEXT = 1024  # tokens; the paper's runs were a few hundred long
RAM_GIB = 256


@dataclass(frozen=True, slots=True)
class Published:
    """A measurement published in the paper.

    Attributes: `vram`: the card's memory in GiB; `link`: bandwidth from RAM to the card in bytes per second;
    `link_from`: the source of that figure; `tokens_per_pass`: None if not published; `speed_up`: the factor
    over plain decoding, None if not published; `note`: an explanation if measurement and prediction disagree.
    """

    name: str
    card: str
    vram: float
    target: str
    draft: str
    budget: int
    tokens_per_second: float
    link: float
    link_from: str
    tokens_per_pass: float | None
    speed_up: float | None
    note: str


@dataclass(frozen=True, slots=True)
class Compared:
    """A published measurement with predictions.

    Attributes: `tokens_per_pass`: as published, or else predicted from other figures of the pair;
    `published_s`: seconds of an iteration, which are `tokens_per_pass` divided by the published tokens/s;
    `predicted_s`: the same, predicted for the paper's engine; `published_plain_s`: seconds of a plain pass,
    which follow from the published speed-up, None without one; `predicted_plain_s`: the same, predicted as
    the time that the link takes; `ours`: this engine's plan with the same budget.
    """

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


def published() -> list[Published]:
    """Read the paper's measurements from resources/machines.toml."""
    measurements = []
    for entry in figures()["published"]:
        link = entry.pop("link_gb_per_s") * 1e9
        measurements.append(
            Published(**{"tokens_per_pass": None, "speed_up": None, "note": "", **entry, "link": link})
        )
    return measurements


def comparison() -> Iterator[Compared]:
    """Yield each measurement of the paper with its predictions."""
    for each in published():
        target, draft = catalogued(each.target), catalogued(each.draft)
        expected = expectations(target, draft)
        nearest = min(expected, key=lambda one: abs(math.log(one.budget / each.budget)))
        accepted = acceptance(draft.weights, [nearest], temperature=0.6)
        tokens = each.tokens_per_pass or accepted.tokens(each.budget)
        pair = PairOutline(target, draft, replace(accepted, gain=(tokens - 1) / math.log2(1 + each.budget)))
        card = cards()[each.card]
        # The paper's engine runs nothing on the processor.
        machine = described_machine(each.vram, RAM_GIB, each.link, 1e9, card, processor(1, set()))
        yield Compared(
            published=each,
            tokens_per_pass=tokens,
            published_s=tokens / each.tokens_per_second,
            # It has 16 bits between products, too, and kernels of its own.
            predicted_s=iteration_s(pair, tokens, each.link, replace(card, halves=False, fused_share=1.0)),
            published_plain_s=each.speed_up and each.speed_up / each.tokens_per_second,
            predicted_plain_s=sum(target.layers) / each.link,
            ours=plan_for(machine, pair, Asked(CONTEXT, budget=each.budget, device="cuda")),
        )


def iteration_s(pair: PairOutline, tokens_per_pass: float, link: float, card: Compute) -> float:
    """Return the seconds that one iteration of the paper's engine takes: first come the draft's rounds, then
    all layers of the target are moved over the link."""
    draft_s = 0.0
    if pair.draft is not None:
        reading_s = pair.draft.nbytes / card.memory
        draft_s = DEPTH * tokens_per_pass * (len(pair.draft.layers) * LAYER_S + reading_s)
    return draft_s + sum(pair.target.layers) / link
