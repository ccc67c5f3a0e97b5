"""Which models compiled steps compute."""

from collections.abc import Mapping

from engine.checkpoints import Weight
from engine.compiled.instructions import LANES
from engine.compiled.layout import BLOCK, layout_of
from engine.compiled.matrix import can_tile
from engine.compiled.slices import UNROLLED
from engine.compiled.states import FEW_COLUMNS, StateShape
from engine.formats import GroupedFormat, NibbleFormat, PlainFormat, format_named
from engine.formats.format import RowFormat
from engine.model.architectures import family_of
from engine.model.description import Description
from engine.model.weight_names import EMBEDDING, HEAD, INPUT_TABLE, ROUTER, SHARED_GATE, is_matrix

ACTIVATIONS = {"silu": False, "gelu_pytorch_tanh": True}  # of gates; name: whether it is GELU
SQUARED = "relu2"  # the activation of MLPs without gates


def declared(description: Description) -> bool:
    """Return whether compiled steps compute an architecture's layers, whatever their sizes are."""
    return family_of(description.architecture).compiled


def covers(description: Description, weights: Mapping[str, Weight], streamed: bool = False) -> bool:
    """Return whether compiled steps compute all that the model does. weights: all of the model, by the names
    that llama's have.
    streamed: whether some of them are streamed."""
    if not declared(description):
        return False
    mixture = description.mixture
    experts = (mixture.inner, mixture.shared) if mixture else ()
    widths = {width for _, width in description.kept}
    attended = (description.heads * width for width in widths)
    narrow = description.layer_inputs
    sizes = (description.width, *description.inners, *experts, *widths, *attended, narrow)
    if any(size % BLOCK for size in sizes):
        return False
    if description.activation not in ((SQUARED,) if description.ungated else ACTIVATIONS):
        return False
    if narrow and description.input_rows < description.rows:  # some tokens have no inputs
        return False
    if not description.kept:  # the KV cache would be empty
        return False
    if description.states and not _covers_states(description, description.states):
        return False
    norms_behind_biases = family_of(description.architecture).whole_qk_norm and description.qkv_bias
    if norms_behind_biases or description.clip is not None:
        return False
    return all(
        not streamed and can_transcode(weight)
        if isinstance(format_named(weight.format), GroupedFormat)
        else _covered(name, weight)
        for name, weight in weights.items()
    )


def _covers_states(description: Description, states: StateShape) -> bool:
    if states.key_width % UNROLLED:
        return False
    if not description.mamba:
        return states.value_width % BLOCK == 0
    of_group = states.heads * states.value_width // states.key_heads
    whole = not (states.value_width % FEW_COLUMNS or of_group % BLOCK)
    return whole and description.mamba.activation == "silu"


def can_transcode(weight: Weight) -> bool:
    """Return whether a GPTQ or AWQ matrix can be written in a block format, whose scales are float16, as far
    as can be known without its zero points."""
    rows, columns = weight.shape
    assert weight.groups is not None
    in_order = len(weight.spans) == 3  # without the group of each column
    whole = not (rows % LANES or columns % BLOCK or weight.groups.size % BLOCK)
    return weight.format in ("GPTQ", "AWQ") and in_order and whole


def _covered(name: str, weight: Weight) -> bool:
    if name == INPUT_TABLE:  # of which only rows are read
        return len(weight.spans) == 1 and isinstance(format_named(weight.format), RowFormat)
    owner, _, leaf = name.rpartition(".")
    if leaf == "bias":
        return owner.endswith(("q_proj", "k_proj", "v_proj", "o_proj", "mlp.gate", "mamba.conv1d"))
    if not is_matrix(name, weight):
        return True
    whole = name in (EMBEDDING, HEAD) or name.endswith((ROUTER, SHARED_GATE)) or weight.shape[0] % LANES == 0
    return whole and _has_tiles(weight, by_rows=name == EMBEDDING)


def _has_tiles(weight: Weight, by_rows: bool) -> bool:
    """Return whether a matrix can be packed into tiles. by_rows: whether single rows of it are read, too."""
    form, layout = format_named(weight.format), layout_of(weight.format)
    rows, columns = weight.shape
    if layout is None or not can_tile(layout, (rows, columns)):
        return False
    if isinstance(form, RowFormat):
        return len(weight.spans) == 1
    if isinstance(form, NibbleFormat) and form.scales != "E8M0":
        groups = weight.spans[1].shape[1]
        fits = (
            columns % (BLOCK * groups) == 0
            if isinstance(form.scales, PlainFormat)
            else columns == form.group * groups
        )
        return not by_rows and fits
    return not by_rows
