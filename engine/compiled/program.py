"""A compiled program: the table of a pass's steps, and the memory that they share.

A program is data. Its steps are the same few compiled functions for every architecture; what differs from
one to another (biases, norms of queries and keys, windows, caps) is in the arguments of the steps.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from engine import interruption
from engine.compiled import gates, steps
from engine.compiled.attention import MOST_QUERIES, attention_step
from engine.compiled.cache_rows import FORMATS, row_nbytes
from engine.compiled.convolution import GatedConvolution
from engine.compiled.delta import GatedDelta
from engine.compiled.expert_steps import ExpertSteps
from engine.compiled.instructions import LANES
from engine.compiled.layer_inputs import LayerInput
from engine.compiled.layout import BLOCK, TILES
from engine.compiled.mamba import Mamba
from engine.compiled.matrix import Matrix, StreamedMatrix, aligned, by_chunk
from engine.compiled.mixture import Mixture, MixtureRoom
from engine.compiled.paths import PATHS
from engine.compiled.pool import ComputePool
from engine.compiled.seen import Seen
from engine.compiled.states import StateShape
from engine.compiled.table import (
    Floats,
    Ints,
    ProductResult,
    Records,
    StepTable,
    address,
    product_arguments,
    room,
)
from engine.planner.run_rows import RUN_ROWS, STREAMED_ROWS
from engine.streaming.disk_watch import end_if_interrupted

_NO_WINDOW = 1 << 62


def _none_comes(chunk: int) -> None:
    raise AssertionError("This pass has no streamed matrices.")


@dataclass(frozen=True, slots=True)
class DecoderShape:
    """The numbers that define a decoder.

    width: of a state; inner: of the feed-forward network; kv_heads, head_width: unless a layer says
    otherwise; epsilon: of norms; gelu: whether the activation is GELU (tanh form) and not SiLU; query_scale:
    factor of queries; score_cap: soft cap of attention scores, or 0; pairs: those that the table of rotary
    positions has room for, and that a head rotates unless its layer says otherwise; adjacent: whether rotated
    pairs lie side by side; cache: format of keys and values in the KV cache, one of
    `engine.compiled.cache_rows.FORMATS`; gated: whether each query comes with a gate of the head's output
    behind it; residual_scale: factor of what halves of a layer add; states: of layers that have some instead
    of attention, or None; squared: whether feed-forward networks, and experts too, have no
    gate, and the square of ReLU.
    """

    width: int
    inner: int
    heads: int
    kv_heads: int
    head_width: int
    epsilon: float
    query_scale: float
    pairs: int
    adjacent: bool = False
    gelu: bool = False
    score_cap: float = 0.0
    cache: str = "F16"
    gated: bool = False
    residual_scale: float = 1.0
    states: StateShape | None = None
    squared: bool = False

    @property
    def cache_row_nbytes(self) -> int:
        """Bytes of one head's keys or values in the KV cache."""
        return row_nbytes(self.cache, self.head_width)


