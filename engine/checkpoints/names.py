"""Translate tensor names in checkpoints to the names in `Checkpoint.weights`, and back.

Covers multimodal models that wrap a text model, and the different layouts of a mixture's experts.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from engine.checkpoints import drafts
from engine.checkpoints.checkpoint import Span
from engine.checkpoints.limits import COUNT_LIMIT, TENSORS_LIMIT
from engine.errors import BadCheckpoint, UnsupportedModel

# A wrapper's model_type: the model_type to assume for its text model if text_config gives none.
WRAPPERS = {
    "gemma3": "gemma3_text",
    "gemma3n": "gemma3n_text",
    "gemma4": "gemma4_text",
    "gemma4_unified": "gemma4_unified_text",
    "mistral3": "mistral",
    "qwen3_5": "qwen3_5_text",
    "qwen3_5_moe": "qwen3_5_moe_text",
}
# Model types whose models compute as those of another one: that one, and what their configuration class
# assumes otherwise. Gemma 4 12B has no inputs of each layer (transformers, models/gemma4_unified).
_SAME_AS: dict[str, dict[str, Any]] = {
    "gemma4_unified_text": {
        "model_type": "gemma4_text",
        "hidden_size_per_layer_input": 0,
        "max_position_embeddings": 262144,
        "sliding_window": 1024,
    }
}
# Keys of a wrapper's config that apply to the text model too.
_INHERITED = (
    "bos_token_id", "dtype", "eos_token_id", "pad_token_id", "quantization_config", "tie_word_embeddings",
    "torch_dtype",
)  # fmt: skip
_LANGUAGE = re.compile(r"^(model\.)?language_model\.")
_VISION = re.compile(
    r"(model\.)?(vision_tower|multi_modal_projector|visual|vision_embedder|embed_vision|audio_tower"
    r"|embed_audio)\."
)
# The names of the embedding: the usual one, and Nemotron-H's.
EMBEDDINGS = ("model.embed_tokens.weight", "model.embeddings.weight")
# How names of weights begin in checkpoints of an architecture, where transformers' begin with "model.".
_BODIES = {"nemotron_h": "backbone."}
# Architectures whose checkpoints may contain a layer that drafts the token after the next one (multi-token
# prediction), and how its tensors' names begin. It is no part of the model.
_DRAFTS = ("qwen3_5_text", "qwen3_5_moe_text", "qwen3_next", "glm4_moe", "nemotron_h")
_DRAFT = "mtp."
_KEYS = re.compile(r"model\.layers\.(\d+)\.self_attn\.(k_proj|v_proj|k_norm|v_norm)\.")
_LAYER = re.compile(r"model\.layers\.(\d{1,6})\.")
# Architectures whose experts' matrices are called w1, w2 and w3 on the Hub, and what owns the experts there.
_LETTERED = {"mixtral": "block_sparse_moe", "lfm2_moe": "feed_forward"}
_EXPERT = re.compile(r"(model\.layers\.\d+)\.(block_sparse_moe|feed_forward)\.(experts\.\d+)\.(w[123])\.(.+)")
_PROJECTIONS = {"w1": "gate_proj", "w2": "down_proj", "w3": "up_proj"}
_MATRICES = {projection: matrix for matrix, projection in _PROJECTIONS.items()}
_OWN_EXPERT = re.compile(r"(model\.layers\.\d+)\.(?:mlp|feed_forward)\.(experts\.\d+)\.(\w+_proj)\.(.+)")
_ROUTER = re.compile(r"(model\.layers\.\d+)\.block_sparse_moe\.gate\.(.+)")
_STACKED = re.compile(
    r"((?:model|mtp)\.layers\.\d+\.(?:mlp|block_sparse_moe|mixer|feed_forward)\.experts)"
    r"\.((?:gate_)?up_proj|down_proj)"
)
_BIAS = ".gate_up_proj_bias"
# GraniteMoE's names on the Hub: transformers' names.
_GRANITE = {
    "input_linear.weight": "experts.gate_up_proj",
    "output_linear.weight": "experts.down_proj",
    "router.layer.weight": "router.weight",
}
_GRANITE_PART = re.compile(r"(model\.layers\.\d+\.block_sparse_moe)\.(.+)")


def text_config(config: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration of the text model inside a wrapper.

    config: the wrapper's config.json. Raises `BadCheckpoint` if it has no valid text_config.
    """
    inner = config.get("text_config")
    if not isinstance(inner, dict) or not isinstance(inner.get("model_type", ""), str):
        raise BadCheckpoint(
            f"config.json of this {config['model_type']} model has no text_config.",
            "The file is damaged. Download it again.",
        )
    inherited = {key: config[key] for key in _INHERITED if key in config}
    return {"model_type": WRAPPERS[config["model_type"]], **inherited, **inner}


