"""An assistant of Gemma 4 as a compiled program, which reads the KV cache of its target."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.compiled import steps
from engine.compiled.instructions import LANES
from engine.compiled.matrix import TiledMatrix
from engine.compiled.pool import ComputePool
from engine.compiled.program import CompiledPass, DecoderShape, Layer
from engine.compiled.seen import Seen
from engine.compiled.table import Floats, Ints, address, room

ROWS = 32  # of one run; each needs room for the logits of the whole vocabulary


@dataclass(frozen=True, slots=True)
class AssistantWeights:
    """The weights of an assistant. into: from an embedding and a state of the target's to one state. layers:
    each has no rows of its own. out_of: from a state to one of the target's. head: from a state to logits.
    centroids: from a state to scores of clusters, or None."""

    into: TiledMatrix
    layers: Sequence[Layer]
    last_norm: Floats
    out_of: TiledMatrix
    head: TiledMatrix
    centroids: TiledMatrix | None


class CompiledAssistant:
    """A program from embeddings and states to the target's next states, logits and scores of clusters.

    Attributes: `inputs`, float32 [ROWS, 2 * width of the target's states]: embeddings, and states behind
    them; `bind`, as `CompiledPass.bind`, with the target's cache. What `guess` writes for its rows is valid
    until the next call: `states`, float32 [ROWS, width of the target's states]; `logits`, [ROWS, vocabulary];
    `scores`, [ROWS, clusters], which has no columns without clusters.
    """

    def __init__(
        self,
        shape: DecoderShape,
        weights: AssistantWeights,
        kept: Sequence[tuple[int, int]],
        pool: ComputePool,
    ) -> None:
        """kept: as for `CompiledPass`."""
        last = [weights.out_of, weights.head, *([weights.centroids] if weights.centroids else [])]
        matrices = [matrix for layer in weights.layers for matrix in layer.matrices]
        self._pass = one = CompiledPass(shape, [weights.into, *matrices, *last], pool, kept=kept)
        self.bind = one.bind
        width, columns = shape.width, weights.into.shape[1]
        self.inputs = room(ROWS, columns)

        both = one.records(columns, [weights.into])
        one.program.add(steps.record_step, address(one.state), address(self.inputs), columns, *both.addresses)
        one.add_product(both, columns, [weights.into], one.states)
        post: Floats | None = None
        factor = 1.0
        for number, layer in enumerate(weights.layers):
            records = one.records(width, layer.inputs)
            one.add_norm(layer.attention_norm, records, adds=number > 0, post=post, factor=factor)
            one.add_layer(layer, records, width)
            post, factor = layer.last_norm, layer.factor
        records = one.records(width, last)
        one.add_norm(weights.last_norm, records, post=post, factor=factor)
        results = []
        for matrix in last:
            out = room(ROWS, matrix.tiles * LANES)
            one.add_product(records, width, [matrix], out)
            results.append(out[:, : matrix.shape[0]])
        self.states, self.logits = results[:2]
        self.scores = results[2] if weights.centroids else room(ROWS, 0)
        one.program.kept += [weights, self.inputs]
        self._table = one.program.table()

    def guess(self, rows: int, length: int, rotary: Floats) -> None:
        """Guess at the first `rows` rows of `inputs`, which see the first `length` slots of the cache, as far
        as a layer's window reaches. rotary: as for `CompiledPass.begin`."""
        nothing: Ints = np.zeros(rows + 1, np.int64)
        seen = Seen(length, np.full(rows, length), nothing, nothing)
        self._pass.begin(rows, seen, rotary, range(rows))
        self._pass.run(self._table)
