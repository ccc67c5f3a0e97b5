"""An assistant of Gemma 4 as compiled programs, which read the KV cache of its target."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.compiled import steps
from engine.compiled.activations import RECORD_NBYTES
from engine.compiled.best import best
from engine.compiled.clusters import clusters_step
from engine.compiled.instructions import LANES
from engine.compiled.layout import BLOCK
from engine.compiled.matrix import TiledMatrix, aligned
from engine.compiled.pool import ComputePool
from engine.compiled.product import tile_product
from engine.compiled.program import CompiledPass, DecoderShape, Layer
from engine.compiled.seen import Seen
from engine.compiled.table import Floats, Ints, address, room

ROWS = 32  # of one run; each needs room for its logits


@dataclass(frozen=True, slots=True)
class AssistantWeights:
    """The weights of an assistant. into: from an embedding and a state of the target's to one state. layers:
    each has no rows of its own. out_of: from a state to one of the target's. head: from a state to logits.
    centroids: from a state to scores of clusters of tokens, or None; with them, `head` has the rows of a
    cluster's tokens side by side. chosen: how many clusters get logits."""

    into: TiledMatrix
    layers: Sequence[Layer]
    last_norm: Floats
    out_of: TiledMatrix
    head: TiledMatrix
    centroids: TiledMatrix | None
    chosen: int


class CompiledAssistant:
    """Programs from embeddings and states to the target's next states, and on to logits: of all tokens, or of
    those in the clusters with the best scores.

    Attributes: `inputs`, float32 [ROWS, 2 * width of the target's states]: embeddings, and states behind
    them; `bind`, as `CompiledPass.bind`, with the target's cache. What `guess` writes for its rows is valid
    until the next call: `states`, float32 [ROWS, width of the target's states]; `logits`, [ROWS, tokens];
    `chosen`, int64 [ROWS, clusters], those whose tokens have logits.
    """

    def __init__(
        self,
        shape: DecoderShape,
        weights: AssistantWeights,
        pool: ComputePool,
    ) -> None:
        centroids = weights.centroids
        last = [weights.out_of, centroids or weights.head]
        matrices = [matrix for layer in weights.layers for matrix in layer.matrices]
        self._pass = one = CompiledPass(shape, [weights.into, *matrices, *last], pool)
        self.bind = one.bind
        width, columns = shape.width, weights.into.shape[1]
        self.inputs, self._inner = room(ROWS, columns), room(ROWS, width)

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
        records, copied = one.records(width, last), aligned(8).view(np.int64)
        copied[0] = address(self._inner)
        one.add_norm(weights.last_norm, records, post=post, factor=factor, copies=(None, copied))
        results = []
        for matrix in last:
            out = room(ROWS, matrix.tiles * LANES)
            one.add_product(records, width, [matrix], out)
            results.append(out[:, : matrix.shape[0]])
        self.states, self.logits = results
        self.chosen: Ints = np.zeros((ROWS, weights.chosen), np.int64)
        self._scores: Floats | None = None
        self._before = len(one.program.steps)
        if centroids:
            self._scores = self.logits
            self.logits = self._add_clusters(weights.head, centroids.shape[0])
        one.program.kept += [weights, self.inputs, self._inner]
        self._table = one.program.table()

    def _add_clusters(self, head: TiledMatrix, clusters: int) -> Floats:
        """Append the product of rows and the clusters that they have chosen; return the room for its
        results."""
        one, (rows, width), number = self._pass, head.shape, self.chosen.shape[1]
        logits, nbytes = room(ROWS, number * rows // clusters), width // BLOCK * RECORD_NBYTES
        records = aligned(one.pool.threads * nbytes)
        one.program.add(
            clusters_step,
            *(address(one.state), address(self._inner), width, address(records), nbytes),
            *(address(self.chosen), number, address(head.data), head.tile_nbytes),
            *(rows // clusters // LANES, tile_product(head.layout, 1), address(logits)),
        )
        one.program.kept += [records, logits]
        return logits

    def guess(self, rows: int, length: int, rotary: Floats) -> None:
        """Guess at the first `rows` rows of `inputs`, which see the first `length` slots of the cache, as far
        as a layer's window reaches. rotary: as for `CompiledPass.begin`."""
        nothing: Ints = np.zeros(rows + 1, np.int64)
        seen = Seen(length, np.full(rows, length), nothing, nothing)
        self._pass.begin(rows, seen, rotary, range(rows))
        self._pass.run(self._table, 0, self._before)
        if self._scores is not None:
            self.chosen[:rows] = best(self._scores[:rows], self.chosen.shape[1])[0]
            self._pass.run(self._table, self._before)
