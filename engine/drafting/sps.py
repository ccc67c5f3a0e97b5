"""Speculative sampling with a chain of draws (arXiv 2211.17192, 2302.01318; "assisted generation").

The chain is as long as the limits' depth; who adapts it to what was accepted sets another depth for each
tree (`engine.chain_length`). Greedy, it is the draft's own greedy text.
"""

from engine.drafting.drawn_layers import LayerDrafter
from engine.drafting.protocol import Limits


class SpsDrafter(LayerDrafter):
    name = "sps"
    defaults = Limits(budget=32, beams=1, depth=32)

    def expansion(self, limits: Limits) -> tuple[int, ...]:
        return (1,) * min(limits.budget, limits.depth)