def usual_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration with the model type by which such models are known here, and with what its
    own type assumes."""
    assumed = _SAME_AS.get(config["model_type"], {})
    return {**assumed, **config, "model_type": assumed.get("model_type", config["model_type"])}


def text_tensors(tensors: dict[str, Span]) -> dict[str, Span]:
    """Return a wrapper's tensors under the names of a plain text model, without those of
    encoders of images and sound."""
    return _unique(
        (_LANGUAGE.sub(r"\1", name), span) for name, span in tensors.items() if not _VISION.match(name)
    )


def model_tensors(architecture: str, tensors: dict[str, Span]) -> dict[str, Span]:
    """Return the tensors under names that begin as transformers' do."""
    if (body := _BODIES.get(architecture)) is None:
        return tensors
    return _unique((re.sub(f"^{re.escape(body)}", "model.", name), span) for name, span in tensors.items())


def has_vision(tensors: Iterable[str]) -> bool:
    """Return whether a wrapper's tensors include an encoder of images or sound."""
    return any(map(_VISION.match, tensors))


def without_draft(
    architecture: str, layers: int, tensors: dict[str, Span]
) -> tuple[dict[str, Span], dict[str, Span]]:
    """Return the tensors of the model, and those of layers for drafts that come with it, with `mtp.` before
    the names in `engine.checkpoints.drafts`, and without copies of the embedding and the output head. layers:
    of the model; GLM's layers for drafts are numbered after them."""
    if architecture not in _DRAFTS:
        return tensors, {}
    model: dict[str, Span] = {}
    draft: dict[str, Span] = {}
    for name, span in tensors.items():
        found = _LAYER.match(name) if architecture == "glm4_moe" else None
        if found and int(found[1]) >= layers:
            name = _draft_name(int(found[1]) - layers, name[found.end() :])
        if not name.startswith(_DRAFT):
            model[name] = span
        elif not name.removeprefix(_DRAFT).startswith(drafts.SHARED):
            draft[name] = span
    return model, draft


def _draft_name(layer: int, name: str) -> str:
    """Return Qwen's name of a tensor in one of GLM's layers for drafts. layer: 0, 1, ..."""
    owner, _, leaf = name.rpartition(".")
    if layer == 0 and owner in (*drafts.GLM, *drafts.SHARED):
        return f"{_DRAFT}{drafts.GLM.get(owner, owner)}.{leaf}"
    return f"{_DRAFT}layers.{layer}.{name}"


def without_shared(config: Mapping[str, Any], tensors: dict[str, Span]) -> dict[str, Span]:
    """Return the tensors without keys and values of layers that use those of an earlier layer; some
    checkpoints of Gemma 3n and 4 have them all the same."""
    layers, shared = config.get("num_hidden_layers"), config.get("num_kv_shared_layers")
    if type(layers) is not int or type(shared) is not int or shared < 1:
        return tensors
    unused = {name for name in tensors if (found := _KEYS.match(name)) and int(found[1]) >= layers - shared}
    return {name: span for name, span in tensors.items() if name not in unused}


