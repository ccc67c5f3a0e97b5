"""The expected tokens per pass as a function of the budget, the number of nodes in a tree."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from engine.catalog import Expectation

# The gains assumed for pairs that were never measured. Those with drafts follow from measured pairs:
# Qwen2.5-Coder 0.5B for 1.5B and TinyLlama 1.1B for Llama 2 7B reach 0.8; 7B and 8B drafts for 70B targets
# reach 1.6 to 1.8, which is about 0.3 more for each doubling of the draft beyond 1B weights.
SMALL_DRAFT = 0.8
PER_DOUBLING = 0.3
MOST = 1.8
WITHOUT_DRAFT = 0.17  # Token Recycling: 1.4 to 2.2 tokens per pass with a budget of 16
# The layer for drafts that comes with a model: others report 2.5 to 3 tokens per pass for four guesses
# (sgl-project/sglang, pull request 3582), which is 0.65 to 0.86. Deeper guesses are made from guessed states:
# with trees of 64 nodes, an EAGLE head reached 3.6 here (docs/benchmarks.md), which is 0.43.
OWN_LAYER = 0.4


@dataclass(frozen=True, slots=True)
class Acceptance:
    """How many tokens a pair gives per pass: 1 + `gain` * log2(1 + budget), and no more than one for each
    row of a pass. `source`: where the gain comes from, "measured", "paper" or "estimated".

    For every pair that was measured with several budgets at one temperature, the gains lie within 10 % of
    each other: 4.4, 5.7, 7.3 tokens per pass with 16, 64, 256 nodes are gains of 0.83, 0.78, 0.79; the
    paper's 6.7, 7.7, 8.0 with 128, 256, 512 are 0.81, 0.84, 0.78. Gains vary more between texts: from 0.7 to
    1.2 for one pair.
    """

    gain: float
    source: str

    def tokens(self, budget: int) -> float:
        return 1 + min(budget, self.gain * math.log2(1 + budget))


def acceptance(
    draft_weights: int, expectations: Sequence[Expectation] = (), temperature: float = 0.0
) -> Acceptance:
    """Return the expected acceptance of a pair.

    draft_weights: how many weights the draft has; 0 without a draft. expectations: what the catalogue
    expects of the pair; only entries at the temperature nearest to `temperature` are used.
    """
    if not expectations:
        doublings = math.log2(max(1.0, draft_weights / 1e9))
        gain = min(MOST, SMALL_DRAFT + PER_DOUBLING * doublings) if draft_weights else WITHOUT_DRAFT
        return Acceptance(gain, "estimated")
    nearest = min((each.temperature for each in expectations), key=lambda t: abs(t - temperature))
    used = [each for each in expectations if each.temperature == nearest]
    gains = [(each.tokens_per_pass - 1) / math.log2(1 + each.budget) for each in used]
    return Acceptance(sum(gains) / len(gains), used[0].source)
