"""Short convolutions along paths (LFM2, gated DeltaNet): the channels of a row with those of its ancestors,
each with weights of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.compiled.instructions import floats_at, ints_at
from engine.compiled.matrix import Matrix
from engine.compiled.paths import BASE, ENDED, ENDS, RECORDS, SOURCES, TAIL
from engine.compiled.states import StateShape
from engine.compiled.steps import ROWS, write_block
from engine.formats.jit import helper

if TYPE_CHECKING:
    from engine.compiled.program import CompiledPass
    from engine.compiled.table import Records

Floats = NDArray[np.float32]

# The first arguments of all steps that read a convolution's inputs: state; paths; inputs, float32 [rows,
# ...]; bytes of a row of them; number of the layer among those with a state; weights, float32 [kernel,
# channels]; kernel; channels; bytes of a layer in a store; bytes of its matrices; number of layers with a
# state; bytes of a layer in a record.
HEAD = 12


def head_arguments(
    state: int, paths: int, inputs: Floats, layer: int, weights: Floats, shape: StateShape
) -> tuple[int, ...]:
    """Return the first arguments of a step. weights: float32 [kernel, channels]."""
    return (
        *(state, paths, inputs.ctypes.data, inputs.strides[0], layer, weights.ctypes.data),
        *(shape.kernel, shape.channels, shape.layer_nbytes, shape.matrix_nbytes),
        *(shape.layers, shape.record_nbytes),
    )


@helper
def input_address(a, paths, source):  # type: ignore[no-untyped-def]
    """Return the address of an input of the convolution. source: as in SOURCES."""
    if source >= paths[TAIL]:
        return a[2] + (source - paths[TAIL]) * a[3]
    if source >= 0:
        return paths[RECORDS] + (source * a[10] + a[4]) * a[11]
    return paths[BASE] + a[4] * a[8] + a[9] + (a[6] - 1 + source) * a[7] * 4


@helper
def convolve(a, row, channel, count, out):  # type: ignore[no-untyped-def]
    """Write the convolution at a row, of `count` channels from `channel` on, to the address `out`."""
    paths, kernel, channels = ints_at(a[1]), a[6], a[7]
    sources = ints_at(paths[SOURCES] + row * (kernel - 1) * 8)
    x, y = floats_at(a[2] + row * a[3] + channel * 4), floats_at(out)
    w = floats_at(a[5] + ((kernel - 1) * channels + channel) * 4)
    for i in range(count):
        y[i] = x[i] * w[i]
    for back in range(kernel - 1):
        x = floats_at(input_address(a, paths, sources[back]) + channel * 4)
        w = floats_at(a[5] + ((kernel - 2 - back) * channels + channel) * 4)
        for i in range(count):
            y[i] = y[i] + x[i] * w[i]


def remember_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Write the inputs behind the ends of a text to their stores, or those of a tree to its records.

    Arguments: those of HEAD.
    """
    a = ints_at(arguments)
    paths, rows, kernel, channels = ints_at(a[1]), ints_at(a[0])[ROWS], a[6], a[7]
    first, last = channels * me // threads, channels * (me + 1) // threads
    if paths[RECORDS]:
        for row in range(rows):
            x = floats_at(a[2] + row * a[3])
            y = floats_at(paths[RECORDS] + ((paths[TAIL] + row) * a[10] + a[4]) * a[11])
            for i in range(first, last):
                y[i] = x[i]
    ends = ints_at(paths[ENDS])
    for end in range(paths[ENDED]):
        behind = ends[2 * end + 1] + a[4] * a[8] + a[9]
        for place in range(kernel - 1):  # in ascending order: the store may be the base
            x = floats_at(input_address(a, paths, ends[2 * end] - (kernel - 1) + place))
            y = floats_at(behind + place * channels * 4)
            for i in range(first, last):
                y[i] = x[i]


def gate_inputs_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Multiply the inputs of the convolution by their gates. In a row, there are first the gates, then
    those of the outputs, then the inputs; the products take the place of the gates.

    Arguments: state; rows, float32 [rows, 3 * width]; width.
    """
    a = ints_at(arguments)
    rows, width = ints_at(a[0])[ROWS], a[2]
    for row in range(me, rows, threads):
        at = a[1] + row * 3 * width * 4
        gate, x = floats_at(at), floats_at(at + 2 * width * 4)
        for i in range(width):
            gate[i] = gate[i] * x[i]


def gated_convolution_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Multiply the convolution by the gates of the outputs, and write the products as records.

    Arguments: those of HEAD; room, float32 [rows, channels]; records; plain records.
    """
    a = ints_at(arguments)
    rows, channels = ints_at(a[0])[ROWS], a[7]
    blocks = channels // 32
    for item in range(rows * blocks * me // threads, rows * blocks * (me + 1) // threads):
        row, block = item // blocks, item % blocks
        at = a[12] + (row * channels + 32 * block) * 4
        convolve(a, row, 32 * block, 32, at)
        y, gate = floats_at(at), floats_at(a[2] + row * a[3] + (channels + 32 * block) * 4)
        for i in range(32):
            y[i] = gate[i] * y[i]
        write_block(at, block, blocks, rows, row, a[13], a[14])


@dataclass(frozen=True, slots=True)
class GatedConvolution:
    """The weights of a gated short convolution (LFM2), which takes the place of attention in a layer.

    inputs: matrices whose results are the gates of the inputs, those of the outputs, and the inputs, as wide
    as a state each. number: of the layer, among those with a state. weights: float32 [kernel, channels].
    """

    number: int
    inputs: Sequence[Matrix]
    weights: Floats
    output: Sequence[Matrix]

    def add(self, one: "CompiledPass", records: "Records", columns: int) -> None:
        """Append the steps to a pass; the result of the last product is to be added to the states."""
        shape = one.shape.states
        assert shape is not None
        width, state, paths = shape.channels, one.state.ctypes.data, one.paths.ctypes.data
        inputs = one.shared("convolution inputs", one.rows, 3 * width)
        mixed = one.shared("convolution mixed", one.rows, width)
        head = head_arguments(state, paths, inputs, self.number, self.weights, shape)
        into_output = one.records(width, self.output)
        one.add_product(records, columns, self.inputs, inputs)
        one.program.add(gate_inputs_step, state, inputs.ctypes.data, width)
        one.program.add(gated_convolution_step, *head, mixed.ctypes.data, *into_output.addresses)
        one.program.add(remember_step, *head)
        one.program.kept += [self, into_output]
        one.add_product(into_output, width, self.output, one.result)
