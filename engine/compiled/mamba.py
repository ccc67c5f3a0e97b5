"""Mamba-2 (arXiv 2405.21060; Granite 4 hybrids, Nemotron-H) step by step along paths.

For each head, with a matrix S [state size, width of a head] as state, and a row's input x, its key B and its
query C, which a group of heads shares, a step d > 0, and numbers A and D of the head:

    a = exp(-d exp(A)),    S' = a S + B (d x)^T,    output y = S'^T C + D x.

That is the recurrence of gated DeltaNet (`engine.compiled.delta`) without its correction. Threads share
slices of the heads' columns in the same way, so a tree gives the bits of plain text here, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from engine.compiled.convolution import HEAD, convolve, head_arguments, remember_step
from engine.compiled.instructions import FLOATS, LANES, floats_at, ints_at, load, splat
from engine.compiled.matrix import Matrix
from engine.compiled.paths import MOST_BUFFERS, RECORDS, TAIL, VISITED, VISITS
from engine.compiled.slices import advance_and_read, advance_slice, key_head
from engine.compiled.states import COLUMNS, FEW_COLUMNS
from engine.compiled.steps import ROWS, STOP, F, as_float, exp, norm, softplus, write_block
from engine.formats.jit import helper

if TYPE_CHECKING:
    from engine.compiled.program import CompiledPass
    from engine.compiled.table import Records

Floats = NDArray[np.float32]


def _pass_of(columns: int) -> Any:
    """Return the intrinsic that takes a slice of so many columns past a row: it writes S' to `target`, and
    S'^T q to `out`.

    source, target: addresses of a slice, float32 [width, columns]; keys, queries: of float32 [width]; update,
    out: of float32 [columns].
    """
    parts = columns // LANES

    @intrinsic
    def take(_, source, target, width, keys, queries, update, decay, out):  # type: ignore[no-untyped-def]
        def code(context, b, signature, arguments):  # type: ignore[no-untyped-def]
            source, target, width, keys, queries, update, decay, out = arguments
            decay = splat(b, decay, FLOATS)
            updates = [load(b, update, 4 * LANES * part, FLOATS, 4) for part in range(parts)]
            advance_and_read(b, source, target, width, keys, queries, updates, decay, out)
            return context.get_dummy_value()

        return types.void(*[types.int64] * 6, types.float32, types.int64), code

    return take


_take, _take_few = _pass_of(COLUMNS), _pass_of(FEW_COLUMNS)


@helper
def written_address(a, paths, row, groups, size, made, numbers):  # type: ignore[no-untyped-def]
    """Return the address of a row's decays, float32 [heads], and behind them its updates d x, [heads, width]:
    in its record, if it has one, else in `made`, `numbers` float32 for each row. a: as HEAD has it."""
    if paths[RECORDS]:
        record = paths[RECORDS] + ((paths[TAIL] + row) * a[10] + a[4]) * a[11]
        return record + (a[7] + groups * size) * 4
    return made + row * numbers * 4


def mamba_inputs_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Convolve the rows' inputs with those of their ancestors, and activate them; compute decays and updates.

    Arguments: those of HEAD, whose inputs are followed by what steps are made of, [heads]; room, float32
    [rows, channels]: x, keys and queries; groups; heads; state size; width of a head; biases of the
    convolution, or 0; -exp(A) and biases of the steps, float32 [heads]; least and largest step (bits); room
    for decays and updates, float32 [rows, heads * (1 + width)].
    """
    a = ints_at(arguments)
    rows, channels, paths = ints_at(a[0])[ROWS], a[7], ints_at(a[1])
    groups, heads, size, head_width = a[13], a[14], a[15], a[16]
    every, inner = heads + 2 * groups, heads * head_width
    rates, biases, least, largest = floats_at(a[18]), floats_at(a[19]), as_float(a[20]), as_float(a[21])
    for item in range(rows * every * me // threads, rows * every * (me + 1) // threads):
        row, part = item // every, item % every
        width, channel = head_width, part * head_width
        if part >= heads:
            width, channel = size, inner + (part - heads) * size
        at = a[12] + (row * channels + channel) * 4
        convolve(a, row, channel, width, at)
        y = floats_at(at)
        if a[17]:
            bias = floats_at(a[17] + channel * 4)
            for i in range(width):
                y[i] = y[i] + bias[i]
        for i in range(width):
            y[i] = y[i] / (F(1.0) + exp(-y[i]))
        if part < heads:
            written = written_address(a, paths, row, groups, size, a[22], heads + inner)
            made = floats_at(a[2] + row * a[3] + channels * 4)
            step = min(max(softplus(made[part] + biases[part]), least), largest)
            floats_at(written)[part] = exp(rates[part] * step)
            update = floats_at(written + (heads + channel) * 4)
            for i in range(width):
                update[i] = y[i] * step
        elif part < heads + groups and paths[RECORDS]:
            record = paths[RECORDS] + ((paths[TAIL] + row) * a[10] + a[4]) * a[11]
            kept = floats_at(record + (channels + channel - inner) * 4)
            for i in range(width):
                kept[i] = y[i]


def mamba_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Take the states past all rows, along their paths, and read them.

    Arguments: those of HEAD; x, keys and queries, float32 [rows, channels]; groups; heads; state size; width
    of a head; decays and updates of rows without records; room for outputs, float32 [rows, heads * width];
    buffers of all threads, MOST_BUFFERS slices each; columns of a slice.
    """
    a = ints_at(arguments)
    paths, stop_word = ints_at(a[1]), ints_at(ints_at(a[0])[STOP])
    channels, groups, heads, size, width, columns = a[7], a[13], a[14], a[15], a[16], a[20]
    slice_nbytes, inner = size * columns * 4, heads * width
    slices = inner // columns
    buffers = a[19] + (me * MOST_BUFFERS) * slice_nbytes
    for part in range(slices * me // threads, slices * (me + 1) // threads):
        if stop_word[0]:
            return
        head = part * columns // width
        offset = a[4] * a[8] + part * slice_nbytes
        key = key_head(head, groups, heads, 0) * size * 4
        for at in range(paths[VISITED]):
            visit = ints_at(paths[VISITS] + 24 * at)
            row, source, target = visit[0], visit[1], visit[2]
            source = source + offset if source > 0 else buffers + (-1 - source) * slice_nbytes
            target = target + offset if target > 0 else buffers + (-1 - target) * slice_nbytes
            if row < 0:
                record = paths[RECORDS] + ((-1 - row) * a[10] + a[4]) * a[11]
                advance_slice(source, target, record, part, columns, channels, groups, heads, size, width, 0)
                continue
            keys = a[12] + (row * channels + inner) * 4 + key
            queries = keys + groups * size * 4
            written = written_address(a, paths, row, groups, size, a[17], heads + inner)
            update, decay = written + (heads + columns * part) * 4, floats_at(written)[head]
            out = a[18] + (row * inner + columns * part) * 4
            if columns == COLUMNS:
                _take(source, target, size, keys, queries, update, decay, out)
            else:
                _take_few(source, target, size, keys, queries, update, decay, out)


def mamba_norm_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Add D x to the outputs, multiply them by the activation of their gates, norm those of each group, and
    write them as records.

    Arguments: state; outputs, float32 [rows, heads * width]; groups; heads; width of a head; x, float32;
    bytes of a row of them; D, float32 [heads]; gates, float32; bytes of a row of them; weights of the norm,
    [heads * width]; epsilon (bits); records; plain records.
    """
    a = ints_at(arguments)
    rows, groups, width = ints_at(a[0])[ROWS], a[2], a[4]
    heads = a[3] // groups  # of a group
    count = heads * width
    for item in range(rows * groups * me // threads, rows * groups * (me + 1) // threads):
        row, group = item // groups, item % groups
        at, first = a[1] + item * count * 4, group * count * 4
        skips = floats_at(a[7] + group * heads * 4)
        for head in range(heads):
            begin = head * width * 4
            y, x = floats_at(at + begin), floats_at(a[5] + row * a[6] + first + begin)
            gate, skip = floats_at(a[8] + row * a[9] + first + begin), skips[head]
            for i in range(width):
                y[i] = (y[i] + skip * x[i]) * (gate[i] / (F(1.0) + exp(-gate[i])))
        norm(at, count, a[10] + first, as_float(a[11]))
        blocks = count // 32
        for block in range(blocks):
            place = group * blocks + block
            write_block(at + 128 * block, place, groups * blocks, rows, row, a[12], a[13])


@dataclass(frozen=True, slots=True)
class Mamba:
    """The weights of a Mamba-2 layer, which takes the place of attention; vectors are float32.

    number: of the layer, among those with a state. inputs: matrices whose results are the gates, x, keys and
    queries before the convolution, and what steps are made of. weights: of the convolution, [kernel,
    channels]; biases: [channels], or None. rates: -exp(A), [heads]. steps: biases of the steps, [heads].
    limits: the least and the largest step. skips: D, [heads]. norm: [heads * width].
    """

    number: int
    inputs: Sequence[Matrix]
    weights: Floats
    biases: Floats | None
    rates: Floats
    steps: Floats
    limits: tuple[float, float]
    skips: Floats
    norm: Floats
    output: Sequence[Matrix]

    def add(self, one: "CompiledPass", records: "Records", columns: int) -> None:
        """Append the steps to a pass; the result of the last product is to be added to the states."""
        shape = one.shape.states
        assert shape is not None
        rows, state, paths = one.rows, one.state.ctypes.data, one.paths.ctypes.data
        groups, heads, width, channels = shape.key_heads, shape.heads, shape.value_width, shape.channels
        inner = heads * width
        both = one.shared("mamba inputs", rows, inner + channels + heads)
        gates, inputs = both, both[:, inner:]
        mixed = one.shared("mamba mixed", rows, channels)
        made = one.shared("mamba updates", rows, heads + inner).ctypes.data
        outputs = one.shared("mamba outputs", rows, inner).ctypes.data
        threads, numbers = one.pool.threads, shape.slice_nbytes // 4
        buffers = one.shared("mamba buffers", threads * MOST_BUFFERS, numbers).ctypes.data
        head = head_arguments(state, paths, inputs, self.number, self.weights, shape)
        assert len(head) == HEAD
        sizes = mixed.ctypes.data, groups, heads, shape.key_width, width
        into_output = one.records(inner, self.output)
        one.add_product(records, columns, self.inputs, both)
        one.program.add(
            mamba_inputs_step,
            *(*head, *sizes, 0 if self.biases is None else self.biases.ctypes.data),
            *(self.rates.ctypes.data, self.steps.ctypes.data, *map(float, self.limits), made),
        )
        one.program.add(remember_step, *head)
        one.program.add(mamba_step, *head, *sizes, made, outputs, buffers, shape.columns)
        one.program.add(
            mamba_norm_step,
            *(state, outputs, groups, heads, width, mixed.ctypes.data, mixed.strides[0]),
            *(self.skips.ctypes.data, gates.ctypes.data, gates.strides[0], self.norm.ctypes.data),
            *(float(one.shape.epsilon), *into_output.addresses),
        )
        one.program.kept += [self, into_output]
        one.add_product(into_output, inner, self.output, one.result)
