"""Rotary frequencies that depend on the context length, fixed once when a model is loaded.

transformers chooses such frequencies anew in every pass, by the largest position in it
(`dynamic_rope_update`). Cached keys and new queries would then have different frequencies, and the result of
a row would depend on the rows that run with it.
"""

from typing import Any

from transformers import PreTrainedModel
from transformers.configuration_utils import PretrainedConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from engine.errors import UnsupportedModel

CHANGING = ("dynamic", "longrope")


def rotary_of(body: Any) -> Any:
    """Return the part of a module that gives rotary positions, or None. body: the module without its head."""
    names = ("rotary_emb", "pos_emb")  # the usual name, and that of LFM2's mixtures
    return next((getattr(body, name) for name in names if hasattr(body, name)), None)


def fix_rope(module: PreTrainedModel, config: PretrainedConfig, context: int) -> None:
    """Fix the rotary frequencies and attention scaling of `module` to those of a text of `context` tokens.

    LongRoPE (arXiv 2402.13753): every position gets the short factors if `context` is at most the length of
    the original training, otherwise the long factors. transformers makes the same choice by the length of the
    text, llama.cpp by the length of the context.
    Dynamic NTK: the base is stretched for `context`.
    Other kinds of frequencies do not depend on the length and stay unchanged.

    Raises UnsupportedModel if only some layers have frequencies that depend on the length.
    """
    rotary = rotary_of(module.model)
    if rotary is None:
        return
    if isinstance(rotary.rope_type, dict):  # type of layer -> type of frequencies
        if changing := {*CHANGING}.intersection(rotary.rope_type.values()):
            raise UnsupportedModel(
                f"Rotary positions of type “{min(changing)}” in only some layers are not supported.",
                "Choose another model.",
            )
        return
    if rotary.rope_type not in CHANGING:
        return
    device = rotary.inv_freq.device
    rotary.inv_freq, rotary.attention_scaling = ROPE_INIT_FUNCTIONS[rotary.rope_type](
        config, device, seq_len=context
    )
    rotary.rope_type = "default"  # with this type, forward does not change the frequencies
