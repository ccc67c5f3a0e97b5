"""The weights that a model consists of, by transformers' names, and the check that a checkpoint has them."""

import re
from collections.abc import Iterable, Iterator, Mapping

from engine.checkpoints import Checkpoint, Weight
from engine.checkpoints.grouped import without_zero_biases
from engine.errors import BadCheckpoint
from engine.model.architectures import family_of
from engine.model.description import Description
from engine.model.mamba_layers import mamba_weights
from engine.model.mixtures import MixtureShape

EMBEDDING, HEAD = "model.embed_tokens.weight", "lm_head.weight"
ROUTER = "mlp.gate.weight"  # of a layer
SHARED_GATE = "mlp.shared_expert_gate.weight"  # of a layer, [1, width]
CORRECTIONS = "mlp.gate.e_score_correction_bias"  # of a layer's experts
LAYER_FACTOR = "layer_scalar"  # of a layer's output
# Of inputs that each layer has for itself: a table of them, [tokens, layers * width of an input], and what is
# made from the embedding.
INPUT_TABLE = "model.embed_tokens_per_layer.weight"
INPUT_PROJECTION = "model.per_layer_model_projection.weight"
INPUT_NORM = "model.per_layer_projection_norm.weight"
SINKS = "self_attn.sinks"  # of a layer's heads
_MISMATCH = "The file does not belong to its config.json, or is damaged; download it again."

Shape = tuple[int, ...]


def expected_weights(
    description: Description, in_turn: bool = False, apart: bool = False
) -> dict[str, Shape]:
    """Return the shape of each weight of the model by its name. The output head is among them even if it
    is tied, and so is each matrix of each expert, as in `Checkpoint`. in_turn: whether gate and up of each
    expert are one matrix (`Weight.in_turn`). apart: whether gate and up of an MLP are two matrices although
    transformers' module has one (`are_apart`)."""
    rows, width = description.rows, description.width
    expected: dict[str, Shape] = dict.fromkeys((EMBEDDING, HEAD), (rows, width))
    expected["model.norm.weight"] = (width,)
    if narrow := description.layer_inputs:
        every = description.layers * narrow
        expected[INPUT_TABLE] = (description.input_rows, every)
        expected |= {INPUT_PROJECTION: (every, width), INPUT_NORM: (narrow,)}
    norms, mixture = dict(_norms(description)) | dict(_inputs(description)), {}
    if description.mixture:
        mixture = dict(_mixture(description, description.mixture, in_turn, apart))
    recurrent = dict(_recurrent(description))
    for layer in range(description.layers):
        of_layer = dict(norms)
        if description.attends[layer]:
            of_layer |= _attention(description, layer)
        elif description.stateful[layer]:
            of_layer |= recurrent
        if description.feeds[layer]:
            mixed = description.mixture is not None and description.mixture.layers[layer]
            of_layer |= mixture if mixed else _mlp(description, layer, apart)
        expected |= {f"model.layers.{layer}.{name}": shape for name, shape in of_layer.items()}
    names = family_of(description.architecture).names
    return {_renamed(name, names): shape for name, shape in expected.items()}


def are_apart(names: Iterable[str]) -> bool:
    """Return whether weights of these names are those of a Granite 4 hybrid in a GGUF file, which has gate
    and up of each MLP as two matrices."""
    return any(name.endswith("shared_mlp.gate_proj.weight") for name in names)


def usual_names(architecture: str, weights: Mapping[str, Weight]) -> dict[str, Weight]:
    """Return the weights by the names that llama's have, where the architecture has others."""
    names = {own: usual for usual, own in family_of(architecture).names.items()}
    return {_renamed(name, names): weight for name, weight in weights.items()}


def _renamed(name: str, names: Mapping[str, str]) -> str:
    found = re.fullmatch(r"(model\.layers\.\d+\.)?(.*)", name)
    assert found
    return f"{found[1] or ''}{_renamed_part(found[2], names)}"


def _renamed_part(part: str, names: Mapping[str, str]) -> str:
    """Return a part of a name by another one; the longest beginning that is in `names` decides."""
    known = part
    while known and known not in names:
        known = known.rpartition(".")[0]
    return names[known] + part[len(known) :] if known else part


def is_matrix(name: str, weight: Weight) -> bool:
    """Return whether products multiply by the weight. Others are vectors, a vector for each expert, the
    weights of convolutions, and the table of inputs that layers have for themselves."""
    return len(weight.shape) == 2 and not name.endswith("_bias") and name != INPUT_TABLE


def check_layers(checkpoint: Checkpoint, layers: int) -> None:
    """Raise BadCheckpoint unless the files have as many layers as the configuration says."""
    names = (name.split(".") for name in checkpoint.weights if name.startswith("model.layers."))
    found = {parts[2] for parts in names if parts[2]}
    if len(found) != layers:
        raise BadCheckpoint(
            f"{checkpoint.path.name} has {len(found)} layers; the configuration says {layers}.", _MISMATCH
        )


def checked_weights(
    checkpoint: Checkpoint, expected: Mapping[str, Shape], tied: bool
) -> tuple[dict[str, Weight], bool]:
    """Return the checkpoint's weights without superfluous zero biases, and whether the embedding is the
    output head too.

    expected: shapes by name. tied: whether the configuration ties the output head to the embedding. Raises
    BadCheckpoint if a weight is missing, does not belong to the model, or has another shape.
    """
    weights = without_zero_biases(checkpoint.weights, expected)
    for name, weight in weights.items():
        if name not in expected:
            raise BadCheckpoint(
                f"The tensor {name} does not belong to a {checkpoint.architecture} model.",
                "Download the model again.",
            )
        if expected[name] != weight.shape:
            raise BadCheckpoint(
                f"The tensor {name} has the shape {weight.shape}; the configuration says {expected[name]}.",
                _MISMATCH,
            )
    tied = tied and HEAD not in weights
    absent = expected.keys() - weights.keys() - ({HEAD} if tied else set())
    if absent:
        raise BadCheckpoint(
            f"The tensor {min(absent)} is missing.", "The file is incomplete; download it again."
        )
    return weights, tied


