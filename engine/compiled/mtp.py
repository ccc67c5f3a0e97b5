"""The layer for multi-token prediction (MTP) as a compiled program."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.compiled.layout import BLOCK
from engine.compiled.matrix import Matrix, aligned
from engine.compiled.pool import ComputePool
from engine.compiled.program import CompiledPass, DecoderShape, Layer
from engine.compiled.seen import Seen
from engine.compiled.table import Floats, address, room


@dataclass(frozen=True, slots=True)
class MtpWeights:
    """The weights of an MTP layer. embedding_norm, state_norm: of a token's embedding and of the state before
    it. join: from both norms, the embedding's first, to one state. layer: the decoder layer behind that."""

    embedding_norm: Floats
    state_norm: Floats
    join: Sequence[Matrix]
    layer: Layer
    last_norm: Floats


class CompiledMtp:
    """A program from embeddings and states to guessed next states.

    Attributes: `rows`, the largest number of rows of a run; `embeddings` and `states`, float32 [rows, width],
    the input of `guess`; `bind`, as `CompiledPass.bind`.
    """

    def __init__(self, shape: DecoderShape, weights: MtpWeights, pool: ComputePool) -> None:
        layer, width, blocks = weights.layer, shape.width, shape.width // BLOCK
        mixtures = [layer.mixture] if layer.mixture else []
        self._pass = one = CompiledPass(shape, [*weights.join, *layer.matrices], pool, mixtures)
        self.rows, self.bind = one.rows, one.bind
        self.embeddings, self.states = (room(one.rows, width) for _ in range(2))
        self._guessed = aligned(8).view(np.int64)  # where guessed states are copied to

        both = one.records(2 * width, weights.join)
        inputs = (weights.embedding_norm, self.embeddings, 0), (weights.state_norm, self.states, blocks)
        for norm, source, first in inputs:
            one.add_norm(norm, both, source=source, adds=False, blocks=(first, 2 * blocks))
        one.add_product(both, 2 * width, weights.join, one.states)
        into_layer = one.records(width, layer.inputs)
        one.add_norm(layer.attention_norm, into_layer, adds=False)
        one.add_layer(layer, into_layer, width)
        nothing = one.records(width, [])  # the output head is the target's
        copies = (None, self._guessed)
        one.add_norm(weights.last_norm, nothing, post=layer.last_norm, copies=copies, factor=layer.factor)
        one.program.kept.append(weights)
        self._table = one.program.table()

    def guess(self, rows: int, seen: Seen, rotary: Floats) -> Floats:
        """Return the guessed next states behind the last norm, float32 [rows, width]."""
        guessed = np.empty((rows, self.states.shape[1]), np.float32)
        self._pass.begin(rows, seen, rotary, range(rows))
        self._guessed[0] = address(guessed)
        self._pass.run(self._table)
        return guessed
