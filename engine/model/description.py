"""A description of a model, read from its checkpoint's configuration without torch: sizes, scales, windows
and rotary positions, equal to those of the module that transformers builds from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.checkpoints import Checkpoint
from engine.checkpoints.limits import (
    CONTEXT_LEAST,
    CONTEXT_LIMIT,
    COUNT_LIMIT,
    LAYERS_LIMIT,
    VOCABULARY_LIMIT,
    WIDTH_LIMIT,
    WINDOW_LEAST,
)
from engine.compiled.states import StateShape
from engine.errors import UnsupportedModel
from engine.model.architectures import UNLISTED, family_of, unsupported
from engine.model.configuration import Configuration
from engine.model.family import Family
from engine.model.fields import refuse_unknown_fields, understood
from engine.model.interface import RowLayer
from engine.model.mamba_layers import (
    MLP,
    MOE,
    MambaShape,
    granite_fields,
    granite_states,
    mamba_shape,
    nemotron_fields,
    nemotron_states,
)
from engine.model.mixtures import MixtureShape, mixture_shape
from engine.model.rope_parameters import FULL, SLIDING, rotary_kinds, unrotated_layers
from engine.model.rotary import Rotary
from engine.model.uneven_layers import inner_widths, input_rows, kept_rows, rows_of_layer, values_are_keys

# What the configuration of an architecture that is not declared has to state.
_SIZES = (
    *("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads"),
    "max_position_embeddings",
)
_LAYER_INPUTS = "hidden_size_per_layer_input"
_MIXTURES = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")


@dataclass(frozen=True, slots=True)
class Description:
    """A decoder.

    Attributes: `rows`, the tokens that the embedding and the output head have rows for; `width`, of a state;
    `inner`, the width within an MLP that is no expert, if any layer has one, and the largest one where they
    differ, as `inners` has them for each layer; `layers`; `heads`; `kv_heads`;
    `head_width`; `positions`, the longest text that the model is made for, tokens; `epsilon`, added to the
    mean square in norms; `activation`, transformers' name; `query_scale`, the factor of scores; `score_cap`
    and `logit_cap`, c of c tanh(x / c), or None; `embedding_scale`, the factor of embeddings, as float32
    holds it; `norms_plus_one`, whether norms multiply by one more than their weights; `windows`, for each
    layer the number of tokens that a token sees, itself among them, or None for all; `rotary`, the kinds of
    rotary positions, for `RotaryFactors`, and `rotary_of_layer`, the number of each layer's kind; `tied`,
    whether the embedding is the output head too, if the file has no weight for that; `qkv_bias`,
    `output_bias` and `mlp_bias`, which products have a bias; `mixture`, the mixtures of experts, or None;
    `clip`, the bound of queries, keys and values, or None; `attends`, which layers attend; `stateful`, which
    have a state instead; `feeds`, which have an MLP or a mixture, alone or behind these; `kept`, key-value
    heads and their width of each layer that has rows of its own in the KV cache: others have states, or share
    the rows of an earlier layer; `rows_of_layer`, the number in `kept` of the rows that each layer reads, or
    -1 if it does not attend; `states`, those of layers that do not attend, or None; `conv_bias`, whether
    convolutions and the products around them have a bias; `gated`, whether each query comes with a gate of
    the head's output; `qk_norm`, whether queries and keys are normalized; `adjacent`, whether rotated pairs
    of numbers lie side by side; `residual_scale`, the factor of what halves of a layer add; `logit_divisor`;
    `value_norm`, whether values are normalized; `values_are_keys`, the layers whose values are their keys
    before norm and rotation; `layer_inputs`, the width of inputs that each layer has for itself, or 0;
    `input_rows`, the tokens that the table of these inputs has rows for; `delta_inputs`, as in `Family`;
    `mamba`, what Mamba-2 layers have besides their states, or None; `ungated`, whether MLPs and experts have
    no gate.
    """

    architecture: str
    rows: int
    width: int
    inner: int
    layers: int
    heads: int
    kv_heads: int
    head_width: int
    positions: int
    epsilon: float
    activation: str
    query_scale: float
    score_cap: float | None
    logit_cap: float | None
    embedding_scale: float
    norms_plus_one: bool
    windows: tuple[int | None, ...]
    rotary: tuple[Rotary, ...]
    rotary_of_layer: tuple[int, ...]
    tied: bool
    qkv_bias: bool
    output_bias: bool
    mlp_bias: bool
    mixture: MixtureShape | None
    clip: float | None
    attends: tuple[bool, ...]
    stateful: tuple[bool, ...]
    feeds: tuple[bool, ...]
    kept: tuple[tuple[int, int], ...]
    inners: tuple[int, ...]
    rows_of_layer: tuple[int, ...]
    states: StateShape | None = None
    conv_bias: bool = False
    gated: bool = False
    qk_norm: bool = False
    adjacent: bool = False
    residual_scale: float = 1.0
    logit_divisor: float = 1.0
    value_norm: bool = False
    values_are_keys: frozenset[int] = frozenset()
    layer_inputs: int = 0
    input_rows: int = 0
    delta_inputs: tuple[str, ...] = ()
    mamba: MambaShape | None = None
    ungated: bool = False

    def has_rows(self, layer: int) -> bool:
        """Return whether a layer that attends has rows of its own, and does not read those of an earlier
        one."""
        return sum(self.attends[:layer]) < len(self.kept)

    @property
    def row_windows(self) -> list[int | None]:
        """The window of each layer in `kept`, or None."""
        own = (layer for layer in range(self.layers) if self.attends[layer] and self.has_rows(layer))
        return [self.windows[layer] for layer in own]

    @property
    def last_rows(self) -> Mapping[str, RowLayer]:
        """As `Model.last_rows`."""
        found: dict[str, RowLayer] = {}
        for layer, window in enumerate(self.windows):
            if self.attends[layer] and self.has_rows(layer):
                number = self.rows_of_layer[layer]
                found[FULL if window is None else SLIDING] = RowLayer(number, *self.kept[number])
        return found

    def heads_of(self, layer: int) -> tuple[int, int]:
        """Return the key-value heads of the rows that a layer reads, and their width."""
        return self.kept[self.rows_of_layer[layer]]


def describe(checkpoint: Checkpoint) -> Description:
    """Return what a checkpoint's configuration says."""
    return described(checkpoint.path.name, checkpoint.architecture, checkpoint.config)


