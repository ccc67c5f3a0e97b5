"""Makes a small configuration that computes as a large one does: with its layer patterns, windows, scalings
and every other setting, but with few numbers in its weights."""

import re
from typing import Any

from transformers import AutoConfig
from transformers.configuration_utils import PretrainedConfig

from engine.errors import UnsupportedModel

VOCABULARY = 97
WINDOW, ORIGINAL = 9, 16  # tokens; a text that is compared is longer than both
_LONGEST = 512  # positions where the original context is not known
_LAYERS, _MOST_LAYERS = 4, 24
# Numbers that say every how many layers something differs.
_PERIOD = re.compile(r"interval|pattern|period|every|(^|_)freq$")
_DROPPED = ("model_type", "transformers_version", "_name_or_path", "architectures", "dtype", "torch_dtype")


def small_config(config: PretrainedConfig) -> PretrainedConfig:
    """Return a configuration with the settings of `config` and few numbers in its weights.

    Each kind of layer is kept, each in the order of its first appearance. Raises UnsupportedModel if too many
    layers differ from each other; what transformers raises if it refuses the sizes.
    """
    values = {key: value for key, value in config.to_dict().items() if key not in _DROPPED}
    layers: int = values["num_hidden_layers"]
    by_layer = {key for key, value in values.items() if isinstance(value, list) and len(value) == layers}
    kept = _kept_layers(
        [tuple(map(str, (values[key][n] for key in by_layer))) for n in range(layers)], values
    )
    for key in by_layer:
        values[key] = [values[key][number] for number in kept]
    values["num_hidden_layers"] = len(kept)
    heads = values["num_attention_heads"]
    shared = values.get("num_key_value_heads") or heads
    width = values.get("head_dim") or values["hidden_size"] // heads
    few = min(shared, 2)
    values["num_attention_heads"] = few * min(heads // shared, 2)
    if "num_key_value_heads" in values:
        values["num_key_value_heads"] = few
    values["hidden_size"] = values["num_attention_heads"] * width
    values["intermediate_size"] = 96
    values |= {key: VOCABULARY for key in values if key.startswith("vocab_size")}
    values |= {key: None for key in values if key.endswith("_token_id")}
    if values.get("sliding_window"):
        values["sliding_window"] = WINDOW
    _shorten(values)
    return AutoConfig.for_model(config.model_type, **values)


def _kept_layers(kinds: list[tuple[str, ...]], values: dict[str, Any]) -> list[int]:
    """Return the numbers of layers that show every kind, and every period of the settings."""
    periods = [
        value + 1
        for key, value in values.items()
        if _PERIOD.search(key) and isinstance(value, int) and not isinstance(value, bool)
    ]
    first = min(len(kinds), max([_LAYERS, *periods]))
    kept = sorted({*range(first), *(kinds.index(kind) for kind in kinds)})
    if len(kept) > _MOST_LAYERS:
        raise UnsupportedModel(
            f"{len(kept)} layers of this model differ from each other, which cannot be checked.",
            "Choose another model.",
        )
    return kept


def _shorten(values: dict[str, Any]) -> None:
    """Shorten the longest text, and the context of the original training where it is stated."""
    rotary = values.get("rope_parameters") or {}
    every = [each for each in (rotary, *rotary.values()) if isinstance(each, dict)]
    key = "original_max_position_embeddings"
    longest: int = values["max_position_embeddings"]
    originals = [each[key] for each in (values, *every) if each.get(key)]
    values["max_position_embeddings"] = (
        max(64, longest * ORIGINAL // max(originals)) if originals else _LONGEST
    )
    for each in (values, *every):
        if each.get(key):
            each[key] = ORIGINAL
        if each is not values and "max_position_embeddings" in each:  # Ministral 3
            each["max_position_embeddings"] = values["max_position_embeddings"]
