"""The Mamba-2 layers of a model, as its configuration describes them (Granite 4 hybrids, Nemotron-H)."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from engine.checkpoints.limits import COUNT_LIMIT, WIDTH_LIMIT
from engine.compiled.states import StateShape
from engine.errors import UnsupportedModel
from engine.model.configuration import Configuration
from engine.model.rope_parameters import FULL

MLP, MOE = "mlp", "moe"  # the types of layers that are nothing else
_NEMOTRON_LAYERS = {"M": "linear_attention", "*": FULL, "-": MLP, "E": MOE}


@dataclass(frozen=True, slots=True)
class MambaShape:
    """What Mamba-2 layers have besides the sizes of their states.

    Attributes: `activation` behind the convolution, transformers' name; `limits`, the least and the largest
    step; `conv_bias` and `bias`, whether the convolution and the products around it have biases.
    """

    activation: str
    limits: tuple[float, float]
    conv_bias: bool
    bias: bool


def mamba_shape(given: Configuration) -> MambaShape | None:
    """Return what the layers have; None if the model has none. Raises BadCheckpoint."""
    if "mamba_d_state" in given.values:
        biases = given.flag("mamba_conv_bias"), given.flag("mamba_proj_bias")
        return MambaShape(given.text("hidden_act"), _limits(given), *biases)
    if "ssm_state_size" in given.values:
        # transformers' module has no largest step, whatever the configuration says.
        limits = given.real("time_step_min"), math.inf
        biases = given.flag("use_conv_bias"), given.flag("use_bias")
        return MambaShape(given.text("mamba_hidden_act"), limits, *biases)
    return None


def _limits(given: Configuration) -> tuple[float, float]:
    """Return the limits of Granite's steps. An infinite one is written as JSON has a place for."""
    found = given.values["time_step_limit"]
    if found is None:
        return 0.0, math.inf
    if not isinstance(found, (list, tuple)) or len(found) != 2:
        raise given.bad("time_step_limit is not a list of 2 numbers")
    least, most = found
    unlimited = most in (math.inf, {"__float__": "Infinity"})
    given = given.of({"time_step_min": least, "time_step_max": 0.0 if unlimited else most})
    return given.real("time_step_min"), math.inf if unlimited else given.real("time_step_max")


def granite_states(given: Configuration, layers: int, width: int) -> StateShape:
    """Return the states of so many layers of a Granite 4 hybrid, whose keys belong to groups of heads. width:
    of a state between layers."""
    groups, heads, size, kernel, factor = (
        given.whole(f"mamba_{name}", COUNT_LIMIT)
        for name in ("n_groups", "n_heads", "d_state", "d_conv", "expand")
    )
    inner = factor * width
    if heads % groups or inner % heads:
        raise given.bad(f"{heads} heads, {groups} groups and the width {inner} of Mamba layers")
    return StateShape(layers, kernel, inner + 2 * groups * size, groups, heads, size, inner // heads)


def granite_fields(given: Configuration) -> dict[str, Any]:
    """Return the usual fields of a configuration of a Granite 4 hybrid: one that is no mixture has the shared
    expert of one as its MLP."""
    dense = given.values.get("num_local_experts") == 0
    return {"intermediate_size": given.whole("shared_intermediate_size", WIDTH_LIMIT)} if dense else {}


def nemotron_states(given: Configuration, layers: int) -> StateShape:
    """Return the states of so many layers of a Nemotron-H."""
    groups, heads, size, head_width, kernel = (
        given.whole(name, COUNT_LIMIT)
        for name in ("n_groups", "mamba_num_heads", "ssm_state_size", "mamba_head_dim", "conv_kernel")
    )
    if heads % groups:
        raise given.bad(f"{heads} heads and {groups} groups of Mamba layers")
    return StateShape(layers, kernel, heads * head_width + 2 * groups * size, groups, heads, size, head_width)


def nemotron_fields(given: Configuration) -> dict[str, Any]:
    """Return the usual fields of a configuration of Nemotron-H, which has names of its own for them, and in
    older files a letter for each layer. Raises UnsupportedModel for experts behind a narrower state (Nemotron
    3 Super)."""
    keys = ("layers_block_type", "layer_types")
    types = next((given.values[key] for key in keys if given.values[key] is not None), None)
    if types is None:
        types = [_NEMOTRON_LAYERS.get(each, each) for each in given.text("hybrid_override_pattern")]
    if not isinstance(types, list):
        raise given.bad("layers_block_type is not a list")
    if MOE in types and given.values["moe_latent_size"] is not None:
        raise UnsupportedModel(
            "Experts that read a narrower state (moe_latent_size) are not supported.",
            "Choose another model of the family, such as Nemotron 3 Nano.",
        )
    return {
        "layers_block_type": types,
        "num_hidden_layers": len(types),
        "hidden_act": given.text("mlp_hidden_act"),
        "rms_norm_eps": given.real("layer_norm_epsilon"),
    }


def mamba_weights(states: StateShape, shape: MambaShape, width: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the name and the shape of each weight of a layer. width: of a state between layers."""
    heads, inner = states.heads, states.heads * states.value_width
    products = {"in_proj": (inner + states.channels + heads, width), "out_proj": (width, inner)}
    for name, size in products.items():
        yield f"mamba.{name}.weight", size
        if shape.bias:
            yield f"mamba.{name}.bias", size[:1]
    yield "mamba.conv1d.weight", (states.channels, 1, states.kernel)
    if shape.conv_bias:
        yield "mamba.conv1d.bias", (states.channels,)
    yield "mamba.norm.weight", (inner,)
    for name in ("A_log", "D", "dt_bias"):
        yield f"mamba.{name}", (heads,)
