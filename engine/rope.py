"""Rotary frequencies that depend on the length of the context, settled once when a model is loaded.

transformers chooses them anew in every pass, from its largest position (`dynamic_rope_update`). Keys cached
under one choice and queries under another do not belong together, and what a row sees would depend on which
rows it is run with.
"""

from typing import Any

from transformers import PreTrainedModel
from transformers.configuration_utils import PretrainedConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from engine.errors import UnsupportedModel

CHANGING = ("dynamic", "longrope")


def fix_rope(module: PreTrainedModel, config: PretrainedConfig, context: int) -> None:
    """Give `module` the rotary frequencies and attention scaling of a text of `context` tokens, for good.

    LongRoPE (arXiv 2402.13753): the short factors where `context` is no longer than the one the model was
    first trained with, else the long ones, for every position: transformers' choice for a text of that
    length, llama.cpp's for a context of that length.
    Dynamic NTK: the base stretched for `context`. Other kinds of frequencies do not change and stay as they
    are. Raises UnsupportedModel where only some layers have changing frequencies.
    """
    rotary: Any = module.model.rotary_emb
    if isinstance(rotary.rope_type, dict):  # kind of layer: kind of frequencies
        if changing := {*CHANGING}.intersection(rotary.rope_type.values()):
            raise UnsupportedModel(
                f"Rotary positions of the kind “{min(changing)}” in some layers only are not supported.",
                "Choose another model.",
            )
        return
    if rotary.rope_type not in CHANGING:
        return
    device = rotary.inv_freq.device
    rotary.inv_freq, rotary.attention_scaling = ROPE_INIT_FUNCTIONS[rotary.rope_type](
        config, device, seq_len=context
    )
    rotary.rope_type = "default"  # its forward leaves the frequencies alone
