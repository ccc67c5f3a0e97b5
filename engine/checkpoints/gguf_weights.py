"""Find the weights in a GGUF file by their Hugging Face names; refuse missing and unknown tensors."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any

from engine.checkpoints import drafts
from engine.checkpoints.checkpoint import Weight
from engine.checkpoints.gguf_architectures import Architecture
from engine.checkpoints.gguf_header import DAMAGED, GgufTensor
from engine.checkpoints.gguf_keys import Keys
from engine.checkpoints.gguf_places import TensorPlace, linear
from engine.errors import BadCheckpoint, UnsupportedModel

# Tensors with rotary frequencies, which are not weights: `gguf_rope` reads the divisors; the tables that old
# converters wrote are not needed, because they follow from the metadata.
ROTARY = re.compile(
    r"rope_freqs\.weight|rope_factors_(long|short)\.weight"
    r"|blk\.\d+\.(attn_rot_embd|rope_freqs|attn\.rotary_emb\.inv_freq)(\.weight)?"
)

# The ends of the names of factors of a whole matrix and, for rounding that, of its input. llama.cpp's
# converter writes them beside NVFP4 of ModelOpt, one for each expert in a stack.
SCALES = (".scale", ".input_scale")
_SCALED = "NVFP4"
_TABLES = ("token_embd", "per_layer_token_embd")  # of which rows are read, without factors
_GATE_OR_UP = re.compile(r"ffn_(gate|up)_exps\.weight$")  # of all experts of a layer
LAST_NORM = "nextn.shared_head_norm.weight"  # in the block of a layer for drafts


def find_weights(keys: Keys, architecture: Architecture, config: dict[str, Any]) -> dict[str, Weight]:
    """Return all weights by HF name. config: the result of `gguf_architectures.configuration`.

    Raises `BadCheckpoint` if a tensor is missing or has a wrong shape; `UnsupportedModel` if one is unknown.
    """
    tensors = keys.header.tensors
    stacked = _stacked(keys)
    unknown = set(tensors)
    weights: dict[str, Weight] = {}
    places = architecture.places(config) if architecture.places else _places(architecture, config, stacked)
    for name, place in _as_merged(tensors, places):
        tensor = tensors.get(name)
        if tensor is None and not place.name:
            continue
        if tensor is None:
            raise BadCheckpoint(f"{keys.path.name} is incomplete: tensor {name} is missing.", DAMAGED)
        if tensor.shape != place.shape:
            raise BadCheckpoint(
                f"{keys.path.name} is invalid: {name} has the shape {tensor.shape} instead of {place.shape}.",
                DAMAGED,
            )
        unknown.remove(name)
        if place.name:
            weights |= _weights(keys, tensor, place)
            unknown -= set(_beside(tensor))
    behind = _draft_blocks(keys, config)
    for name in unknown:
        if ROTARY.fullmatch(name) or any(name.startswith(f"blk.{layer}.") for layer in behind):
            continue
        if name.endswith(SCALES):
            raise UnsupportedModel(
                f"{keys.path.name} stores scales of whole matrices ({name}), which are supported for NVFP4 "
                "matrices, not for others, nor for the table of tokens.",
                "Choose a file in another format, such as Q4_K_M.",
            )
        raise UnsupportedModel(
            f"{keys.path.name} contains the tensor {name}, which is not part of a "
            f"{architecture.model_type} model.",
            "It is probably an unsupported variant of that architecture. Choose another model.",
        )
    return weights


def find_draft(keys: Keys, architecture: Architecture, config: dict[str, Any]) -> dict[str, Weight]:
    """Return the weights of the layer for drafts behind the model's layers, by the names in
    `engine.checkpoints.drafts`. Returns {} if there is none, or if there are several, or if it is not as
    llama.cpp's converter writes it: the model runs without. config: as for `find_weights`."""
    blocks = _draft_blocks(keys, config)
    if len(blocks) != 1:
        return {}
    weights: dict[str, Weight] = {}
    block = f"blk.{blocks[0]}."
    places = ((block + name, place) for name, place in _draft_places(architecture, config, _stacked(keys)))
    for name, place in _as_merged(keys.header.tensors, places):
        tensor = keys.header.tensors.get(name)
        if tensor is None and name == block + LAST_NORM:  # then llama.cpp takes the model's
            tensor = keys.header.tensors.get("output_norm.weight")
        if tensor is None or tensor.shape != place.shape:
            return {}
        try:
            weights |= _weights(keys, tensor, place)
        except BadCheckpoint:  # its factors are not one for each matrix
            return {}
    return weights


