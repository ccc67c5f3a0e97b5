"""The settings of a DFlash head that a model of Qwen 3 does not have.

The keys are known from the code of github.com/z-lab/dflash (dflash/model.py): they are in dflash_config or
beside it. A head may also ask for what is not computed here; it is then refused.
"""

from dataclasses import dataclass
from typing import Any

from engine.checkpoints.safetensors import DAMAGED
from engine.errors import BadCheckpoint, UnsupportedModel
from engine.heads.files import HeadsFile
from engine.heads.fit import OTHER

BLOCK_LIMIT = 256  # published heads: 10 to 16
_PLAIN = "DFlashDraftModel"
# Settings that change what is computed, and the values with which they do not. The second three are known
# from vLLM's qwen3_dflash.py.
_WITHOUT_EFFECT: dict[str, tuple[object, ...]] = {
    "input_embedding_scale": (None, 1),
    "output_multiplier": (None, 1),
    "final_logit_softcapping": (None, 0),
    "use_swa": (None, False),
    "swa_window_size": (None,),
    "attention_sink_bias": (None, False),
}


@dataclass(frozen=True, slots=True)
class DFlashSettings:
    """block: number of tokens of a pass, the root and the masks behind it; mask: the id of the mask token;
    causal: whether a token of the block sees only those before it, None: if its layer has a window;
    hidden_layers: the target's layers whose outputs are read, as `Output.hidden` names them."""

    block: int
    mask: int
    causal: bool | None
    hidden_layers: tuple[int, ...]


def dflash_settings(file: HeadsFile, layers: int) -> DFlashSettings:
    """Read the settings of a head. layers: how many the target has.

    Raises BadCheckpoint if they are missing, invalid, or for another target; UnsupportedModel if the head
    needs what is not computed here.
    """
    own = file.config["dflash_config"]
    if not isinstance(own, dict):
        raise BadCheckpoint("config.json is not valid: dflash_config is not an object.", DAMAGED)
    config = file.config | own
    _check_plain(file.path.name, config)
    block, mask, causal = config.get("block_size", 16), config.get("mask_token_id"), config.get("causal")
    causal = causal if file.config.get("is_causal") is None else file.config["is_causal"]
    if type(block) is not int or not 2 <= block <= BLOCK_LIMIT:
        raise BadCheckpoint(f"config.json is not valid: block_size is {str(block)[:40]}.", DAMAGED)
    if type(mask) is not int or mask < 0:
        raise BadCheckpoint(f"config.json is not valid: mask_token_id is {str(mask)[:40]}.", DAMAGED)
    if causal not in (None, True, False):
        raise BadCheckpoint(f"config.json is not valid: is_causal is {str(causal)[:40]}.", DAMAGED)
    return DFlashSettings(block, mask, causal, _hidden_layers(config.get("target_layer_ids"), layers))


def _check_plain(name: str, config: dict[str, Any]) -> None:
    kinds = config.get("architectures") or [_PLAIN]
    if kinds != [_PLAIN]:
        raise UnsupportedModel(
            f"The heads {name} are of the kind {str(kinds)[:80]}, which is not supported.",
            f"Choose DFlash heads of the kind {_PLAIN}.",
        )
    for key, plain in _WITHOUT_EFFECT.items():
        if config.get(key) not in plain:
            raise UnsupportedModel(
                f"The heads {name} ask for {key}, which is not supported: {str(config[key])[:40]}.",
                "Choose other heads, or run without them (--draft none).",
            )


def _hidden_layers(ids: object, layers: int) -> tuple[int, ...]:
    """Return the layers to read. Layer i stands for entry i + 1 of transformers' hidden_states; there, the
    last layer's output is the one after the final norm, which the target names by its number of layers."""
    if (
        not isinstance(ids, list)
        or not ids
        or not all(type(layer) is int and 0 <= layer < layers for layer in ids)
        or len(set(ids)) != len(ids)
    ):
        raise BadCheckpoint(
            f"The heads read layers {str(ids)[:80]} of the target, which has {layers} layers.", OTHER
        )
    return tuple(layers if layer == layers - 1 else layer for layer in ids)
