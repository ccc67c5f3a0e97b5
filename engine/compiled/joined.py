"""Decoder layers that read the embedding of a token joined with the state before it, as a compiled program:
the layer for multi-token prediction (MTP), and the first EAGLE."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.compiled.layout import BLOCK
from engine.compiled.matrix import Matrix, aligned
from engine.compiled.pool import ComputePool
from engine.compiled.program import CompiledPass, DecoderShape, Layer
from engine.compiled.seen import Seen
from engine.compiled.table import Floats, address, room


@dataclass(frozen=True, slots=True)
class JoinedWeights:
    """The weights of joined layers. embedding_norm, state_norm: of a token's embedding and of the state
    before it, or None. join: from both, the embedding first, to one state. layers: those behind that.
    last_norm: of what they return, or None."""

    embedding_norm: Floats | None
    state_norm: Floats | None
    join: Sequence[Matrix]
    layers: Sequence[Layer]
    last_norm: Floats | None


class JoinedLayers:
    """A program from embeddings and states to guessed next states.

    Attributes: `rows`, the largest number of rows of a run; `embeddings` and `states`, float32 [rows, width],
    the input of `guess`; `bind`, as `CompiledPass.bind`.
    """

    def __init__(self, shape: DecoderShape, weights: JoinedWeights, pool: ComputePool) -> None:
        width, blocks = shape.width, shape.width // BLOCK
        mixtures = [layer.mixture for layer in weights.layers if layer.mixture]
        matrices = [matrix for layer in weights.layers for matrix in layer.matrices]
        self._pass = one = CompiledPass(shape, [*weights.join, *matrices], pool, mixtures)
        self.rows, self.bind = one.rows, one.bind
        self.embeddings, self.states = (room(one.rows, width) for _ in range(2))
        self._guessed = aligned(8).view(np.int64)  # where guessed states are copied to

        both = one.records(2 * width, weights.join)
        inputs = (weights.embedding_norm, self.embeddings, 0), (weights.state_norm, self.states, blocks)
        for norm, source, first in inputs:
            one.add_norm(norm, both, source=source, adds=False, blocks=(first, 2 * blocks))
        one.add_product(both, 2 * width, weights.join, one.states)
        result: dict[str, Any] = {"adds": False}  # what a norm adds to the states first
        for layer in weights.layers:
            into_layer = one.records(width, layer.inputs)
            one.add_norm(layer.attention_norm, into_layer, **result)
            one.add_layer(layer, into_layer, width)
            result = {"post": layer.last_norm, "factor": layer.factor}
        nothing = one.records(width, [])  # the output head is the target's
        one.add_norm(weights.last_norm, nothing, copies=(None, self._guessed), **result)
        one.program.kept.append(weights)
        self._table = one.program.table()

    def guess(self, rows: int, seen: Seen, rotary: Floats) -> Floats:
        """Return the guessed next states behind the last norm, float32 [rows, width]."""
        guessed = np.empty((rows, self.states.shape[1]), np.float32)
        self._pass.begin(rows, seen, rotary, range(rows))
        self._guessed[0] = address(guessed)
        self._pass.run(self._table)
        return guessed