@dataclass(frozen=True, slots=True)
class Layer:
    """The weights of one layer; vectors are float32. The results of several matrices stand side by side.

    attention_norm, feed_norm: of what attention and the feed-forward network read, or None if they read
    states as they are. qkv: matrices whose results are queries, keys and values. gate_up: those whose results
    are the gate and the up projection. query_norm, key_norm: norms of each head's queries and keys, or of all
    heads' together, if they are as long as these. attention_post, feed_post: norms of the results of
    attention and of the feed-forward network. window: largest number of keys that a row sees; None: no limit.
    rotary: number of the layer's kind of rotary positions. mixture: experts in place of gate_up and down,
    which are then empty. recurrent: what the layer has in place of attention, or None; then `qkv` and
    `output` are empty. One half may be missing, with its matrices and its norm: `attention_norm` is that of
    what the other one reads. output_bias: of the output of attention. sinks: scores of the heads' sinks,
    which stand for no value. kv_heads, head_width, pairs: of the layer, or 0 for those of the shape.
    value_norm: of each head's values. values_are_keys: whether the results of `qkv` are queries and keys
    only, and values are the keys before their norm. factor: of the layer's output. inner: of its feed-forward
    network, or 0 for that of the shape. rows: -1, or the number, among the layers with keys and values, of
    the earlier one whose keys and values it reads; then the results of `qkv` are queries only. own_input:
    what brings in an input that the layer has for itself, behind the feed-forward network, or None.
    """

    attention_norm: Floats | None
    qkv: Sequence[Matrix]
    output: Sequence[Matrix]
    feed_norm: Floats | None
    gate_up: Sequence[Matrix]
    down: Sequence[Matrix]
    bias: Floats | None = None
    query_norm: Floats | None = None
    key_norm: Floats | None = None
    attention_post: Floats | None = None
    feed_post: Floats | None = None
    window: int | None = None
    rotary: int = 0
    mixture: Mixture | None = None
    recurrent: GatedDelta | GatedConvolution | Mamba | None = None
    output_bias: Floats | None = None
    sinks: Floats | None = None
    kv_heads: int = 0
    head_width: int = 0
    pairs: int = 0
    value_norm: Floats | None = None
    values_are_keys: bool = False
    factor: float = 1.0
    inner: int = 0
    rows: int = -1
    own_input: LayerInput | None = None

    @property
    def inputs(self) -> Sequence[Matrix]:
        """The matrices that multiply the layer's input."""
        return self.recurrent.inputs if self.recurrent else self.qkv or self.gate_up

    @property
    def matrices(self) -> list[Matrix]:
        """All matrices except those of experts that are chosen."""
        of_mixture = self.mixture.matrices if self.mixture else ()
        before = (self.recurrent.inputs, self.recurrent.output) if self.recurrent else (self.qkv, self.output)
        of_input = self.own_input.matrices if self.own_input else ()
        return [*before[0], *before[1], *self.gate_up, *self.down, *of_mixture, *of_input]

    @property
    def last_norm(self) -> Floats | None:
        """The norm of the result of the layer's last product."""
        return self.own_input.post_norm if self.own_input else self.feed_post


