"""How long a chain of draws should be, by how many of the last ones were accepted."""

from dataclasses import replace

from engine.decoding import Iterated
from engine.drafting import Limits

FIRST = 5  # transformers' too


class ChainLength:
    """As transformers' assisted generation adapts `num_assistant_tokens` (schedule "heuristic"): two tokens
    more after a chain that was accepted as a whole, else one less. So it settles where a third of them are.

    A rule, and not a matter of the drafter, so that a depth the user asks for is simply another rule.
    """

    def __init__(self, most: Limits) -> None:
        """most: chains get no longer than their depth."""
        self._most = most
        self._length = min(FIRST, most.depth)

    def choose(self) -> Limits:
        return replace(self._most, depth=self._length)

    def observe(self, iteration: Iterated) -> None:
        whole = len(iteration.accepted) == len(iteration.tree)
        self._length = min(self._length + 2, self._most.depth) if whole else max(1, self._length - 1)