def described(name: str, architecture: str, config: Mapping[str, Any]) -> Description:
    """Return what the configuration of the model called `name` says. The weights are not looked at:
    `engine.model.weight_names` tells which ones belong to the model.

    Values that transformers refuses only for their type, such as a whole number for a real one, are accepted.
    Raises BadCheckpoint if the configuration is invalid, and UnsupportedModel if it asks for something that
    is not supported.
    """
    family = family_of(architecture)
    values = {**family.defaults, **config}
    given = Configuration(name, architecture, values)
    _refuse_others(given, family)
    if family is UNLISTED:
        return _unlisted(given, architecture)
    refuse_unknown_fields(architecture, understood(family), config)
    if "attn_output_gate" in family.defaults:
        _refuse_gates(given)
    if "conv_L_cache" in family.defaults:
        given = given.of(values | _lfm2_fields(given, family))
    if "hybrid_override_pattern" in family.defaults:
        given = given.of(values | nemotron_fields(given))
    if "shared_intermediate_size" in family.defaults:
        given = given.of(values | granite_fields(given))
    if "altup_num_inputs" in family.defaults:
        _check_streams(given)
    if given.values.get("enable_moe_block"):
        raise UnsupportedModel(
            f"Mixtures of experts of {architecture} (enable_moe_block) are not supported.",
            "Choose a dense model of the family.",
        )
    if given.values.get("position_embedding_type") not in (None, "rope", "nope"):
        raise UnsupportedModel("Positions of this type are not supported.", "Choose another model.")
    sizes = _sizes(given, architecture, family.whole_heads)
    layers, head_width = sizes["layers"], sizes["head_width"]
    mixture = mixture_shape(given, family, layers)
    types = _layer_types(given, family, layers)
    feeds = tuple(not family.single or kind in (MLP, MOE) for kind in types)
    if mixture and mixture.layers == feeds:  # then the field says nothing, or what an expert has
        sizes["inner"] = mixture.inner
    if family.uneven:  # transformers makes the last layer of Gemma 4 one with full attention
        types = [*types[:-1], FULL]
    window = _window(given, family)
    kinds = sorted(set(types)) if family.rotary_by_layer else [FULL, SLIDING]
    capped, narrow = (name in family.defaults for name in ("final_logit_softcapping", _LAYER_INPUTS))
    attends = tuple(kind not in (family.recurrent, MLP, MOE) for kind in types)
    stateful = tuple(kind == family.recurrent for kind in types)
    kept = kept_rows(given, family, types, attends, (sizes["kv_heads"], head_width))
    inners = inner_widths(given, sizes["inner"], layers, len(kept))
    sizes["inner"] = max(inners)
    widths = [kept[types.index(kind)][1] if family.uneven else head_width for kind in kinds]
    biased = "attention_bias" in family.options and given.flag("attention_bias")
    return Description(
        **sizes,
        epsilon=given.real("rms_norm_eps"),
        activation=given.text(
            "hidden_activation" if "hidden_activation" in family.defaults else "hidden_act"
        ),
        query_scale=_query_scale(given, family, head_width),
        score_cap=given.real_or_none("attn_logit_softcapping") if family.capped else None,
        logit_cap=given.real_or_none("final_logit_softcapping") if capped else None,
        embedding_scale=_embedding_scale(given, family, sizes["width"]),
        norms_plus_one=family.gemma or family.plus_one,
        windows=tuple(window if kind == SLIDING else None for kind in types),
        rotary=rotary_kinds(given, family, kinds, widths, sizes["positions"]),
        rotary_of_layer=_rotary_of_layer(given, family, types, kinds),
        tied=given.flag("tie_word_embeddings"),
        qkv_bias=family.qkv_bias or biased,
        output_bias=_output_bias(given, family, biased),
        mlp_bias="mlp_bias" in family.options and given.flag("mlp_bias"),
        mixture=mixture,
        clip=given.real_or_none("clip_qkv") if "clip_qkv" in family.defaults else None,
        attends=attends,
        stateful=stateful,
        feeds=feeds,
        kept=kept,
        inners=inners,
        rows_of_layer=tuple(rows_of_layer(types, attends, len(kept))),
        states=_states(given, sum(stateful), sizes["width"]),
        conv_bias="conv_bias" in family.defaults and given.flag("conv_bias"),
        gated=family.gated,
        adjacent=family.adjacent,
        residual_scale=_factor(given, family, "residual_multiplier"),
        logit_divisor=_factor(given, family, "logits_scaling"),
        qk_norm=family.qk_norm or ("use_qk_norm" in family.defaults and given.flag("use_qk_norm")),
        value_norm=family.value_norm,
        values_are_keys=values_are_keys(given, types),
        layer_inputs=(given.whole_or_none(_LAYER_INPUTS, WIDTH_LIMIT, least=0) or 0) if narrow else 0,
        input_rows=input_rows(given),
        # No config.json has names with _.
        delta_inputs=given.values.get("_delta_inputs", family.delta_inputs),
        mamba=mamba_shape(given),
        ungated=family.ungated,
    )


