"""EAGLE-3 and P-EAGLE heads in the form of vllm-project/speculators: the configuration of their layers is an
object in config.json, and the first layer is called layers.0. They compute what heads in the forms of their
authors do, or add to a norm in the first layer (`engine.heads.fit.norms_before_residual`); those with other
norms, or with layers that are not llama's, are refused.

Layers of the target are named by their inputs: layer i stands for entry i of transformers' hidden_states, the
output of layer i - 1. Known from the code of speculators (models/eagle3, models/peagle and
convert/dflash/converter.py, which says what the numbers mean) and of vLLM
(transformers_utils/configs/speculators/algos.py, models/llama_eagle3.py), read in November 2026. No published
head was run here.
"""

from collections.abc import Mapping
from typing import Any

from engine.checkpoints.safetensors import DAMAGED
from engine.errors import BadCheckpoint, UnsupportedModel
from engine.heads.tensors import Unread
from engine.model.architectures import family_of

KIND, LAYERS, NORMED = "speculators_model_type", "transformer_layer_config", "norm_before_residual"
EAGLE3, P_EAGLE = "eagle3", "peagle"
_OTHER_NORMS = ("norm_before_fc", "fc_norm", "norm_output")
_KEPT = ("draft_vocab_size", "target_hidden_size", "mask_token_id", "num_depths", NORMED)
_READ = "eagle_aux_hidden_state_layer_ids"
# Sizes that a configuration lacks if they are those that transformers' LlamaConfig assumes.
_SIZES = ("hidden_size", "num_attention_heads", "vocab_size")


def is_of_speculators(config: Mapping[str, Any]) -> bool:
    """Return whether the contents of a config.json are those of heads in speculators' form."""
    return KIND in config


def usual_config(name: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration as heads in the form of their authors have it. name: of the heads.

    Raises BadCheckpoint if it is not valid; UnsupportedModel if the heads are of another kind than EAGLE-3's
    and P-EAGLE's, or ask for what is not computed here.
    """
    kind, layers = config[KIND], config.get(LAYERS)
    if kind not in (EAGLE3, P_EAGLE):
        raise _refused(name, f"{KIND} {str(kind)[:40]}")
    if not isinstance(layers, dict):
        raise BadCheckpoint(f"config.json is not valid: {LAYERS} is {str(layers)[:40]}.", DAMAGED)
    if layers.get("model_type", "llama") != "llama":
        raise _refused(name, f"layers of the type {str(layers['model_type'])[:40]}")
    # An EAGLE-3 head with an embedding that was trained would guess with the target's here.
    for key in (*_OTHER_NORMS, *(["embed_requires_grad"] if kind == EAGLE3 else [])):
        if config.get(key):
            raise _refused(name, key)
    if kind == EAGLE3 and type(config.get(NORMED)) is not bool:  # speculators and vLLM assume different ones
        raise BadCheckpoint(f"config.json is not valid: {NORMED} is {str(config.get(NORMED))[:40]}.", DAMAGED)
    assumed = family_of("llama").defaults
    settings = {key: assumed[key] for key in _SIZES} | layers
    settings |= {key: config[key] for key in _KEPT if config.get(key) is not None}
    if kind == P_EAGLE and (guessed := _guessed(config)) is not None:
        settings["num_depths"] = guessed
    if read := config.get(_READ):
        settings["eagle_config"] = {_READ: _outputs(read)}
    return settings


def usual_tensors(tensors: Mapping[str, Unread]) -> dict[str, Unread]:
    """Return the tensors by the names that they have in the form of the heads' authors."""
    first = "layers.0."
    return {
        f"midlayer.{name.removeprefix(first)}" if name.startswith(first) else name: tensor
        for name, tensor in tensors.items()
    }


def _guessed(config: Mapping[str, Any]) -> Any:
    """Return how many tokens a head guesses in a pass, or None if that is not said."""
    proposals = config.get("speculators_config")
    methods = proposals.get("proposal_methods") if isinstance(proposals, dict) else None
    first = methods[0] if isinstance(methods, list) and methods else None
    return first.get("speculative_tokens") if isinstance(first, dict) else None


def _outputs(inputs: object) -> object:
    """Return the layers whose outputs are the inputs of these; what names no layers as it is."""
    if not isinstance(inputs, list) or not all(type(layer) is int for layer in inputs):
        return inputs
    return [layer - 1 for layer in inputs]


def _refused(name: str, asked: str) -> UnsupportedModel:
    return UnsupportedModel(
        f"The heads {name} ask for {asked}, which is not supported in the form of speculators.",
        "Choose other heads, or run without them (--draft none).",
    )
