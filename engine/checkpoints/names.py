"""From the names checkpoints give their tensors to those of `Checkpoint.weights`, and back.

Covers the wrappers around a text model that also sees pictures, and what became of a mixture's experts over
time.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from engine.checkpoints.checkpoint import Span
from engine.checkpoints.sizes import COUNT_LIMIT, TENSORS_LIMIT
from engine.errors import BadCheckpoint

# Wrapper's model_type: that of the text model inside, where its text_config does not say.
WRAPPERS = {"gemma3": "gemma3_text", "mistral3": "mistral"}
# What a wrapper's config says for the text model too.
_INHERITED = (
    "bos_token_id", "dtype", "eos_token_id", "pad_token_id", "quantization_config", "tie_word_embeddings",
    "torch_dtype",
)  # fmt: skip
_LANGUAGE = re.compile(r"^(model\.)?language_model\.")
_PICTURES = re.compile(r"(model\.)?(vision_tower|multi_modal_projector)\.")
_EXPERT = re.compile(r"(model\.layers\.\d+)\.block_sparse_moe\.(experts\.\d+)\.(w[123])\.(.+)")
_PROJECTIONS = {"w1": "gate_proj", "w2": "down_proj", "w3": "up_proj"}
_MATRICES = {projection: matrix for matrix, projection in _PROJECTIONS.items()}
_OWN_EXPERT = re.compile(r"(model\.layers\.\d+)\.mlp\.(experts\.\d+)\.(\w+_proj)\.(.+)")
_ROUTER = re.compile(r"(model\.layers\.\d+)\.block_sparse_moe\.gate\.(.+)")
_STACKED = re.compile(r"(model\.layers\.\d+\.mlp\.experts)\.(gate_up_proj|down_proj)")


def text_config(config: dict[str, Any]) -> dict[str, Any]:
    """From a wrapper's config.json, the configuration of the text model."""
    inner = config.get("text_config")
    if not isinstance(inner, dict) or not isinstance(inner.get("model_type", ""), str):
        raise BadCheckpoint(
            f"config.json of this {config['model_type']} model has no text_config.",
            "The file is damaged; download it again.",
        )
    inherited = {key: config[key] for key in _INHERITED if key in config}
    return {"model_type": WRAPPERS[config["model_type"]], **inherited, **inner}


def text_tensors(tensors: dict[str, Span]) -> dict[str, Span]:
    """A wrapper's tensors less those of the picture encoder, under the text model's names."""
    return _unique(
        (_LANGUAGE.sub(r"\1", name), span) for name, span in tensors.items() if not _PICTURES.match(name)
    )


def expert_tensors(tensors: dict[str, Span]) -> dict[str, Span]:
    """Each expert's matrices by themselves: model.layers.0.mlp.experts.3.gate_proj.weight, up_proj,
    down_proj.

    Mixtral's w1, w3, w2 are renamed; transformers' 3-D parameters are cut: gate_up_proj [experts, 2 * wide,
    width], the gate's rows first, and down_proj [experts, width, wide].
    """
    return _unique(pair for name, span in tensors.items() for pair in _experts(name, span))


def hub_name(architecture: str, name: str) -> str:
    """What checkpoints of this architecture in Hugging Face's layout call the weight `name`."""
    if architecture != "mixtral":
        return name
    if found := _OWN_EXPERT.fullmatch(name):
        layer, expert, projection, part = found.groups()
        return f"{layer}.block_sparse_moe.{expert}.{_MATRICES[projection]}.{part}"
    return name.replace(".mlp.gate.", ".block_sparse_moe.gate.")


def _experts(name: str, span: Span) -> list[tuple[str, Span]]:
    if found := _EXPERT.fullmatch(name):
        layer, expert, matrix, part = found.groups()
        return [(f"{layer}.mlp.{expert}.{_PROJECTIONS[matrix]}.{part}", span)]
    if found := _ROUTER.fullmatch(name):
        return [(f"{found[1]}.mlp.gate.{found[2]}", span)]
    if found := _STACKED.fullmatch(name):
        projections = ("gate_proj", "up_proj") if found[2] == "gate_up_proj" else ("down_proj",)
        pieces = _cut(name, span, len(projections))
        return [
            (f"{found[1]}.{expert}.{projection}.weight", piece)
            for expert, matrices in enumerate(pieces)
            for projection, piece in zip(projections, matrices, strict=True)
        ]
    return [(name, span)]


def _cut(name: str, span: Span, matrices: int) -> list[list[Span]]:
    """Spans [experts][matrices] of a span [experts, matrices * rows, columns]."""
    stack = len(span.shape) == 3 and span.nbytes and not span.shape[1] % matrices
    if not stack or span.shape[0] > COUNT_LIMIT:
        raise BadCheckpoint(
            f"{span.file.name} is not valid: {name[:200]} of shape {span.shape} is no stack of matrices.",
            "The file is damaged; download it again.",
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
    found: dict[str, Span] = {}
    for name, span in pairs:
        if name in found:
            raise BadCheckpoint(
                f"{span.file.name} is not valid: it holds {name[:200]} twice, under different names.",
                "The file is damaged; download it again.",
            )
        found[name] = span
        if len(found) > TENSORS_LIMIT:
            raise BadCheckpoint(
                f"{span.file.name} is not valid: it holds too many tensors.", "Choose another model."
            )
    return found
