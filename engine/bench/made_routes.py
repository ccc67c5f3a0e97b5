"""Weights with which a made-up mixture of experts routes as stated, whatever program runs it.

The embedding of a token is a row of signs, so that those of different tokens are almost orthogonal. What
layers add to it is small. So the router of a layer, solved for by least squares, chooses any experts for each
of a few hundred tokens, the trace.
"""

import numpy as np
from numpy.typing import NDArray

from engine.bench.made_routing import Routing, routed

Signs = NDArray[np.bool_]  # [tokens, width], whether a number is positive

SIZE = 64.0  # of the numbers of an embedding; what a layer adds to one is smaller than 1
CHOSEN, BETWEEN = 4.0, 0.02  # the logit of an expert that is chosen last, and what each one before has more


def signs_of(vocabulary: int, width: int) -> Signs:
    numbers = np.random.default_rng(2).integers(0, 256, (vocabulary, width // 8), np.uint8)
    return np.unpackbits(numbers, axis=1).astype(np.bool_)


def routers(routing: Routing, signs: Signs) -> NDArray[np.float32]:
    """Return float32 [layers, experts, width], which route the token with `signs[s]` as pass `s` of
    `routing`, a pass of one row. signs: of the trace's tokens: `routing.passes`, fewer than the width.
    """
    wanted = np.zeros((routing.layers, routing.passes, routing.experts))
    more = CHOSEN + BETWEEN * np.arange(routing.chosen)
    for turn, each in enumerate(routed(routing)):
        step, layer = divmod(turn, routing.layers)
        wanted[layer, step, np.array(each.last) - layer * routing.experts] = more
    inputs = np.where(signs, 1.0, -1.0)  # as they are after a layer's norm
    solved: NDArray[np.float64] = np.linalg.pinv(inputs) @ wanted  # [layers, width, experts]
    return np.ascontiguousarray(solved.transpose(0, 2, 1), np.float32)
