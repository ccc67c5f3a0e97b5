"""SpecInfer's sampled trees (arXiv 2305.09781): the children of every node are draws from the draft's
distribution. In greedy decoding, they are the draft's best tokens.

The paper fixes one expansion configuration, <1,1,3,1,1,1,1,1>. Here the configuration is chosen to fit the
limits: the one with the highest expected number of accepted nodes, assuming that one of a node's k draws is
accepted with probability ACCEPTED[k]. Such trees are wide near the root and chains below.
"""

from functools import cache

from engine.drafting.drawn_layers import LayerDrafter
from engine.drafting.protocol import TreeLimits

ACCEPTED = {1: 0.7, 2: 0.8, 4: 0.87, 8: 0.91}
MAX_DEPTH = 32  # a chain is accepted to this depth about once in 90,000 times


class SpecInferDrafter(LayerDrafter):
    """Draws trees of several branches. The limit `beams` is the maximum number of nodes expanded in a
    layer."""

    name = "specinfer"
    defaults = TreeLimits(budget=64, beams=64, depth=MAX_DEPTH)

    def expansion(self, limits: TreeLimits) -> tuple[int, ...]:
        return expansion(limits.budget, limits.beams, min(limits.depth, MAX_DEPTH))


def expansion(budget: int, beams: int, depth: int) -> tuple[int, ...]:
    """Return the number of draws per node in each layer, which never rises from one layer to the next. The
    tree has at most `budget` nodes, and at most `beams` of them are expanded in a layer."""

    @cache
    def best(nodes: int, budget: int, depth: int, most: int) -> tuple[float, tuple[int, ...]]:
        """Return the highest expected number of accepted nodes below a layer of `nodes`, given that one of
        these is accepted, and the draws per node that give it. most: maximum draws per node."""
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
