"""Tiny models of transformers as GGUF files, like those of llama.cpp's convert_hf_to_gguf.py."""

from pathlib import Path
from typing import Any

import gguf
import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedConfig, PreTrainedModel

from engine.formats import FORMATS, BlockFormat
from tests.engine.checkpoints.files import add_entry
from tests.engine.checkpoints.gguf_metadata import add_assistant, add_metadata
from tests.engine.checkpoints.gguf_tensors import converted
from tests.engine.formats.made import random_blocks

GGUF_NAMES = {
    "gemma3_text": "gemma3",
    "gemma3n_text": "gemma3n",
    "gemma4_text": "gemma4",
    "gemma4_assistant": "gemma4-assistant",
    "mixtral": "llama",
    "olmo3": "olmo2",
    "ministral3": "mistral3",
    "qwen3_5_text": "qwen35",
    "qwen3_5_moe_text": "qwen35moe",
    "qwen3_moe": "qwen3moe",
    "qwen3_next": "qwen3next",
    "gpt_oss": "gpt-oss",
    "granitemoehybrid": "granitehybrid",
    "glm4_moe": "glm4moe",
    "lfm2_moe": "lfm2moe",
}


def convert(
    module: PreTrainedModel,
    path: Path,
    stacked: bool | str = True,
    metadata: dict[str, Any] | None = None,
    tensors: dict[str, NDArray[np.float32] | None] | None = None,
    tensors_per_part: int = 0,
    storage: str = "F32",
    size: float = 0.02,
) -> Path:
    """Write `module` as a GGUF file.

    Returns the file, or the first of its parts.

    stacked: "gate_up": one tensor for gate and up of all experts of a mixture, and one for down; "gate_up in
    layer 1": so in this layer only, with one tensor of each kind in the others; otherwise
    whether there is one tensor of each kind for all experts, instead of one per expert, as converters wrote
    before April 2024. metadata, tensors: as in `write_gguf`. storage: the format of matrices except
    routers, those of `tensors` and those whose rows are no whole blocks; other formats than F32 get random
    blocks with scales of the usual `size`.
    """
    config = module.config.get_text_config()
    architecture = _gguf_name(config)
    writer = gguf.GGUFWriter(path, _gguf_name(module.config), split_max_tensors=tensors_per_part)
    add_metadata(writer, config, architecture)
    if module.config.model_type == "gemma4_assistant":
        add_assistant(writer, module.config)
    for key, value in (metadata or {}).items():
        writer.kv_data[0].pop(key, None)
        add_entry(writer, key, value)
    form = FORMATS[storage]
    for name, array in (dict(converted(module, architecture, stacked)) | (tensors or {})).items():
        if array is None:
            continue
        plain = array.ndim < 2 or "ffn_gate_inp" in name or "ssm_norm" in name or name in (tensors or {})
        if not plain and isinstance(form, BlockFormat) and array.shape[-1] % form.values == 0:
            blocks = random_blocks(form, array.size // form.values, size=size)
            kind = gguf.GGMLQuantizationType[storage]
            writer.add_tensor(name, blocks.reshape(*array.shape[:-1], -1), raw_dtype=kind)
        else:
            writer.add_tensor(name, np.ascontiguousarray(array))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return writer.format_shard_names(path)[0]


def _gguf_name(config: PreTrainedConfig) -> str:
    if config.model_type == "nemotron_h" and "moe" in config.layers_block_type:
        return "nemotron_h_moe"
    return GGUF_NAMES.get(config.model_type, config.model_type)
