"""The weights that a model consists of, by transformers' names, and the check that a checkpoint has them."""

from collections.abc import Iterator, Mapping

from engine.checkpoints import Checkpoint, Weight
from engine.checkpoints.grouped import without_zero_biases
from engine.errors import BadCheckpoint
from engine.model.architectures import family_of
from engine.model.description import Description

EMBEDDING, HEAD = "model.embed_tokens.weight", "lm_head.weight"
ROUTER = "mlp.gate.weight"  # of a layer
_MISMATCH = "The file does not belong to its config.json, or is damaged; download it again."

Shape = tuple[int, ...]


def expected_weights(description: Description) -> dict[str, Shape]:
    """Return the shape of each weight of the model by its name. The output head is among them even if it
    is tied, and so is each matrix of each expert, as in `Checkpoint`."""
    rows, width = description.rows, description.width
    expected: dict[str, Shape] = dict.fromkeys((EMBEDDING, HEAD), (rows, width))
    expected["model.norm.weight"] = (width,)
    parts = {**dict(_norms(description)), **dict(_attention(description)), **dict(_mlp(description))}
    for layer in range(description.layers):
        expected |= {f"model.layers.{layer}.{name}": shape for name, shape in parts.items()}
    return expected


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
    names = ["input_layernorm", "post_attention_layernorm"]
    if family_of(description.architecture).gemma:
        names += ["pre_feedforward_layernorm", "post_feedforward_layernorm"]
    for name in names:
        yield f"{name}.weight", (description.width,)


def _attention(description: Description) -> Iterator[tuple[str, Shape]]:
    family, head_width = family_of(description.architecture), description.head_width
    queries, keys = description.heads * head_width, description.kv_heads * head_width
    if family.fused:
        yield from _product("self_attn.qkv_proj", queries + 2 * keys, description.width, False)
    else:
        for name, size in (("q_proj", queries), ("k_proj", keys), ("v_proj", keys)):
            yield from _product(f"self_attn.{name}", size, description.width, description.qkv_bias)
    yield from _product("self_attn.o_proj", description.width, queries, description.output_bias)
    if family.qk_norm:
        yield "self_attn.q_norm.weight", (queries if family.whole_qk_norm else head_width,)
        yield "self_attn.k_norm.weight", (keys if family.whole_qk_norm else head_width,)


def _mlp(description: Description) -> Iterator[tuple[str, Shape]]:
    width, inner, bias = description.width, description.inner, description.mlp_bias
    owners = ["mlp"]
    if description.experts:
        owners = [f"mlp.experts.{expert}" for expert in range(description.experts)]
        yield ROUTER, (description.experts, width)
    for owner in owners:
        if family_of(description.architecture).fused:
            yield from _product(f"{owner}.gate_up_proj", 2 * inner, width, bias)
        else:
            yield from _product(f"{owner}.gate_proj", inner, width, bias)
            yield from _product(f"{owner}.up_proj", inner, width, bias)
        yield from _product(f"{owner}.down_proj", width, inner, bias)


def _product(name: str, rows: int, columns: int, bias: bool) -> Iterator[tuple[str, Shape]]:
    yield f"{name}.weight", (rows, columns)
    if bias:
        yield f"{name}.bias", (rows,)
