"""Reads the rotary positions of a model from its configuration: `rope_parameters`, or the older
`rope_scaling`, `rope_theta` and `rope_local_base_freq`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engine.checkpoints.limits import CONTEXT_LIMIT
from engine.errors import UnsupportedModel
from engine.model.configuration import Configuration
from engine.model.family import Family
from engine.model.fields import refuse_rotary_fields
from engine.model.rotary import CHANGING, TYPES, UNROTATED, Rotary, frequencies

SLIDING, FULL = "sliding_attention", "full_attention"
_TRAINED = ("llama3", "yarn", "longrope")  # these know the length of the original training


def rotary_kinds(
    given: Configuration, family: Family, types: list[str], head_widths: Sequence[int], positions: int
) -> tuple[Rotary, ...]:
    """Return the kinds of rotary positions: one for each of `types`, the types of layers, if they differ in
    that, else one for all.

    head_widths: of each type. positions: the longest text, tokens. Raises BadCheckpoint if the parameters
    are invalid, and UnsupportedModel if their type is unknown, or if frequencies depend on the context in
    some layers only.
    """
    kinds = []
    every = _by_layer(given, types) if family.rotary_by_layer else [_common(given, types)]
    for parameters, head_width in zip(every, head_widths, strict=False):
        refuse_rotary_fields(parameters, family.rotary_others)
        kind = _rotary(given.of(parameters), family, head_width, positions)
        if family.rotary_by_layer and kind.type in CHANGING:
            raise UnsupportedModel(
                f"Rotary positions of type “{kind.type}” in only some layers are not supported.",
                "Choose another model.",
            )
        try:
            frequencies(kind, positions)
        except (ArithmeticError, ValueError) as error:
            raise given.bad(f"rotary positions of type {kind.type}: {error}") from error
        kinds.append(kind)
    if len({kind.width for kind in kinds}) > 1 and not family.uneven:
        raise given.bad("types of layers rotate parts of different widths")
    if family.unpositioned and given.values.get("position_embedding_type") != "rope":
        return tuple(replace(kind, type=UNROTATED) for kind in kinds)
    if family.unrotated:
        kinds.append(replace(kinds[0], type=UNROTATED))
    return tuple(kinds)


def unrotated_layers(given: Configuration, layers: int) -> list[bool]:
    """Return which layers have no positions (SmolLM3): in `no_rope_layers`, these are 0."""
    rotated = given.values.get("no_rope_layers")
    if rotated is None:
        period = given.whole("no_rope_layer_interval", CONTEXT_LIMIT)
        return [(layer + 1) % period == 0 for layer in range(layers)]
    if not isinstance(rotated, list) or len(rotated) < layers or any(each not in (0, 1) for each in rotated):
        raise given.bad(f"no_rope_layers is not a list of {layers} times 0 or 1")
    return [not each for each in rotated[:layers]]


def _common(given: Configuration, types: list[str]) -> dict[str, Any]:
    """Return the parameters of all layers."""
    parameters = given.part("rope_scaling") or given.part("rope_parameters")
    if not parameters.keys().isdisjoint(types):
        raise given.bad("rope_parameters differ between layers")
    made = _assumed(given) | {"rope_theta": given.values["rope_theta"]} | parameters
    if "original_max_position_embeddings" in given.values:  # it takes precedence
        made["original_max_position_embeddings"] = given.values["original_max_position_embeddings"]
    return made


def _by_layer(given: Configuration, types: list[str]) -> list[dict[str, Any]]:
    """Return the parameters of each type of layers, as Gemma 3 has them."""
    every = given.of(given.part("rope_parameters"))
    bases = {FULL: given.values["rope_theta"], SLIDING: given.values["rope_local_base_freq"]}
    found = []
    for kind in types:
        parameters = every.part(kind) if every.values.get(kind) is not None else {"rope_type": "default"}
        if kind == FULL:
            parameters = parameters | given.part("rope_scaling")
        # transformers looks for `truncate` beside the types.
        truncate = {"truncate": every.values.get("truncate", True)}
        found.append(_assumed(given) | {"rope_theta": bases[kind]} | parameters | truncate)
    return found


def _assumed(given: Configuration) -> dict[str, Any]:
    """Return the parameters that hold where others are not given."""
    partial = given.values.get("partial_rotary_factor")
    return {"partial_rotary_factor": 1.0 if partial is None else partial, "truncate": True}


def _rotary(given: Configuration, family: Family, head_width: int, positions: int) -> Rotary:
    """Return one kind of rotary positions. given: its parameters."""
    named = next((key for key in ("rope_type", "type") if key in given.values), None)
    kind = given.text(named) if named else "default"
    if "longrope" in family.rotary_types and kind in ("su", "yarn"):  # Phi-3's names for it
        kind = "longrope"
    if kind not in (family.rotary_types or TYPES):
        raise UnsupportedModel(
            f"Rotary positions of type “{kind[:40]}” are not supported.", "Choose another model."
        )
    width = head_width
    if kind == "proportional":
        factor = given.real("factor") if "factor" in given.values else 1.0
        part = given.real("partial_rotary_factor")
        return Rotary(kind, given.real("rope_theta"), width, positions, positions, factor, part=part)
    if kind != "default" or family.partial:
        part = given.real("partial_rotary_factor")
        width = int(head_width * part)
        if not 1 <= width <= head_width:
            raise given.bad(f"{part} of each head are rotated")
    original = positions
    beta = given.real_or_none("llama_4_scaling_beta") or 0.0
    if (kind in _TRAINED or beta) and "original_max_position_embeddings" in given.values:
        original = given.whole("original_max_position_embeddings", CONTEXT_LIMIT)
    base, pairs = given.real("rope_theta"), -(-width // 2)
    return Rotary(kind, base, width, positions, original, beta=beta, **_others(given, kind, pairs))


def _others(given: Configuration, kind: str, pairs: int) -> dict[str, Any]:
    """Return the parameters that only rotary positions of this type have."""
    if kind in ("linear", "dynamic"):
        return {"factor": given.real("factor")}
    if kind == "llama3":
        return {key: given.real(key) for key in ("factor", "low_freq_factor", "high_freq_factor")}
    if kind == "longrope":
        stretches = {key: given.reals(key, pairs) for key in ("short_factor", "long_factor")}
        return stretches | {key: given.real_or_none(key) for key in ("factor", "attention_factor")}
    if kind == "yarn":
        if "factor" not in given.values:
            raise given.bad("factor is missing")
        return {
            **{key: given.real_or_none(key) for key in ("factor", "attention_factor")},
            **{key: given.real_or_none(key) for key in ("mscale", "mscale_all_dim")},
            "beta_fast": given.real_or_none("beta_fast") or 32.0,
            "beta_slow": given.real_or_none("beta_slow") or 1.0,
            "truncate": given.flag("truncate"),
        }
    return {}