class CompiledPass:
    """The memory that the steps of a pass share, and the table of steps under construction.

    Attributes: `shape`; `rows`, their largest number; `states`, float32 [rows, width]: the input of the first
    layer, which the pass overwrites; `paths`, int64 [PATHS]: those of the rows, as recurrent layers follow
    them; `arrivals`: steps that multiply a streamed chunk, as (number of the step, chunk): the chunk has to
    be in place before the step runs, and until the next of these steps; or steps that multiply by streamed
    experts; `inputs`, float32 [rows, layers * width of an input]: those that layers have for themselves, or
    None.
    """

    def __init__(
        self,
        shape: DecoderShape,
        matrices: Sequence[Matrix],
        pool: ComputePool,
        mixtures: Sequence[Mixture] = (),
    ) -> None:
        """matrices: all that the pass multiplies by, except those of the experts of `mixtures`."""
        self.shape = shape
        self.pool = pool
        self.state = aligned(8 * steps.STATE).view(np.int64)
        self.state[steps.STOP] = interruption.ADDRESS
        streamed = [matrix.tile_nbytes for matrix in matrices if isinstance(matrix, StreamedMatrix)]
        self.rows = rows = STREAMED_ROWS if streamed or mixtures else RUN_ROWS
        width = shape.width
        self.states, self.result, self.norms = (room(rows, width) for _ in range(3))
        self._scores = room(pool.threads * MOST_QUERIES, LANES)
        self._mixtures = MixtureRoom(mixtures, width, rows, self.state) if mixtures else None
        products = len(matrices) + 3 * len(mixtures)  # with those of routers that are asked early
        self.program = StepTable(counters=aligned(64 * products).view(np.int64).reshape(-1, 8))
        self.arrivals: list[tuple[int, int | ExpertSteps]] = []
        self.paths = aligned(8 * PATHS).view(np.int64)
        self.inputs: Floats | None = None
        self._shared: dict[str, Floats] = {}
        self._records: dict[tuple[int, frozenset[bool]], Records] = {}
        # A tile of each thread is packed before it is multiplied.
        self._tile_nbytes = max(streamed, default=0)
        self._tiles = aligned(pool.threads * self._tile_nbytes)
        self._rotary: list[tuple[Ints, int]] = []  # with the number of the cached layer that it writes
        self._attention: list[tuple[Ints, int]] = []  # with the number of the one that it reads
        self._cached = 0  # layers that write rows of their own
        self._copy = aligned(8).view(np.int64)  # stays 0: nothing is copied
        self._is_whole = True

    def records(self, columns: int, matrices: Sequence[Matrix]) -> Records:
        """Return room for the rows that a product of the pass reads. Products use it one after the other."""
        kind = columns, frozenset(bool(TILES[matrix.layout].number) for matrix in matrices)
        if kind not in self._records:
            self._records[kind] = Records(columns, matrices, self.rows)
        return self._records[kind]

    def inputs_of(self, layer: Layer) -> Records:
        """Return room for the rows that a layer reads first."""
        if layer.inputs:
            return self.records(self.shape.width, layer.inputs)
        assert self._mixtures is not None  # of which the layer is one, and nothing else
        return self._mixtures.records

    def shared(self, name: str, *size: int) -> Floats:
        """Return the room of this name, float32, which layers use one after the other."""
        if name not in self._shared:
            self._shared[name] = room(*size)
        return self._shared[name]

    def add_norm(
        self,
        weight: Floats | None,
        records: Records,
        source: Floats | None = None,
        adds: bool = True,
        post: Floats | None = None,
        copies: tuple[Ints | None, Ints | None] = (None, None),
        only_asked: bool = False,
        blocks: tuple[int, int] | None = None,
        bias: Floats | None = None,
        factor: float = 1.0,
    ) -> None:
        """Append a norm of the states, or of `source`, as records.

        adds: whether the result of the last product is added first. post: norm of that result. copies: one
        number each that holds the address to copy sums and norms to, or 0. blocks: the first block that is
        written, and the number of blocks in a row of the records. bias: of that result. factor: of the sum.
        """
        shape = self.shape
        first, count = blocks or (0, shape.width // BLOCK)
        sums, norms = (address(self._copy if copy is None else copy) for copy in copies)
        self.program.kept += [weight, post, records, source, copies, bias]
        self.program.add(
            steps.norm_step,
            *(address(self.state), address(self.states if source is None else source), address(self.result)),
            *(address(weight), float(shape.epsilon), shape.width, *records.addresses, address(self.norms)),
            *(address(post), sums, norms, int(only_asked), int(adds), first, count, address(bias)),
            *(float(shape.residual_scale), float(factor)),
        )

    def add_product(
        self,
        records: Records,
        columns: int,
        matrices: Sequence[Matrix],
        out: Floats,
        only_asked: bool = False,
    ) -> list[ProductResult]:
        """Append the product of records and matrices, whose results stand side by side in each row of `out`,
        each at a multiple of LANES: as one step, unless the matrices come in several chunks. Return where the
        results go."""
        results: list[ProductResult] = []
        column = 0
        for group in by_chunk(matrices):
            described: list[int] = []
            for matrix in group:
                described += product_arguments(matrix, address(out) + 4 * column, out.strides[0])
                column += LANES * matrix.tiles
            for matrix in group:
                if isinstance(matrix, StreamedMatrix):
                    self.arrivals.append((len(self.program.steps), matrix.chunk))
                    break
            arguments = self.program.add(
                steps.product_step,
                *(address(self.state), self.program.counter(), *records.addresses, columns // BLOCK),
                *(int(only_asked), sum(matrix.tiles for matrix in group)),
                *(address(self._tiles), self._tile_nbytes, *described),
            )
            results.append(ProductResult(arguments, len(group)))
        self.program.kept += [records, *matrices, out]
        return results

    def add_layer(
        self, layer: Layer, records: Records, columns: int, following: Sequence[Layer] = ()
    ) -> None:
        """Append a layer behind the norm that writes its input. records: that input, of so many columns.
        following: the next layers with mixtures, whose routers may be asked early. The result of the layer's
        last product is still to be added to the states."""
        if layer.recurrent:
            layer.recurrent.add(self, records, columns)
        elif layer.qkv:
            self._add_attention(layer, records, columns)
        if layer.mixture:
            self._add_mixture(layer, layer.mixture, following)
        elif layer.gate_up:
            self._add_feed(layer)
        if layer.own_input:
            layer.own_input.add(self, layer.feed_post)
        self.program.kept.append(layer)

    def _add_attention(self, layer: Layer, records: Records, columns: int) -> None:
        shape, program, state = self.shape, self.program, address(self.state)
        kv_heads, width = layer.kv_heads or shape.kv_heads, layer.head_width or shape.head_width
        attended, heads = shape.heads * width, (shape.heads, kv_heads, width)
        every, cached = attended + 2 * kv_heads * width, row_nbytes(shape.cache, width)
        qkv = self.shared(f"queries, keys and values {every}", self.rows, every)
        results = self.shared(f"attended {attended}", self.rows, attended)
        if shape.gated:
            both = self.shared("queries and gates", self.rows, attended + every)
            output_gates = self.shared("output gates", self.rows, attended)
            self.add_product(records, columns, layer.qkv, both)
            places = address(both), address(qkv), address(output_gates)
            program.add(gates.part_gates_step, state, *places, *heads)
        else:
            self.add_product(records, columns, layer.qkv, qkv)
        norms = layer.query_norm, layer.key_norm
        if layer.query_norm is not None and len(layer.query_norm) > width:
            program.add(
                steps.whole_norm_step,
                *(state, address(qkv), qkv.strides[0], attended, kv_heads * width),
                *(*map(address, norms), float(shape.epsilon)),
            )
            norms = None, None
        rotary = self._add_rotary(layer, qkv, heads, norms)
        rows = layer.rows
        if rows < 0:
            rows = self._cached
            self._rotary.append((rotary, rows))
            self._cached += 1
        into_output = self.records(attended, layer.output)
        attention = program.add(
            attention_step(shape.cache),
            *(state, address(qkv), *heads, 0, 0, 0, 0, 0),
            *((0, 0) if shape.gated else into_output.addresses),
            *(address(results), layer.window or _NO_WINDOW, float(shape.score_cap)),
            *(cached, address(layer.sinks)),
        )
        self._attention.append((attention, rows))
        if shape.gated:
            program.add(
                gates.output_gate_step,
                *(state, address(results), address(output_gates), attended, *into_output.addresses),
            )
        self.add_product(into_output, attended, layer.output, self.result)
        program.kept.append(into_output)

    def _add_rotary(
        self, layer: Layer, qkv: Floats, heads: tuple[int, int, int], norms: Sequence[Floats | None]
    ) -> Ints:
        """Append what rotates queries and keys, and writes keys and values to the cache; return its
        arguments. heads: of queries, of keys, and their width; norms: of each head's queries and keys."""
        shape = self.shape
        return self.program.add(
            steps.rotary_step,
            *(address(self.state), address(qkv), *heads, address(layer.bias), *map(address, norms)),
            *(float(shape.epsilon), float(shape.query_scale)),
            *(layer.pairs or shape.pairs, int(shape.adjacent), layer.rotary),
            *(0, 0, 0, row_nbytes(shape.cache, heads[2]), FORMATS.index(shape.cache)),
            *(shape.pairs, address(layer.value_norm), int(layer.values_are_keys)),
        )

    def add_keys(self, layer: Layer, number: int, records: Records, columns: int) -> None:
        """Append what writes only keys and values of the rows in `records`, which have no queries.

        layer: `qkv` are three matrices, without a bias, and norms are those of each head. number: of the
        layer, among those with keys and values, in the order in which they are added.
        """
        kv_heads, width = layer.kv_heads or self.shape.kv_heads, layer.head_width or self.shape.head_width
        every = 2 * kv_heads * width
        both = self.shared(f"keys and values {every}", self.rows, every)
        self.add_product(records, columns, layer.qkv[1:], both)
        norms = layer.query_norm, layer.key_norm
        rotary = self._add_rotary(layer, both, (0, kv_heads, width), norms)
        self._rotary.append((rotary, number))
        self.program.kept.append(layer)

    def _add_feed(self, layer: Layer) -> None:
        into_gate = self.records(self.shape.width, layer.gate_up)
        if layer.inputs is not layer.gate_up:
            self.add_norm(layer.feed_norm, into_gate, post=layer.attention_post, bias=layer.output_bias)
        inner = layer.inner or self.shape.inner
        gated = self.shared(f"within {inner}", self.rows, inner * (1 if self.shape.squared else 2))
        self._multiply_feed(into_gate, layer.gate_up, layer.down, inner, gated, self.result)

    def _multiply_feed(
        self,
        into_gate: Records,
        gate_up: Sequence[Matrix],
        down: Sequence[Matrix],
        inner: int,
        gated: Floats,
        out: Floats,
    ) -> None:
        """Append a feed-forward network whose input is in `into_gate`. inner: the width within it; gated:
        room, float32 [rows, 2 * inner], or [rows, inner] without a gate."""
        self.add_product(into_gate, self.shape.width, gate_up, gated)
        into_down = self.records(inner, down)
        places = address(self.state), address(gated), inner, *into_down.addresses
        if self.shape.squared:
            self.program.add(steps.square_step, *places)
        else:
            self.program.add(steps.gate_step, *places, int(self.shape.gelu))
        self.add_product(into_down, inner, down, out)
        self.program.kept.append(into_down)

    def _add_mixture(self, layer: Layer, mixture: Mixture, following: Sequence[Layer]) -> None:
        common, width = self._mixtures, self.shape.width
        assert common is not None
        if layer.inputs:
            self.add_norm(layer.feed_norm, common.records, post=layer.attention_post, bias=layer.output_bias)
        results = None
        if mixture.shared:  # first, as `order_of_use` has it
            within = sum(matrix.shape[0] for matrix in mixture.shared.gate_up)
            inner = within if self.shape.squared else within // 2
            gated = self.shared("shared expert, within", self.rows, within)
            results = self.shared("shared expert", self.rows, width)
            expert = mixture.shared
            self._multiply_feed(common.records, expert.gate_up, expert.down, inner, gated, results)
        self.add_product(common.records, width, mixture.routers, common.scores)
        common.add_choice(mixture, self.program)
        early = common.early.add(self, following) if common.early else ()
        how = self.shape.gelu, (address(self._tiles), self._tile_nbytes)
        fetched = common.add_experts(mixture, self.program, self.result, *how, results, early)
        if fetched:
            self.arrivals.append((fetched.start, fetched))

    def bind(self, places: Sequence[tuple[int, int, int]], slots: int) -> None:
        """Use a KV cache. places: for each of its layers, the address of the keys in slot 0, that of the
        values, and the bytes from one head to the next. slots: their number."""
        if self._scores.shape[1] < slots + LANES:
            self._scores = room(self.pool.threads * MOST_QUERIES, slots + LANES)
        for rotary, rows in self._rotary:
            rotary[13:16] = places[rows]
        for attention, rows in self._attention:
            attention[5:10] = *places[rows], address(self._scores), self._scores.strides[0]

    def begin(
        self,
        rows: int,
        seen: Seen,
        rotary: Floats,
        asked: range,
        queries: Floats | None = None,
        is_whole: bool = True,
    ) -> None:
        """Set the rows of the next runs. rotary: float32 [kinds, 2, rows, pairs]; asked: the rows that get
        logits; queries: factors of the rows' queries, float32 [rows]; is_whole: whether these are all rows of
        a pass. Arrays have to outlive the runs."""
        self._is_whole = is_whole
        where = [address(array) for array in (seen.prefix, seen.lists, seen.offsets, rotary)]
        asking = asked.start, len(asked), address(queries)
        self.state[: steps.STOP] = rows, seen.first_slot, *where, *asking
        self.program.counters[:] = 0

    def begin_apart(self, rows: int) -> None:
        """Set the rows of the next runs, all of them asked, of steps that neither attend nor rotate."""
        self.state[: steps.STOP] = rows, 0, 0, 0, 0, 0, 0, rows, 0
        self.program.counters[:] = 0

    def run(
        self,
        table: Ints,
        first: int = 0,
        last: int | None = None,
        arrive: Callable[[int], None] = _none_comes,
    ) -> None:
        """Run the steps first..last of a table. arrive: called with a chunk before the step that needs it;
        returns once the chunk is in place. Raises Interrupted if another thread ended the pass: then its
        results are not complete."""
        last = len(table) if last is None else last
        for step, arrival in self.arrivals:
            if first <= step < last:
                if first < step:
                    self.pool.run(address(table), first, step)
                first = step
                if isinstance(arrival, ExpertSteps):
                    rows = int(self.state[steps.ROWS])
                    arrival.run(self.pool, table, rows, self._is_whole and rows <= RUN_ROWS)
                    first = arrival.last
                else:
                    arrive(arrival)
        self.pool.run(address(table), first, last)
        end_if_interrupted()
