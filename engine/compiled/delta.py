"""Gated DeltaNet (arXiv 2412.06464; Qwen 3.5, Qwen3-Next) step by step along paths.

For each head, with a matrix S [key width, value width] as state, and a row's query q, key k, value v, gate a
in (0, 1] and writing strength b in (0, 1):

    u = b (v - a S^T k),    S' = a S + k u^T,    output o = S'^T q.

Columns of S do not depend on each other, so threads share slices of 32 columns, and a thread follows all rows
of a run with its slice. A row's arithmetic depends on the rows of its path alone, so a tree gives the bits of
plain text.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from engine.compiled.convolution import HEAD, convolve, head_arguments, remember_step
from engine.compiled.instructions import FLOATS, I64, LANES, floats_at, fma, ints_at, load, splat, store
from engine.compiled.matrix import Matrix
from engine.compiled.paths import MOST_BUFFERS, RECORDS, TAIL, VISITED, VISITS
from engine.compiled.slices import (
    UNROLLED,
    advance_and_read,
    advance_slice,
    key_head,
    scalar,
    slice_row,
    sums,
    total,
)
from engine.compiled.states import COLUMNS
from engine.compiled.steps import ROWS, STOP, F, as_float, exp, softplus, write_block

if TYPE_CHECKING:
    from engine.compiled.program import CompiledPass
    from engine.compiled.table import Records

Floats = NDArray[np.float32]

_PARTS = COLUMNS // LANES  # vectors of a row of a slice


@intrinsic
def _apply(_, source, target, width, keys, queries, values, strength, decay, update, out):  # type: ignore[no-untyped-def]
    """Apply the delta rule to a slice: write S' to `target`, u to `update`, o to `out`.

    source, target: addresses of a slice, float32 [width, 32]; keys, queries: of float32 [width]; values,
    update, out: of float32 [32].
    """

    def code(context, b, signature, arguments):  # type: ignore[no-untyped-def]
        source, target, width, keys, queries, values, strength, decay, update, out = arguments
        strength, decay = splat(b, strength, FLOATS), splat(b, decay, FLOATS)
        zero = I64(0)
        found = sums(b, _PARTS)
        with cgutils.for_range_slice(b, zero, width, I64(UNROLLED)) as (first, _):
            for place, totals in enumerate(found):
                row = b.add(first, I64(place))
                key = scalar(b, keys, row)
                for one, old in zip(totals, slice_row(b, source, row, _PARTS), strict=True):
                    b.store(fma(b, key, old, b.load(one)), one)
        updates = []
        for part, one in enumerate(total(b, found)):
            value = load(b, values, 4 * LANES * part, FLOATS, 4)
            updates.append(b.fmul(strength, b.fsub(value, b.fmul(decay, one))))
            store(b, updates[-1], update, 4 * LANES * part, 4)
        advance_and_read(b, source, target, width, keys, queries, updates, decay, out)
        return context.get_dummy_value()

    floats = types.float32
    return types.void(*[types.int64] * 6, floats, floats, *[types.int64] * 2), code


def part_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Part rows in which the queries, keys, values and gates of outputs of a key head lie side by side: write
    the queries of all key heads, then their keys, values and gates. What lies behind them is copied.

    Arguments: state; rows as they are, and as they are written, float32; bytes of a row of either; key heads;
    heads; key width; value width.
    """
    a = ints_at(arguments)
    rows, key_heads, width, values = ints_at(a[0])[ROWS], a[4], a[6], a[5] * a[7]
    share, rest = values // key_heads, 2 * a[5] // key_heads  # of a key head: values, numbers behind gates
    keys = key_heads * width
    for item in range(rows * key_heads * me // threads, rows * key_heads * (me + 1) // threads):
        row, head = item // key_heads, item % key_heads
        source, parted = a[1] + row * a[3], a[2] + row * a[3]
        x = floats_at(source + head * 2 * (width + share) * 4)
        queries, gates = floats_at(parted + head * width * 4), 2 * keys + values + head * share
        y, z = floats_at(parted + (2 * keys + head * share) * 4), floats_at(parted + gates * 4)
        for i in range(width):
            queries[i] = x[i]
            queries[keys + i] = x[width + i]
        for i in range(share):
            y[i] = x[2 * width + i]
            z[i] = x[2 * width + share + i]
        behind = (2 * (keys + values) + head * rest) * 4
        x, y = floats_at(source + behind), floats_at(parted + behind)
        for i in range(rest):
            y[i] = x[i]


def inputs_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Convolve the rows' inputs with those of their ancestors, activate them, and normalize queries and keys;
    compute the gates a and the strengths b.

    Arguments: those of HEAD; room, float32 [rows, channels]: queries, keys and values; key heads; heads; key
    width; value width; rates of the gates, -exp(A), and their biases, float32 [heads]; where in a row of
    inputs what strengths and gates are made of begins; room for gates and strengths, float32 [rows, 2,
    heads]; for how many heads at a time what strengths are made of lies before what gates are made of.
    """
    a = ints_at(arguments)
    rows, channels = ints_at(a[0])[ROWS], a[7]
    key_heads, heads, key_width, value_width = a[13], a[14], a[15], a[16]
    every = 2 * key_heads + heads
    paths = ints_at(a[1])
    rates, biases = floats_at(a[17]), floats_at(a[18])
    for item in range(rows * every * me // threads, rows * every * (me + 1) // threads):
        row, head = item // every, item % every
        width, channel = key_width, head * key_width
        if head >= 2 * key_heads:
            head -= 2 * key_heads
            width, channel = value_width, 2 * key_heads * key_width + head * value_width
            made = floats_at(a[2] + row * a[3] + a[19] * 4)
            gates = floats_at(a[20] + row * 2 * heads * 4)
            at = head // a[21] * 2 * a[21] + head % a[21]
            gates[head] = exp(rates[head] * softplus(made[at + a[21]] + biases[head]))
            gates[heads + head] = F(1.0) / (F(1.0) + exp(-made[at]))
        at = a[12] + (row * channels + channel) * 4
        convolve(a, row, channel, width, at)
        y = floats_at(at)
        for i in range(width):
            y[i] = y[i] / (F(1.0) + exp(-y[i]))
        if channel >= 2 * key_heads * key_width:
            continue
        total = F(0.0)
        for i in range(width):
            total += y[i] * y[i]
        scale = F(1.0) / F(math.sqrt(total + F(1e-6)))
        if channel < key_heads * key_width:
            scale = scale / F(math.sqrt(F(width)))
            for i in range(width):
                y[i] = y[i] * scale
        else:
            for i in range(width):
                y[i] = y[i] * scale
            if paths[RECORDS]:
                record = paths[RECORDS] + ((paths[TAIL] + row) * a[10] + a[4]) * a[11]
                kept = floats_at(record + (channels + channel - key_heads * key_width) * 4)
                for i in range(width):
                    kept[i] = y[i]


def delta_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Apply the delta rule to all rows, along their paths.

    Arguments: those of HEAD; queries, keys and values, float32 [rows, channels]; key heads; heads; key width;
    value width; gates and strengths, float32 [rows, 2, heads]; room for outputs, float32 [rows, heads * value
    width]; buffers of all threads, MOST_BUFFERS slices each; whether heads are tiled; room for an update of
    each thread, [threads, 32].
    """
    a = ints_at(arguments)
    paths, stop_word = ints_at(a[1]), ints_at(ints_at(a[0])[STOP])
    channels, key_heads, heads, width, value_width = a[7], a[13], a[14], a[15], a[16]
    slice_nbytes = width * 128
    slices = heads * value_width // 32
    buffers = a[19] + (me * MOST_BUFFERS) * slice_nbytes
    for part in range(slices * me // threads, slices * (me + 1) // threads):
        if stop_word[0]:
            return
        head = part * 32 // value_width
        offset = a[4] * a[8] + part * slice_nbytes
        key = key_head(head, key_heads, heads, a[20]) * width * 4
        for at in range(paths[VISITED]):
            visit = ints_at(paths[VISITS] + 24 * at)
            row, source, target = visit[0], visit[1], visit[2]
            source = source + offset if source > 0 else buffers + (-1 - source) * slice_nbytes
            target = target + offset if target > 0 else buffers + (-1 - target) * slice_nbytes
            if row < 0:
                record = paths[RECORDS] + ((-1 - row) * a[10] + a[4]) * a[11]
                advance_slice(
                    source,
                    target,
                    record,
                    part,
                    COLUMNS,
                    channels,
                    key_heads,
                    heads,
                    width,
                    value_width,
                    a[20],
                )
                continue
            gates = floats_at(a[17] + row * 2 * heads * 4)
            mixed = a[12] + row * channels * 4
            keys = mixed + key_heads * width * 4
            update = a[21] + me * 128
            if paths[RECORDS]:
                record = paths[RECORDS] + ((paths[TAIL] + row) * a[10] + a[4]) * a[11]
                decays = record + (channels + key_heads * width) * 4
                floats_at(decays)[head] = gates[head]  # the slices of a head write the same
                update = decays + (heads + 32 * part) * 4
            values = keys + (key_heads * width + 32 * part) * 4
            out = a[18] + (row * slices + part) * 128
            _apply(
                source,
                target,
                width,
                keys + key,
                mixed + key,
                values,
                gates[heads + head],
                gates[head],
                update,
                out,
            )


def gated_norm_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Norm the outputs of each head, multiply them by the activation of their gates, and write them as
    records.

    Arguments: state; outputs, float32 [rows, heads * value width]; heads; value width; weights of the norm;
    epsilon (bits); gates, float32; bytes of a row of them; records; plain records.
    """
    a = ints_at(arguments)
    rows, heads, width = ints_at(a[0])[ROWS], a[2], a[3]
    weights = floats_at(a[4])
    blocks = heads * width // 32
    for item in range(rows * heads * me // threads, rows * heads * (me + 1) // threads):
        row, head = item // heads, item % heads
        at = a[1] + item * width * 4
        x, gate = floats_at(at), floats_at(a[6] + row * a[7] + head * width * 4)
        total = F(0.0)
        for i in range(width):
            total += x[i] * x[i]
        scale = F(1.0) / F(math.sqrt(total / F(width) + as_float(a[5])))
        for i in range(width):
            x[i] = x[i] * scale * weights[i] * (gate[i] / (F(1.0) + exp(-gate[i])))
        for block in range(width // 32):
            write_block(at + 128 * block, head * (width // 32) + block, blocks, rows, row, a[8], a[9])


@dataclass(frozen=True, slots=True)
class GatedDelta:
    """The weights of gated DeltaNet, which takes the place of attention in a layer; vectors are float32.

    number: of the layer, among those with a state. inputs: matrices whose results are queries, keys and
    values before the convolution; the gates of the outputs; what strengths are made of, and what gates are
    made of. weights: [kernel, channels]. rates, biases: of the gates, [heads]. norm: [value width].
    fused, paired: whether all of one key head comes before all of the next one (Qwen3-Next), among queries,
    keys, values and gates of the outputs, and among what strengths and gates are made of.
    """

    number: int
    inputs: Sequence[Matrix]
    weights: Floats
    rates: Floats
    biases: Floats
    norm: Floats
    output: Sequence[Matrix]
    fused: bool = False
    paired: bool = False

    def add(self, one: "CompiledPass", records: "Records", columns: int) -> None:
        """Append the steps to a pass; the result of the last product is to be added to the states."""
        shape = one.shape.states
        assert shape is not None
        rows, state, paths = one.rows, one.state.ctypes.data, one.paths.ctypes.data
        heads, value_width, channels = shape.heads, shape.value_width, shape.channels
        values = heads * value_width
        wide = channels + values + 2 * heads
        inputs = one.shared("delta inputs", rows, wide)
        mixed = one.shared("delta mixed", rows, channels).ctypes.data
        gates = one.shared("delta gates", rows, 2 * heads).ctypes.data
        outputs = one.shared("delta outputs", rows, values).ctypes.data
        threads, numbers = one.pool.threads, shape.slice_nbytes // 4
        buffers = one.shared("delta buffers", threads * MOST_BUFFERS, numbers).ctypes.data
        updates = one.shared("delta updates", threads, COLUMNS).ctypes.data
        head = head_arguments(state, paths, inputs, self.number, self.weights, shape)
        assert len(head) == HEAD
        sizes = shape.key_heads, heads, shape.key_width, value_width
        into_output = one.records(values, self.output)
        results = one.shared("delta results", rows, wide) if self.fused else inputs
        one.add_product(records, columns, self.inputs, results)
        if self.fused:
            places = results.ctypes.data, inputs.ctypes.data, inputs.strides[0]
            one.program.add(part_step, state, *places, *sizes)
        one.program.add(
            inputs_step,
            *(*head, mixed, *sizes, self.rates.ctypes.data, self.biases.ctypes.data),
            *(channels + values, gates, heads // shape.key_heads if self.paired else heads),
        )
        one.program.add(remember_step, *head)
        one.program.add(delta_step, *head, mixed, *sizes, gates, outputs, buffers, int(shape.tiled), updates)
        one.program.add(
            gated_norm_step,
            *(state, outputs, heads, value_width, self.norm.ctypes.data, float(one.shape.epsilon)),
            *(inputs.ctypes.data + 4 * channels, inputs.strides[0], *into_output.addresses),
        )
        one.program.kept += [self, into_output]
        one.add_product(into_output, values, self.output, one.result)