def expert_tensors(tensors: dict[str, Span]) -> dict[str, Span]:
    """Return the tensors with separate matrices for each expert, named as in `Checkpoint`.

    For example, model.layers.0.mlp.experts.3.gate_proj.weight, up_proj and down_proj. Mixtral's and LFM2's
    w1, w3 and w2 are renamed to these, and GraniteMoE's names to those of transformers' module. The 3-D
    parameters of transformers are split: gate_up_proj [experts, 2 * wide, width], which has the gate's rows
    first, or up_proj [experts, wide, width], and down_proj [experts, width, wide]. Raises UnsupportedModel
    for those of gpt-oss, which are transposed.
    """
    biased = {name.removesuffix(_BIAS) for name in tensors if name.endswith(_BIAS)}
    return _unique(pair for name, span in tensors.items() for pair in _experts(name, span, biased))


def hub_name(architecture: str, name: str) -> str:
    """Return the name that the weight `name` has in checkpoints of this architecture on the Hub."""
    if body := _BODIES.get(architecture):
        return re.sub(r"^model\.", body, name)
    if (owner := _LETTERED.get(architecture)) is None:
        return name
    if found := _OWN_EXPERT.fullmatch(name):
        layer, expert, projection, part = found.groups()
        return f"{layer}.{owner}.{expert}.{_MATRICES[projection]}.{part}"
    return name.replace(".mlp.gate.", f".{owner}.gate.")


def _experts(name: str, span: Span, biased: Collection[str]) -> list[tuple[str, Span]]:
    """Return the tensors that one of the file becomes. biased: the names of experts that have biases."""
    if found := _EXPERT.fullmatch(name):
        layer, owner, expert, matrix, part = found.groups()
        owner = owner.replace("block_sparse_moe", "mlp")
        return [(f"{layer}.{owner}.{expert}.{_PROJECTIONS[matrix]}.{part}", span)]
    if found := _ROUTER.fullmatch(name):
        return [(f"{found[1]}.mlp.gate.{found[2]}", span)]
    if (found := _GRANITE_PART.fullmatch(name)) and found[2] in _GRANITE:
        name = f"{found[1]}.{_GRANITE[found[2]]}"
    if (found := _STACKED.fullmatch(name)) and found[1] in biased:
        raise UnsupportedModel(
            f"{span.file.name} stores experts of gpt-oss unpacked and transposed, which is not supported.",
            "Choose the original weights in MXFP4, or a GGUF file of this model.",
        )
    if found:
        projections = ("gate_proj", "up_proj") if found[2] == "gate_up_proj" else (found[2],)
        pieces = _cut(name, span, len(projections))
        return [
            (f"{found[1]}.{expert}.{projection}.weight", piece)
            for expert, matrices in enumerate(pieces)
            for projection, piece in zip(projections, matrices, strict=True)
        ]
    return [(name, span)]


def _cut(name: str, span: Span, matrices: int) -> list[list[Span]]:
    """Split a span of shape [experts, matrices * rows, columns] into a list of matrices for each expert."""
    stack = len(span.shape) == 3 and span.nbytes and not span.shape[1] % matrices
    if not stack or span.shape[0] > COUNT_LIMIT:
        raise BadCheckpoint(
            f"{span.file.name} is invalid: {name[:200]} of shape {span.shape} is not a stack of matrices.",
            "The file is damaged. Download it again.",
        )
    experts, rows, columns = span.shape
    nbytes = span.nbytes // (experts * matrices)
    one = replace(span, nbytes=nbytes, shape=(rows // matrices, columns))
    return [
        [
            replace(one, offset=span.offset + (expert * matrices + matrix) * nbytes)
            for matrix in range(matrices)
        ]
        for expert in range(experts)
    ]


def _unique(pairs: Iterable[tuple[str, Span]]) -> dict[str, Span]:
    tensors: dict[str, Span] = {}
    for name, span in pairs:
        if name in tensors:
            raise BadCheckpoint(
                f"{span.file.name} is invalid: it contains {name[:200]} twice, under different names.",
                "The file is damaged. Download it again.",
            )
        tensors[name] = span
        if len(tensors) > TENSORS_LIMIT:
            raise BadCheckpoint(
                f"{span.file.name} is invalid: it contains too many tensors.", "Choose another model."
            )
    return tensors
