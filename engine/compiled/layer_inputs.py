"""Inputs that each layer has for itself, besides the states (Gemma 4 E2B and E4B): a token's row of a table,
and a projection of its embedding. A layer brings its input in behind its feed-forward network.

Known from transformers' models/gemma4 and llama.cpp's src/models/gemma4.cpp.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.compiled.instructions import floats_at, ints_at
from engine.compiled.matrix import Matrix
from engine.compiled.steps import ROWS, as_float, gate_block, norm, write_block
from engine.compiled.table import Floats, address, room

if TYPE_CHECKING:
    from engine.compiled.program import CompiledPass


def inputs_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Make the inputs of all layers: norm the projections, and add the rows of the table.

    Arguments: state; projections, float32 [rows, layers * width], which the inputs replace; rows of the
    table, in the same form; layers; width of an input; weight of the norm; epsilon (bits); factors of the
    projections, of the table and of the sum (bits).
    """
    a = ints_at(arguments)
    layers, width, epsilon = a[3], a[4], as_float(a[6])
    before, of_table, of_sum = as_float(a[7]), as_float(a[8]), as_float(a[9])
    for item in range(me, ints_at(a[0])[ROWS] * layers, threads):
        at = 4 * item * width
        x, stored = floats_at(a[1] + at), floats_at(a[2] + at)
        for i in range(width):
            x[i] = x[i] * before
        norm(a[1] + at, width, a[5], epsilon)
        for i in range(width):
            x[i] = (x[i] + stored[i] * of_table) * of_sum


def input_gate_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Multiply the activation of a layer's gates by its input, and write the products as records.

    Arguments: state; gates, float32 [rows, width]; the layer's inputs; bytes from one row of these to the
    next; width; records; plain records; whether the activation is GELU (tanh form), not SiLU.
    """
    a = ints_at(arguments)
    rows, width = ints_at(a[0])[ROWS], a[4]
    blocks = width // 32
    for item in range(me, rows * blocks, threads):
        row, block = item // blocks, item % blocks
        gates = a[1] + 4 * (row * width + 32 * block)
        gate_block(gates, a[2] + row * a[3] + 128 * block, a[7])
        write_block(gates, block, blocks, rows, row, a[5], a[6])


@dataclass(frozen=True, slots=True)
class LayerInput:
    """What brings a layer's input into it. number: of the layer; width: of the input; gate: matrices whose
    result is the gate; projection: those that multiply the gated input; post_norm: of their result."""

    number: int
    width: int
    gate: Sequence[Matrix]
    projection: Sequence[Matrix]
    post_norm: Floats

    @property
    def matrices(self) -> list[Matrix]:
        return [*self.gate, *self.projection]

    def add(self, one: "CompiledPass", feed_post: Floats | None) -> None:
        """Append the steps behind a layer's feed-forward network. feed_post: norm of its result. The result
        of the last product is still to be added to the states."""
        inputs, columns = one.inputs, one.shape.width
        assert inputs is not None
        into_gate, into_projection = one.records(columns, self.gate), one.records(self.width, self.projection)
        gates = one.shared("gates of inputs", one.rows, self.width)
        one.add_norm(None, into_gate, post=feed_post)
        one.add_product(into_gate, columns, self.gate, gates)
        one.program.add(
            input_gate_step,
            *(address(one.state), address(gates), address(inputs) + 4 * self.number * self.width),
            *(inputs.strides[0], self.width, *into_projection.addresses, int(one.shape.gelu)),
        )
        one.add_product(into_projection, self.width, self.projection, one.result)


@dataclass(frozen=True, slots=True)
class InputMaker:
    """What makes the inputs of all layers. layers: their number; width: of an input; projection: matrices
    that multiply the embedding; norm: of each layer's projection, float32 [width]."""

    layers: int
    width: int
    projection: Sequence[Matrix]
    norm: Floats

    def add(self, one: "CompiledPass") -> Floats:
        """Append the steps before the first layer, which reads the embeddings. Return where a caller puts the
        rows of the table, float32 [rows, layers * width]."""
        columns, shape = one.shape.width, (one.rows, self.layers * self.width)
        one.inputs, stored = room(*shape), room(*shape)
        records = one.records(columns, self.projection)
        one.add_norm(None, records, adds=False)
        one.add_product(records, columns, self.projection, one.inputs)
        one.program.kept += [self.norm, stored]
        one.program.add(
            inputs_step,
            *(address(one.state), address(one.inputs), address(stored), self.layers, self.width),
            *(address(self.norm), float(one.shape.epsilon)),
            *(columns**-0.5, self.width**0.5, 2**-0.5),
        )
        return stored