def _factor(given: Configuration, family: Family, key: str) -> float:
    """Return a factor that only some families have, else 1."""
    return given.real(key) if key in family.defaults else 1.0


def _query_scale(given: Configuration, family: Family, head_width: int) -> float:
    if "attention_multiplier" in family.defaults:
        return given.real("attention_multiplier")
    if family.unscaled:
        return 1.0
    return float((given.real("query_pre_attn_scalar") if family.gemma else head_width) ** -0.5)


def _embedding_scale(given: Configuration, family: Family, width: int) -> float:
    if family.gemma or family.root_scale:
        return float(np.float32(width**0.5))
    return float(np.float32(_factor(given, family, "embedding_multiplier")))


def _output_bias(given: Configuration, family: Family, biased: bool) -> bool:
    """Return whether the output of attention has a bias. biased: whether queries have one."""
    if "attention_out_bias" in family.defaults:
        return given.flag("attention_out_bias")
    return biased and not family.plain_output


def _sizes(given: Configuration, architecture: str, whole_heads: bool = False) -> dict[str, Any]:
    """Return the name and the sizes that a description of any architecture has, by its fields. whole_heads:
    whether the width of a state must be a multiple of the heads."""
    width = given.whole("hidden_size", WIDTH_LIMIT)
    heads = given.whole("num_attention_heads", COUNT_LIMIT)
    kv_heads = given.whole_or_none("num_key_value_heads", COUNT_LIMIT) or heads
    head_width = given.whole_or_none("head_dim", COUNT_LIMIT) or width // heads
    if heads % kv_heads:
        raise given.bad(f"{heads} heads, {kv_heads} key-value heads")
    if whole_heads and width % heads:
        raise given.bad(f"the width {width} is not a multiple of {heads} heads")
    if head_width % 2 or not 2 <= head_width <= COUNT_LIMIT:
        raise given.bad(f"heads of width {head_width}")
    return {
        "architecture": architecture,
        "rows": given.whole("vocab_size", VOCABULARY_LIMIT),
        "width": width,
        "inner": _widest(given, "intermediate_size"),
        "layers": given.whole("num_hidden_layers", LAYERS_LIMIT),
        "heads": heads,
        "kv_heads": kv_heads,
        "head_width": head_width,
        "positions": given.whole("max_position_embeddings", CONTEXT_LIMIT, CONTEXT_LEAST),
    }


