"""A decoder's pass, and the product of an output head alone."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from engine.compiled import steps
from engine.compiled.instructions import LANES
from engine.compiled.layer_inputs import InputMaker
from engine.compiled.matrix import Matrix, TiledMatrix, aligned
from engine.compiled.pool import ComputePool
from engine.compiled.program import CompiledPass, DecoderShape, Layer
from engine.compiled.seen import Seen
from engine.compiled.table import Floats, ProductResult, address, room
from engine.streaming.early_routers import AHEAD


class _Logits:
    """Room for the logits of a head. Attribute: `array`, float32 [rows, vocabulary and padding]."""

    def __init__(self, head: Sequence[Matrix]) -> None:
        self._vocabulary = sum(matrix.shape[0] for matrix in head)
        self.array = room(1, self._vocabulary + LANES)  # the last tile may reach over the end
        self.results: list[ProductResult] = []

    def make_room(self, rows: int) -> None:
        if rows > len(self.array):
            larger = room(rows, self.array.shape[1])
            for result in self.results:
                result.move(address(larger) - address(self.array))
            self.array = larger

    def of(self, rows: int) -> Floats:
        return self.array[:rows, : self._vocabulary]


class CompiledDecoder:
    """A decoder's pass.

    Attributes: `layers`, their number; `rows`, the largest number of rows of a run; `states`, float32 [rows,
    width]: where a caller puts the embeddings of the rows; `inputs`, float32 [rows, layers * width of an
    input]: where it puts the rows of the table of layers' inputs, or None; `paths` and `bind`, as in
    `CompiledPass`.
    """

    def __init__(
        self,
        shape: DecoderShape,
        layers: Sequence[Layer],
        last_norm: Floats,
        head: Sequence[Matrix],
        pool: ComputePool,
        inputs: InputMaker | None = None,
    ) -> None:
        """head: the matrices whose results side by side are the logits. inputs: what makes the inputs that
        layers have for themselves, if they have any."""
        self.layers = len(layers)
        matrices = [matrix for layer in layers for matrix in layer.matrices]
        if inputs:
            matrices += inputs.projection
        mixtures = [layer.mixture for layer in layers if layer.mixture]
        self._pass = one = CompiledPass(shape, [*matrices, *head], pool, mixtures)
        self.rows, self.states, self.paths, self.bind = one.rows, one.states, one.paths, one.bind
        self._hidden = aligned(8 * (self.layers + 1)).view(np.int64)  # where states are copied to
        self._logits = _Logits(head)
        self._starts: list[int] = []  # the first step of each layer, and of the output head
        post: Floats | None = None
        factor = 1.0
        self.inputs = inputs.add(one) if inputs else None
        for number, layer in enumerate(layers):
            self._starts.append(len(one.program.steps) if number else 0)
            records = one.inputs_of(layer)
            sums = self._hidden[number - 1 :] if number else None
            one.add_norm(
                layer.attention_norm, records, adds=number > 0, post=post, copies=(sums, None), factor=factor
            )
            following = [each for each in layers[number + 1 :] if each.mixture][:AHEAD]
            one.add_layer(layer, records, shape.width, following)
            post, factor = layer.last_norm, layer.factor
        records = one.records(shape.width, head)
        self._starts.append(len(one.program.steps))
        copies = self._hidden[self.layers - 1 :], self._hidden[self.layers :]
        one.add_norm(last_norm, records, post=post, copies=copies, only_asked=True, factor=factor)
        results = one.add_product(records, shape.width, head, self._logits.array, only_asked=True)
        self._logits.results = results
        self._table = one.program.table()

    def run(
        self,
        rows: int,
        seen: Seen,
        rotary: Floats,
        asked: range,
        hidden: Mapping[int, Floats],
        between: Callable[[int], int],
        arrive: Callable[[int], None],
        queries: Floats | None = None,
        is_whole: bool = True,
    ) -> Floats:
        """Run a pass; return the logits of the rows `asked`, float32 [rows, vocabulary]; they are valid until
        the next pass.

        rows: their number; their embeddings are in `states`. rotary: float32 [kinds, 2, rows, pairs]. hidden:
        layer -> where its output goes, float32 [rows, width]; the number of layers stands for the last norm.
        between: called before each run with the number of the next layer, `layers` for the output head;
        returns the one before which it is to be called again; may end the pass by raising. arrive: as for
        `CompiledPass.run`. queries, is_whole: as for `CompiledPass.begin`.
        """
        self._logits.make_room(len(asked))
        self._pass.begin(rows, seen, rotary, asked, queries, is_whole)
        self._hidden[:] = 0
        for layer, out in hidden.items():
            self._hidden[layer] = address(out)
        layer = 0
        while layer <= self.layers:
            stop = between(layer)
            last = len(self._table) if stop > self.layers else self._starts[stop]
            self._pass.run(self._table, self._starts[layer], last, arrive)
            layer = stop
        return self._logits.of(len(asked))


class CompiledProjection:
    """The product of an output head in memory and states of at most RUN_ROWS rows."""

    def __init__(self, shape: DecoderShape, head: Sequence[TiledMatrix], pool: ComputePool) -> None:
        self._pass = one = CompiledPass(shape, head, pool)
        self._logits = _Logits(head)
        records = one.records(shape.width, head)
        one.program.add(
            steps.record_step, address(one.state), address(one.norms), shape.width, *records.addresses
        )
        results = one.add_product(records, shape.width, head, self._logits.array, only_asked=True)
        self._logits.results = results
        self._table = one.program.table()

    def run(self, states: Floats) -> Floats:
        """Return the logits of states, float32 [rows, width], to which the last norm was applied: float32
        [rows, vocabulary], valid until the next call."""
        rows, one = len(states), self._pass
        self._logits.make_room(rows)
        one.norms[:rows] = states
        one.state[steps.ASKED] = rows
        one.program.counters[:] = 0
        one.run(self._table)
        return self._logits.of(rows)
