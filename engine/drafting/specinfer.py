"""SpecInfer's sampled trees (arXiv 2305.09781): draws from the draft's distribution at every node. Greedy,
the branches are the draft's best tokens.

The paper fixes one expansion configuration, <1,1,3,1,1,1,1,1>. Here it is chosen for the limits: the one with
most accepted nodes to be expected where a node with k draws has one of them accepted with probability
ACCEPTED[k]. Such trees are wide at first and chains later.
"""

from functools import cache

from engine.drafting.drawn_layers import LayerDrafter
from engine.drafting.protocol import Limits

ACCEPTED = {1: 0.7, 2: 0.8, 4: 0.87, 8: 0.91}
DEEPEST = 32  # a chain is accepted so far about once in 90,000 times


class SpecInferDrafter(LayerDrafter):
    """Limits: `beams` is the most nodes of a layer that are expanded."""

    name = "specinfer"
    defaults = Limits(budget=64, beams=64, depth=DEEPEST)

    def expansion(self, limits: Limits) -> tuple[int, ...]:
        return expansion(limits.budget, limits.beams, min(limits.depth, DEEPEST))


def expansion(budget: int, beams: int, depth: int) -> tuple[int, ...]:
    """Draws per node in each layer, never more than in the layer before: at most `budget` nodes in all, and
    `beams` that are expanded in a layer."""

    @cache
    def best(nodes: int, budget: int, depth: int, most: int) -> tuple[float, tuple[int, ...]]:
        """Of a tree under each of `nodes`: accepted nodes to be expected, and its layers."""
        found: tuple[float, tuple[int, ...]] = 0.0, ()
        if depth == 0 or nodes > beams:
            return found
        for draws, accepted in ACCEPTED.items():
            children = nodes * draws
            if draws <= most and children <= budget:
                more, layers = best(children, budget - children, depth - 1, draws)
                found = max(found, (accepted * (1 + more), (draws, *layers)))
        return found

    return best(1, budget, depth, max(ACCEPTED))[1]