def _widest(given: Configuration, key: str) -> int:
    """Return the inner width, or the largest one where each layer has its own (Gemma 3n)."""
    each = given.values.get(key)
    if not isinstance(each, list) or not each:
        return given.whole(key, WIDTH_LIMIT)
    return max(given.of({key: width}).whole(key, WIDTH_LIMIT) for width in each)


def _unlisted(given: Configuration, architecture: str) -> Description:
    """Return the sizes of a model whose architecture is not declared; no pass is made from the rest."""
    for key in _SIZES:
        if key not in given.values:
            raise unsupported(architecture)
    for key in _MIXTURES:
        if given.values.get(key):
            raise unsupported(architecture, f"it is a mixture of experts ({key})")
    types = given.values.get("layer_types")
    for kind in types if isinstance(types, list) else []:
        if kind not in (FULL, SLIDING):
            raise unsupported(architecture, f"it has layers of the type {str(kind)[:40]}")
    sizes = _sizes(given, architecture)
    return Description(
        **sizes,
        epsilon=0.0,
        activation="",
        query_scale=sizes["head_width"] ** -0.5,
        score_cap=None,
        logit_cap=None,
        embedding_scale=1.0,
        norms_plus_one=False,
        windows=(None,) * sizes["layers"],
        rotary=(),
        rotary_of_layer=(0,) * sizes["layers"],
        tied=given.values.get("tie_word_embeddings") is True,
        qkv_bias=False,
        output_bias=False,
        mlp_bias=False,
        mixture=None,
        clip=None,
        attends=(True,) * sizes["layers"],
        stateful=(False,) * sizes["layers"],
        feeds=(True,) * sizes["layers"],
        kept=((sizes["kv_heads"], sizes["head_width"]),) * sizes["layers"],
        inners=(sizes["inner"],) * sizes["layers"],
        rows_of_layer=tuple(range(sizes["layers"])),
    )


def _refuse_others(given: Configuration, family: Family) -> None:
    """Raise UnsupportedModel if the configuration asks for layers that no decoder here has."""
    if given.values.get("per_layer_config") and not family.uneven:
        raise UnsupportedModel("Layers of different sizes are not supported.", "Choose another model.")
    # Gemma 4 has this for the parts of an image, which no text has.
    if given.values.get("use_bidirectional_attention") not in (None, False, "vision"):
        raise UnsupportedModel(
            "Models in which a token sees later ones are not supported.", "Choose another model."
        )


def _refuse_gates(given: Configuration) -> None:
    """Raise UnsupportedModel if the outputs of attention or of layers with states are gated otherwise than in
    Qwen 3.5."""
    kind, gated = given.values["output_gate_type"], given.values["attn_output_gate"]
    if gated is not True or kind not in ("swish", "silu"):
        raise UnsupportedModel(
            f"Output gates of the type “{str(kind)[:40] if gated else 'none'}” are not supported.",
            "Choose another model.",
        )


def _check_streams(given: Configuration) -> None:
    """Raise BadCheckpoint if a layer would compute a stream of states that is none, or leave no activations
    (Gemma 3n)."""
    given.whole("altup_active_idx", given.whole("altup_num_inputs", COUNT_LIMIT) - 1, least=0)
    shares = given.values.get("activation_sparsity_pattern")
    for share in shares if isinstance(shares, list) else []:
        if not isinstance(share, (int, float)) or not 0 <= share < 1:
            raise given.bad(f"activation_sparsity_pattern has {str(share)[:40]}")


