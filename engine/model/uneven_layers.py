"""What differs between the layers of one model, as its configuration says: widths of MLPs, key-value heads,
whose rows a layer reads, and inputs of its own."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from engine.checkpoints.limits import COUNT_LIMIT, VOCABULARY_LIMIT
from engine.errors import UnsupportedModel
from engine.model.configuration import Configuration
from engine.model.family import Family
from engine.model.rope_parameters import FULL


def inner_widths(given: Configuration, common: int, layers: int, kept: int) -> tuple[int, ...]:
    """Return the width within the MLP of each layer. kept: layers with rows of their own, behind which MLPs
    may be twice as wide (Gemma 4). Raises BadCheckpoint if a list of widths has another length."""
    each = given.values["intermediate_size"]
    if isinstance(each, list):
        if len(each) != layers:
            raise given.bad(f"{len(each)} widths of MLPs for {layers} layers")
        return tuple(each)
    if not given.values.get("use_double_wide_mlp"):
        return (common,) * layers
    return (common,) * kept + (2 * common,) * (layers - kept)


def kept_rows(
    given: Configuration,
    family: Family,
    types: Sequence[str],
    attends: Sequence[bool],
    common: tuple[int, int],
) -> tuple[tuple[int, int], ...]:
    """Return the key-value heads and their width of each layer that has rows of its own. common: those of
    layers that the configuration says nothing else of."""
    shared = 0
    if "num_kv_shared_layers" in family.defaults:
        shared = given.whole("num_kv_shared_layers", len(types) - 1, least=0)
    own = range(len(types) - shared)
    if unkept := {*types[len(own) :]} - {*types[: len(own)]}:
        raise given.bad(f"no layer keeps the keys and values that those of type {min(unkept)} share")
    if not family.uneven:
        return tuple(common for layer in own if attends[layer])
    others = {_number(given, layer): each for layer, each in given.part("per_layer_config").items()}
    if not others:
        heads = given.values["num_global_key_value_heads"] if given.flag("attention_k_eq_v") else None
        full = {"num_key_value_heads": heads, "head_dim": given.values["global_head_dim"]}
        others = {layer: full for layer, kind in enumerate(types) if kind == FULL}
    return tuple(_heads_of(given, others.get(layer) or {}, common) for layer in own)


def _number(given: Configuration, layer: object) -> int:
    """Return the number of a layer in `per_layer_config`. transformers writes zeros before it, up to the
    digits of the largest: "05" where there is a layer 11."""
    if not re.fullmatch(r"[0-9]{1,6}", str(layer)):
        raise given.bad(f"per_layer_config has a layer “{str(layer)[:40]}”")
    return int(str(layer))


def _heads_of(given: Configuration, layer: Any, common: tuple[int, int]) -> tuple[int, int]:
    """Return the key-value heads of a layer and their width. layer: its own settings."""
    if not isinstance(layer, dict) or layer.keys() - {"num_key_value_heads", "head_dim"}:
        raise UnsupportedModel("Layers of different sizes are not supported.", "Choose another model.")
    own = given.of(layer)
    heads = own.whole_or_none("num_key_value_heads", COUNT_LIMIT) or common[0]
    width = own.whole_or_none("head_dim", COUNT_LIMIT) or common[1]
    if given.values["num_attention_heads"] % heads or width % 2:
        raise given.bad(f"a layer has {heads} key-value heads of width {width}")
    return heads, width


def rows_of_layer(types: Sequence[str], attends: Sequence[bool], kept: int) -> Iterator[int]:
    """Yield for each layer the number of the rows that it reads, -1 if it does not attend. kept: how many
    layers have rows of their own; those behind them read the rows of the last one of their type."""
    latest: dict[str, int] = {}
    number = 0
    for kind, attending in zip(types, attends, strict=True):
        if attending and number < kept:
            latest[kind] = number
            number += 1
        yield latest.get(kind, -1)


def values_are_keys(given: Configuration, types: Sequence[str]) -> frozenset[int]:
    """Return the layers whose values are their keys before norm and rotation."""
    if not given.values.get("attention_k_eq_v"):
        return frozenset()
    return frozenset(layer for layer, kind in enumerate(types) if kind == FULL)


def input_rows(given: Configuration) -> int:
    """Return the tokens that the table of inputs of layers has rows for; 0 if there is none."""
    if "vocab_size_per_layer_input" not in given.values:
        return 0
    return given.whole("vocab_size_per_layer_input", VOCABULARY_LIMIT)
