"""The configurations of heads, as transformers' modules take them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from transformers import LlamaConfig, Qwen3Config

from engine.checkpoints.limits import check_sizes
from engine.checkpoints.safetensors import DAMAGED
from engine.errors import BadCheckpoint
from engine.heads.files import HeadsFile
from engine.heads.fit import settings_of
from engine.torch_model.attention import ATTENTION

_NAMES = {"dflash": "a DFlash head"}


def config_of(file: HeadsFile) -> Any:
    """Return the configuration of the heads' layers. Raises BadCheckpoint if it is not valid."""
    with built_from(file):
        config = (Qwen3Config if file.kind == "dflash" else LlamaConfig)(**settings_of(file))
        whole = config.to_dict()  # including defaults for missing keys
    check_sizes(whole)
    if config.num_hidden_layers > len(file.tensors):
        raise BadCheckpoint(
            f"config.json claims {config.num_hidden_layers} layers, but there are only "
            f"{len(file.tensors)} tensors.",
            DAMAGED,
        )
    config._attn_implementation = ATTENTION
    return config


@contextmanager
def built_from(file: HeadsFile) -> Iterator[None]:
    """Turn the many errors with which transformers rejects an invalid configuration into BadCheckpoint."""
    try:
        yield
    except Exception as error:
        name = _NAMES.get(file.kind, "an EAGLE head")
        raise BadCheckpoint(
            f"The configuration of {file.path.name} is not that of {name}: {str(error)[:400]}",
            "Download the heads again, or choose others.",
        ) from error