def _draft_blocks(keys: Keys, config: dict[str, Any]) -> range:
    """Return the numbers of the blocks behind the model's layers."""
    return range(config["num_hidden_layers"], keys.number("{arch}.block_count"))


def _stacked(keys: Keys) -> bool:
    """Return whether a layer's experts are stacked, as converters have written them since April 2024."""
    return any(name.endswith(".ffn_down_exps.weight") for name in keys.header.tensors)


def _as_merged(
    tensors: Collection[str], places: Iterable[tuple[str, TensorPlace]]
) -> Iterator[tuple[str, TensorPlace]]:
    """Yield the places, with the gates and the matrices beside them as one tensor, the gate's rows first, for
    each layer that has them so in the file.

    llama.cpp's converter merges them with `--fuse-gate-up-exps` (ModelBase.modify_tensors in
    conversion/base.py), but no NVFP4 of ModelOpt; its loader decides for each layer, too.
    """
    for name, place in places:
        merged = _GATE_OR_UP.sub("ffn_gate_up_exps.weight", name)
        if merged == name or merged not in tensors:
            yield name, place
        elif "ffn_gate_exps" in name:
            experts, rows, columns = place.shape
            both = place.name.replace("gate_proj", "{}_proj")
            shape, halves = (experts, 2 * rows, columns), ("gate", "up")
            yield merged, replace(place, name=both, shape=shape, halves=halves)