# -- the weights of a layer ----------------------------------------------------------------------------------


def _norms(description: Description) -> Iterator[tuple[str, Shape]]:
    for name in family_of(description.architecture).norms:
        yield f"{name}.weight", (description.width,)
    if family_of(description.architecture).layer_factor:
        yield LAYER_FACTOR, (1,)


def _attention(description: Description, layer: int) -> Iterator[tuple[str, Shape]]:
    family = family_of(description.architecture)
    kv_heads, head_width = description.heads_of(layer)
    queries, keys = description.heads * head_width, kv_heads * head_width
    if family.fused:
        yield from _product("self_attn.qkv_proj", queries + 2 * keys, description.width, False)
    else:
        gated = queries * (2 if description.gated else 1)
        sizes = {"q_proj": gated}
        if description.has_rows(layer):
            sizes["k_proj"] = keys
            if layer not in description.values_are_keys:
                sizes["v_proj"] = keys
        for name, size in sizes.items():
            yield from _product(f"self_attn.{name}", size, description.width, description.qkv_bias)
    yield from _product("self_attn.o_proj", description.width, queries, description.output_bias)
    if family.sinks:
        yield SINKS, (description.heads,)
    if description.qk_norm:
        yield "self_attn.q_norm.weight", (queries if family.whole_qk_norm else head_width,)
        if description.has_rows(layer):
            yield "self_attn.k_norm.weight", (keys if family.whole_qk_norm else head_width,)


def _recurrent(description: Description) -> Iterator[tuple[str, Shape]]:
    states, width = description.states, description.width
    if states is None:
        return
    if description.mamba:
        yield from mamba_weights(states, description.mamba, width)
        return
    if not states.heads:
        yield from _product("conv.in_proj", 3 * width, width, description.conv_bias)
        yield from _product("conv.out_proj", width, width, description.conv_bias)
        yield "conv.conv.weight", (width, 1, states.kernel)
        if description.conv_bias:
            yield "conv.conv.bias", (width,)
        return
    keys, values = states.key_heads * states.key_width, states.heads * states.value_width
    sizes = {"q": keys, "k": keys, "v": values, "z": values, "b": states.heads, "a": states.heads}
    for name in description.delta_inputs:
        yield f"linear_attn.in_proj_{name}.weight", (sum(sizes[part] for part in name), width)
    yield "linear_attn.out_proj.weight", (width, values)
    yield "linear_attn.conv1d.weight", (states.channels, 1, states.kernel)
    yield "linear_attn.norm.weight", (states.value_width,)
    for name in ("A_log", "dt_bias"):
        yield f"linear_attn.{name}", (states.heads,)


def _mlp(description: Description, layer: int, apart: bool) -> Iterator[tuple[str, Shape]]:
    yield from _feed(description, "mlp", description.inners[layer], description.mlp_bias, apart)


def _inputs(description: Description) -> Iterator[tuple[str, Shape]]:
    """Yield the weights that bring a layer's own input into it."""
    width, narrow = description.width, description.layer_inputs
    if not narrow:
        return
    yield from _product("per_layer_input_gate", narrow, width, False)
    yield from _product("per_layer_projection", width, narrow, False)
    yield "post_per_layer_input_norm.weight", (width,)


def _mixture(
    description: Description, mixture: MixtureShape, in_turn: bool, apart: bool
) -> Iterator[tuple[str, Shape]]:
    width, wide = description.width, mixture.inner
    rows = {"gate_up": 2 * wide} if in_turn else {"gate": wide, "up": wide}
    if description.ungated:
        rows = {"up": wide}
    yield from _product(ROUTER.removesuffix(".weight"), mixture.experts, width, mixture.biased)
    for expert in range(mixture.experts):
        for name, size in rows.items():
            yield f"mlp.experts.{expert}.{name}_proj.weight", (size, width)
        yield f"mlp.experts.{expert}.down_proj.weight", (width, wide)
    if mixture.shared:
        yield from _feed(description, "mlp.shared_expert", mixture.shared, description.mlp_bias, apart)
    if mixture.shared_gated:
        yield SHARED_GATE, (1, width)
    if mixture.corrected:
        yield CORRECTIONS, (mixture.experts,)
    if mixture.biased:  # of all experts together
        for name, size in (rows | {"down": width}).items():
            yield f"mlp.experts.{name}_proj_bias", (mixture.experts, size)


def _feed(
    description: Description, owner: str, inner: int, bias: bool, apart: bool
) -> Iterator[tuple[str, Shape]]:
    """Yield the weights of a feed-forward network, or of an expert. inner: the width within it; apart: as for
    `expected_weights`."""
    width, family = description.width, family_of(description.architecture)
    if not apart and (family.fused or family.fused_mlp):
        yield from _product(f"{owner}.gate_up_proj", 2 * inner, width, bias)
    else:
        if not family.ungated:
            yield from _product(f"{owner}.gate_proj", inner, width, bias)
        yield from _product(f"{owner}.up_proj", inner, width, bias)
    yield from _product(f"{owner}.down_proj", width, inner, bias)


def _product(name: str, rows: int, columns: int, bias: bool) -> Iterator[tuple[str, Shape]]:
    yield f"{name}.weight", (rows, columns)
    if bias:
        yield f"{name}.bias", (rows,)
