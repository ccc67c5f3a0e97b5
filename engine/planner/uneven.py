"""The memory that compiled passes take where layers differ: for inputs of their own
(`engine.compiled.layer_inputs`), and for MLPs and heads of a second width, which have rooms of their own.
Arithmetic on the buffers of `engine.compiled.program`, which is not imported here because it imports the
compiler."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from engine.catalog import CatalogModel, Variant, sizes
from engine.checkpoints import Weight
from engine.planner.choices import PACKED_RECORD, PLAIN_RECORD


@dataclass(frozen=True, slots=True)
class Widths:
    """The widths of a model's layers, each once. `inner`: within MLPs; `heads`: numbers of all queries of a
    token in a layer, and of its keys and values."""

    inner: Collection[int]
    heads: Collection[tuple[int, int]]


def uneven_nbytes(hidden: int, inputs: int, width: int, widths: Widths) -> int:
    """Return the bytes that a row of a pass takes beyond those of layers that are all like the widest one.

    hidden: width of a state; inputs: layers that have inputs of their own; width: of such an input.
    """
    # The inputs and the rows of their table; a gate; and what two products read, at most as plain numbers.
    of_inputs = 8 * inputs * width + (4 + PLAIN_RECORD) * width + PLAIN_RECORD * hidden if inputs else 0.0
    of_mlps = sum((8 + PACKED_RECORD) * inner for inner in sorted(widths.inner)[:-1])
    narrower = sorted(widths.heads)[:-1]
    of_heads = sum(4 * (2 * queries + others) + PACKED_RECORD * queries for queries, others in narrower)
    return int(of_inputs + of_mlps + of_heads)


def catalogued_uneven(model: CatalogModel, variant: Variant) -> int:
    """Return `uneven_nbytes` of a model of the catalogue."""
    intermediate = variant.intermediate or model.intermediate
    widths = Widths(
        {
            sizes.inner_width(model, layer, intermediate)
            for layer in range(model.layers)
            if model.feeds(layer) and not model.experts_at(layer)
        },
        {
            (model.heads * width, 2 * kv_heads * width)
            for kv_heads, width in map(model.row, range(model.layers))
        },
    )
    inputs = model.layers if model.inputs else 0
    return uneven_nbytes(model.hidden, inputs, model.inputs.width if model.inputs else 0, widths)


def stored_uneven(weights: Mapping[str, Weight], hidden: int) -> int:
    """Return `uneven_nbytes` of a model with these weights. hidden: width of a state."""
    gates = _rows_of(weights, ".per_layer_input_gate.weight")
    queries, keys = (_rows_of(weights, f".self_attn.{name}_proj.weight") for name in "qk")
    kept = {queries[layer]: 2 * rows for layer, rows in keys.items() if layer in queries}
    widths = Widths({*_rows_of(weights, ".mlp.gate_proj.weight").values()}, {*kept.items()})
    return uneven_nbytes(hidden, len(gates), max(gates.values(), default=0), widths)


def _rows_of(weights: Mapping[str, Weight], suffix: str) -> dict[str, int]:
    """Return the rows of each layer's matrix of this name, by the layer's name."""
    return {
        name.removesuffix(suffix): weight.shape[0]
        for name, weight in weights.items()
        if name.endswith(suffix)
    }