def _weights(keys: Keys, tensor: GgufTensor, place: TensorPlace) -> Iterator[tuple[str, Weight]]:
    """Yield (HF name, weight) for the whole tensor, or for each of the experts stacked in it."""
    shape, names, parts = tensor.shape, [place.name], place.halves or ("",)
    factor = _factor(keys, tensor)
    if len(shape) == 3:
        names = [place.name.format(expert, part) for expert in range(shape[0]) for part in parts]
        shape = (shape[1] // len(parts), shape[2])
    nbytes = tensor.nbytes // len(names)
    for index, name in enumerate(names):
        span = replace(tensor.span(), offset=tensor.offset + index * nbytes, nbytes=nbytes, shape=shape)
        weight = Weight.of(span, place.rope_heads, place.plus)
        if factor:
            expert = index // len(parts)
            one = replace(factor.span(), offset=factor.offset + 4 * expert, nbytes=4, shape=(1,))
            weight = replace(weight, format=f"{_SCALED}_FACTORED", spans=(span, one))
        if place.channels:
            weight = replace(weight, shape=(shape[0], 1, shape[1]))
        if place.flat:
            weight = replace(weight, shape=(weight.numel,))
        if place.row:
            weight = replace(weight, shape=(1, *shape))
        yield name, replace(weight, decay=place.decay)


def _beside(tensor: GgufTensor) -> list[str]:
    """Return the names that tensors with the factors of a matrix, and of its input, may have."""
    owner = tensor.name.removesuffix(".weight")
    return [owner + end for end in SCALES] if tensor.storage == _SCALED and owner not in _TABLES else []


def _factor(keys: Keys, tensor: GgufTensor) -> GgufTensor | None:
    """Return the tensor with the factors of a matrix, or of the experts stacked in it, if there is one."""
    found = [keys.header.tensors.get(name) for name in _beside(tensor)]
    if not found or found[0] is None:
        return None
    count = tensor.shape[0] if len(tensor.shape) == 3 else 1
    if found[0].storage != "F32" or found[0].nbytes != 4 * count:
        raise BadCheckpoint(
            f"{keys.path.name} is invalid: {found[0].name} is not {count} numbers in float32.", DAMAGED
        )
    return found[0]


def _places(
    architecture: Architecture, config: dict[str, Any], stacked: bool
) -> Iterator[tuple[str, TensorPlace]]:
    """Yield (GGUF name, place) for every tensor that the model needs. stacked: as for `_experts`."""
    hidden, vocabulary = config["hidden_size"], config["vocab_size"]
    types = config.get("layer_types") or []
    norms = _norms(architecture, config)
    of_layer = norms | _attention(architecture, config)
    if "num_experts_per_tok" in config:
        behind = _experts(architecture, config, stacked)
    else:
        behind = _mlp(architecture, config)
    dense_layers = config.get("first_k_dense_replace", 0)
    dense = of_layer | _mlp(architecture, config) if dense_layers else {}
    of_layer |= behind
    recurrent = {}
    if "linear_attention" in types:
        recurrent = {name: place for name, place in norms.items() if "self_attn" not in place.name}
        recurrent |= _delta(architecture, config) | behind
    yield "token_embd.weight", TensorPlace("model.embed_tokens.weight", (vocabulary, hidden))
    for layer in range(config["num_hidden_layers"]):
        is_recurrent = bool(recurrent) and types[layer] == "linear_attention"
        places = recurrent if is_recurrent else of_layer
        if layer < dense_layers:
            places = dense
        for name, place in places.items():
            yield f"blk.{layer}.{name}", replace(place, name=f"model.layers.{layer}.{place.name}")
    yield "output_norm.weight", TensorPlace("model.norm.weight", (hidden,), plus=architecture.norm_plus)
    if not config["tie_word_embeddings"]:
        yield "output.weight", TensorPlace("lm_head.weight", (vocabulary, hidden))


def _draft_places(
    architecture: Architecture, config: dict[str, Any], stacked: bool
) -> Iterator[tuple[str, TensorPlace]]:
    """Yield (GGUF name in its block, place) for every tensor of a layer for drafts, which attends, and is a
    mixture if the model's last layers are. stacked: as for `_experts`."""
    hidden, plus = config["hidden_size"], architecture.norm_plus
    mixture = "num_experts_per_tok" in config
    behind = _experts(architecture, config, stacked) if mixture else _mlp(architecture, config)
    of_layer = _norms(architecture, config) | _attention(architecture, config) | behind
    for name, place in of_layer.items():
        yield name, replace(place, name=f"{drafts.LAYER}{place.name}")
    yield "nextn.eh_proj.weight", TensorPlace(f"{drafts.JOIN}.weight", (hidden, 2 * hidden))
    for name, hf_name in (
        ("nextn.enorm.weight", drafts.EMBEDDING_NORM),
        ("nextn.hnorm.weight", drafts.STATE_NORM),
        (LAST_NORM, drafts.LAST_NORM),
    ):
        yield name, TensorPlace(f"{hf_name}.weight", (hidden,), plus=plus)


def _norms(architecture: Architecture, config: dict[str, Any]) -> dict[str, TensorPlace]:
    hidden, head_dim = config["hidden_size"], config["head_dim"]
    norms = {name: (hf_name, hidden) for name, hf_name in architecture.norms.items()}
    if architecture.qk_norm or architecture.whole_qk_norm or config.get("use_qk_norm"):
        whole = architecture.whole_qk_norm
        heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
        norms["attn_q_norm"] = ("self_attn.q_norm", head_dim * (heads if whole else 1))
        norms["attn_k_norm"] = ("self_attn.k_norm", head_dim * (kv_heads if whole else 1))
    return {
        f"{name}.weight": TensorPlace(f"{hf_name}.weight", (size,), plus=architecture.norm_plus)
        for name, (hf_name, size) in norms.items()
    }


def _attention(architecture: Architecture, config: dict[str, Any]) -> dict[str, TensorPlace]:
    hidden, heads, kv_heads = (
        config["hidden_size"],
        config["num_attention_heads"],
        config["num_key_value_heads"],
    )
    q_rows, kv_rows = heads * config["head_dim"], kv_heads * config["head_dim"]
    q_heads, k_heads = (heads, kv_heads) if architecture.interleaved else (0, 0)
    bias = config.get("attention_bias", False)
    o_bias = config.get("attention_out_bias", bias) and not architecture.plain_output
    bias = bias or architecture.qkv_bias
    output = linear("attn_output", "self_attn.o_proj", hidden, q_rows, o_bias)
    if architecture.fused_qkv:
        return linear("attn_qkv", "self_attn.qkv_proj", q_rows + 2 * kv_rows, hidden, bias) | output
    sinks = {"attn_sinks.weight": TensorPlace("self_attn.sinks", (heads,))} if architecture.sinks else {}
    return (
        sinks
        | linear(
            "attn_q", "self_attn.q_proj", q_rows * (2 if architecture.gated else 1), hidden, bias, q_heads
        )
        | linear("attn_k", "self_attn.k_proj", kv_rows, hidden, bias, k_heads)
        | linear("attn_v", "self_attn.v_proj", kv_rows, hidden, bias)
        | output
    )


def _delta(architecture: Architecture, config: dict[str, Any]) -> dict[str, TensorPlace]:
    """Return the places of a gated DeltaNet layer."""
    hidden, heads = config["hidden_size"], config["linear_num_value_heads"]
    keys = config["linear_num_key_heads"] * config["linear_key_head_dim"]
    values, kernel = heads * config["linear_value_head_dim"], config["linear_conv_kernel_dim"]
    channels = 2 * keys + values

    def place(name: str, *shape: int, channels: bool = False, decay: bool = False) -> TensorPlace:
        return TensorPlace(f"linear_attn.{name}", shape, channels=channels, decay=decay)

    every = {
        "qkv": ("attn_qkv", channels),
        "z": ("attn_gate", values),
        "b": ("ssm_beta", heads),
        "a": ("ssm_alpha", heads),
        "qkvz": ("ssm_in", channels + values),
        "ba": ("ssm_ba", 2 * heads),
    }
    inputs = {}
    for kind in config.get("_delta_inputs", architecture.delta_inputs):
        name, rows = every[kind]
        inputs[f"{name}.weight"] = place(f"in_proj_{kind}.weight", rows, hidden)
    return inputs | {
        "ssm_conv1d.weight": place("conv1d.weight", channels, kernel, channels=True),
        "ssm_dt.bias": place("dt_bias", heads),
        "ssm_a": place("A_log", heads, decay=True),
        "ssm_norm.weight": place("norm.weight", config["linear_value_head_dim"]),
        "ssm_out.weight": place("out_proj.weight", hidden, values),
    }


def _mlp(architecture: Architecture, config: dict[str, Any]) -> dict[str, TensorPlace]:
    hidden, wide, bias = config["hidden_size"], config["intermediate_size"], config.get("mlp_bias", False)
    down = linear("ffn_down", "mlp.down_proj", hidden, wide, bias)
    if architecture.fused_gate:
        return linear("ffn_up", "mlp.gate_up_proj", 2 * wide, hidden, bias) | down
    return (
        linear("ffn_gate", "mlp.gate_proj", wide, hidden, bias)
        | linear("ffn_up", "mlp.up_proj", wide, hidden, bias)
        | down
    )


def _experts(architecture: Architecture, config: dict[str, Any], stacked: bool) -> dict[str, TensorPlace]:
    """Return the places of the router and the experts of one layer by GGUF name.

    stacked: whether a layer's experts are one tensor for each of gate, up and down, or else each expert has
    tensors of its own.
    """
    hidden, wide = config["hidden_size"], config.get("moe_intermediate_size") or config["intermediate_size"]
    names = ("num_local_experts", "num_experts", "n_routed_experts")
    count = next(config[name] for name in names if name in config)
    mixture = architecture.mixture
    places = linear(
        "ffn_gate_inp", f"{mixture}.{architecture.router}", count, hidden, architecture.biased_experts
    )
    if architecture.biased_experts:
        for kind, rows in (("gate", wide), ("up", wide), ("down", hidden)):
            places[f"ffn_{kind}_exps.bias"] = TensorPlace(
                f"{mixture}.experts.{kind}_proj_bias", (count, rows)
            )
    kinds = {"gate": (wide, hidden), "up": (wide, hidden), "down": (hidden, wide)}
    for kind, shape in kinds.items():
        if stacked:
            places[f"ffn_{kind}_exps.weight"] = TensorPlace(
                f"{mixture}.experts.{{}}.{kind}_proj.weight", (count, *shape)
            )
        else:
            for expert in range(count):
                places[f"ffn_{kind}.{expert}.weight"] = TensorPlace(
                    f"{mixture}.experts.{expert}.{kind}_proj.weight", shape
                )
    if architecture.corrected_router:
        bias = TensorPlace(f"{mixture}.{architecture.router}.e_score_correction_bias", (count,))
        places["exp_probs_b.bias"] = bias
        many = config["n_shared_experts"] * wide
        for kind, shape in (("gate", (many, hidden)), ("up", (many, hidden)), ("down", (hidden, many))):
            name = f"{mixture}.shared_experts.{kind}_proj"
            places |= linear(f"ffn_{kind}_shexp", name, *shape, bias=False)
    if architecture.shared:
        wide = config["shared_expert_intermediate_size"]
        for kind, shape in (("gate", (wide, hidden)), ("up", (wide, hidden)), ("down", (hidden, wide))):
            places |= linear(f"ffn_{kind}_shexp", f"{mixture}.shared_expert.{kind}_proj", *shape, bias=False)
        gate = TensorPlace(f"{mixture}.shared_expert_gate.weight", (hidden,), row=True)
        places["ffn_gate_inp_shexp.weight"] = gate
    return places
