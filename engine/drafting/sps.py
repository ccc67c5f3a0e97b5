"""Speculative sampling with a chain of draws (arXiv 2211.17192, 2302.01318; "assisted generation").

The chain is as long as the limits' budget and depth allow; `engine.decoding.chain_length` adapts the budget
to the number of tokens accepted. In greedy decoding, the chain is the draft's own greedy text.
"""

from engine.drafting.drawn_layers import LayerDrafter
from engine.drafting.protocol import TreeLimits


class SpsDrafter(LayerDrafter):
    name = "sps"
    is_chain = True
    defaults = TreeLimits(budget=32, beams=1, depth=32)

    def expansion(self, limits: TreeLimits) -> tuple[int, ...]:
        return (1,) * min(limits.budget, limits.depth)
