"""A rule that adapts the length of drafted chains to how many tokens of the last chains were accepted."""

from dataclasses import replace

from engine.decoding.iteration import Iterated
from engine.drafting import TreeLimits

FIRST = 5  # length of the first chain, as in transformers


class ChainLength:
    """A rule that adapts the budget as transformers' assisted generation adapts `num_assistant_tokens`
    (schedule "heuristic"): two tokens more after a chain that was accepted as a whole, otherwise one token
    less. So the length settles where a third of the chains are accepted as a whole.

    It is a rule and not part of the drafter, so that a budget set by the user is simply another rule.
    """

    def __init__(self, limits: TreeLimits) -> None:
        """limits: a chain is never longer than the budget in these limits, nor than their depth."""
        self._limits = limits
        self._longest = min(limits.budget, limits.depth)
        self._length = min(FIRST, self._longest)

    def choose(self) -> TreeLimits:
        return replace(self._limits, budget=self._length)

    def observe(self, iteration: Iterated) -> None:
        if len(iteration.accepted) < len(iteration.tree):
            self._length = max(1, self._length - 1)
        elif len(iteration.tree) == iteration.limits.budget:  # the chain was not cut short at the end
            self._length = min(self._length + 2, self._longest)
