"""The routers of later layers, asked early: with the states as they are before a mixture's experts, and the
layers behind, have added anything. What it says tells which experts are likely to be needed soon, and goes
into no result. See `engine.streaming.early_routers`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from engine.compiled import router
from engine.compiled.expert_steps import ASKED_ROWS, EarlySteps
from engine.compiled.instructions import LANES
from engine.compiled.matrix import TiledMatrix, aligned
from engine.compiled.pool import ComputePool
from engine.compiled.table import Records, address, room

if TYPE_CHECKING:
    from engine.compiled.mixture import Mixture
    from engine.compiled.program import CompiledPass, Layer


class EarlyRouter:
    """The memory that the early choices of a pass share, and their steps."""

    def __init__(self, mixtures: Sequence["Mixture"], width: int) -> None:
        """mixtures: those of the pass, all with the same numbers of experts. width: of a state."""
        routers = [matrix for each in mixtures for matrix in each.router]
        tiles = max(sum(matrix.tiles for matrix in each.router) for each in mixtures)
        # One thread takes less time than several that meet at three barriers, above all on a busy machine.
        self._pool = ComputePool(1)
        self._records = Records(width, routers, ASKED_ROWS)
        self._scores = room(ASKED_ROWS, LANES * tiles)
        k = mixtures[0].chosen
        self._chosen = aligned(8 * ASKED_ROWS * k).view(np.int64).reshape(ASKED_ROWS, k)
        self._shares = room(ASKED_ROWS, k)
        self._routing = aligned(8 * router.ROUTING).view(np.int64)
        self._routing[router.CHOSEN] = address(self._chosen)
        self._routing[router.SHARES] = address(self._shares)

    def add(self, one: "CompiledPass", following: Sequence["Layer"]) -> list[EarlySteps]:
        """Append the steps that norm the states and choose as the mixtures of the `following` layers would.
        Routers that do not stay in memory are left out."""
        return [
            self._add(one, layer, layer.mixture, ahead)
            for ahead, layer in enumerate(following, 1)
            if layer.mixture and all(isinstance(matrix, TiledMatrix) for matrix in layer.mixture.router)
        ]

    def _add(self, one: "CompiledPass", layer: "Layer", mixture: "Mixture", ahead: int) -> EarlySteps:
        assert mixture.source is not None
        program = one.program
        first = len(program.steps)
        # A layer that is nothing but a mixture has one norm, the first.
        one.add_norm(layer.feed_norm if layer.inputs else layer.attention_norm, self._records, adds=False)
        one.add_product(self._records, one.shape.width, mixture.router, self._scores)
        program.add(
            router.route_step,
            *(address(one.state), address(self._routing)),
            *mixture.route_arguments(self._scores),
        )
        program.kept.append(self)
        return EarlySteps(first, len(program.steps), ahead, mixture.source, self._chosen, self._pool)