def _layer_types(given: Configuration, family: Family, layers: int) -> list[str]:
    """Return which attention each layer has: with the window, to all earlier tokens, or none but a state."""
    if family.recurrent:
        older = (
            {"mamba": family.recurrent, "attention": FULL} if "layers_block_type" in family.defaults else {}
        )
        key = "layers_block_type" if given.values.get("layers_block_type") else "layer_types"
        named = given.choices(
            key, layers, (family.recurrent, FULL, *older, *([MLP, MOE] if family.single else []))
        )
        if named:
            return [older.get(kind, kind) for kind in named]
        return [FULL if each else family.recurrent for each in _attending(given, layers)]
    if family.window == "none":
        return [FULL] * layers
    if family.window == "all":
        return [SLIDING] * layers
    if named := given.choices("layer_types", layers, (SLIDING, FULL)):
        return named
    if "max_window_layers" in family.defaults:
        full = given.whole("max_window_layers", CONTEXT_LIMIT, least=0)
        return [FULL if layer < full else SLIDING for layer in range(layers)]
    if family.unrotated:
        return [SLIDING if each else FULL for each in unrotated_layers(given, layers)]
    period = family.period or given.whole("sliding_window_pattern", LAYERS_LIMIT)
    return [SLIDING if (layer + 1) % period else FULL for layer in range(layers)]


def _attending(given: Configuration, layers: int) -> list[bool]:
    """Return which layers have rows, of a model whose other layers have states, and whose configuration names
    no types of layers."""
    if "full_attn_idxs" in given.values:  # LFM2; None stands for all
        numbers = given.values["full_attn_idxs"]
        if numbers is not None and not isinstance(numbers, list):
            raise given.bad("full_attn_idxs is not a list")
        return [numbers is None or layer in numbers for layer in range(layers)]
    if "full_attention_interval" not in given.values:
        return [False] * layers
    period = given.whole("full_attention_interval", LAYERS_LIMIT)
    return [(layer + 1) % period == 0 for layer in range(layers)]


def _states(given: Configuration, layers: int, width: int) -> StateShape | None:
    """Return the states of so many layers; None if there are none. width: of a state between layers."""
    if not layers:
        return None
    if "conv_L_cache" in given.values:
        return StateShape(layers, given.whole("conv_L_cache", COUNT_LIMIT), width)
    if "mamba_d_state" in given.values:
        return granite_states(given, layers, width)
    if "ssm_state_size" in given.values:
        return nemotron_states(given, layers)
    key_heads, heads, key_width, value_width = (
        given.whole(f"linear_{name}", COUNT_LIMIT)
        for name in ("num_key_heads", "num_value_heads", "key_head_dim", "value_head_dim")
    )
    if heads % key_heads:
        raise given.bad(f"{heads} value heads, {key_heads} key heads of layers with states")
    channels = 2 * key_heads * key_width + heads * value_width
    kernel = given.whole("linear_conv_kernel_dim", COUNT_LIMIT)
    tiled = given.values.get("_tiled_heads") is True
    return StateShape(layers, kernel, channels, key_heads, heads, key_width, value_width, tiled)


def _lfm2_fields(given: Configuration, family: Family) -> dict[str, Any]:
    """Return the usual fields of a configuration of LFM2, which has names of its own for them."""
    if family.mixture and given.values["layer_types"] is None:
        raise given.bad("layer_types is missing")
    tied = given.flag("tie_embedding" if "tie_embedding" in given.values else "tie_word_embeddings")
    usual = {"rms_norm_eps": given.real("norm_eps"), "tie_word_embeddings": tied}
    return usual if family.mixture else usual | {"intermediate_size": _adjusted_width(given)}


def _adjusted_width(given: Configuration) -> int:
    """Return the width within the MLPs of a dense LFM2."""
    key = "block_ff_dim" if "block_ff_dim" in given.values else "intermediate_size"
    inner = given.whole(key, WIDTH_LIMIT)
    if given.flag("block_auto_adjust_ff_dim"):
        whole = given.whole("block_multiple_of", WIDTH_LIMIT)
        inner = int(2 * inner / 3)
        if given.values["block_ffn_dim_multiplier"] is not None:
            inner = int(given.real("block_ffn_dim_multiplier") * inner)
            inner = -(-inner // whole) * whole
    return inner


def _rotary_of_layer(
    given: Configuration, family: Family, types: list[str], kinds: list[str]
) -> tuple[int, ...]:
    """Return the number of each layer's kind of rotary positions."""
    if family.unrotated:
        return tuple(map(int, unrotated_layers(given, len(types))))
    return tuple(kinds.index(kind) if family.rotary_by_layer else 0 for kind in types)


def _window(given: Configuration, family: Family) -> int | None:
    """Return the tokens that a token sees in layers that have a window; None if these have none either."""
    if "use_sliding_window" in family.defaults and not given.flag("use_sliding_window"):
        return None
    if family.window == "none":
        return None
    return given.whole_or_none("sliding_window", CONTEXT_LIMIT, WINDOW_LEAST)
