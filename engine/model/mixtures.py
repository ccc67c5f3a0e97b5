"""The mixtures of experts of a model, as its configuration describes them."""

from dataclasses import dataclass

from engine.checkpoints.limits import COUNT_LIMIT, EXPERTS_LIMIT, LAYERS_LIMIT, WIDTH_LIMIT
from engine.model.configuration import Configuration
from engine.model.family import Family
from engine.model.mamba_layers import MOE

# The fields of the width within the expert that every token uses.
_SHARED_WIDTHS = (
    *("shared_expert_intermediate_size", "shared_intermediate_size"),
    "moe_shared_expert_intermediate_size",
)


@dataclass(frozen=True, slots=True)
class MixtureShape:
    """The mixtures of experts of a decoder, all of one shape.

    Attributes: `layers`, for each layer of the model whether it is a mixture; `experts` of such a layer,
    without the shared one; `chosen`, how many of them a token uses; `inner`, the width within an expert;
    `sigmoid`, whether the shares of experts are the sigmoids of their scores, and not their softmax;
    `normalized`, whether the shares of the chosen ones are divided by their sum, and `epsilon`, what is added
    to that sum; `factor` of shares; `groups` of neighbouring experts, and `kept_groups`, in how many of them
    a token chooses; `corrected`, whether numbers are added to scores for the choice only; `biased`, whether
    router and experts have biases; `bound` of gate and up projections and `slope` within the activation, as
    in gpt-oss, or 0; `shared`, the width within the expert that every token uses besides, or 0 if there is
    none; `shared_gated`, whether its share is the sigmoid of a score of its own, and not 1.
    """

    layers: tuple[bool, ...]
    experts: int
    chosen: int
    inner: int
    sigmoid: bool = False
    normalized: bool = True
    epsilon: float = 0.0
    factor: float = 1.0
    groups: int = 1
    kept_groups: int = 1
    corrected: bool = False
    biased: bool = False
    bound: float = 0.0
    slope: float = 0.0
    shared: int = 0
    shared_gated: bool = False


def mixture_shape(given: Configuration, family: Family, layers: int) -> MixtureShape | None:
    """Return the mixtures of a model of so many layers; None if it has none. Raises BadCheckpoint."""
    if not family.mixture:
        return None
    mixed = _mixed(given, family, layers)
    if not any(mixed):
        return None
    key = _experts_key(given, family)
    # Of Granite 4 hybrids, some are no mixtures.
    least = 0 if family.recurrent and key == "num_local_experts" else 1
    experts = given.whole(key, min(COUNT_LIMIT, EXPERTS_LIMIT // layers), least)
    if not experts:
        return None
    has, inner = family.defaults.keys(), given.whole(family.inner, WIDTH_LIMIT)
    own = next((name for name in _SHARED_WIDTHS if name in has), None)
    shared = given.whole(own, WIDTH_LIMIT) if own else 0
    if "n_shared_experts" in has:
        shared = inner * given.whole("n_shared_experts", COUNT_LIMIT)
    sigmoid = "routed_scaling_factor" in has
    chosen = given.whole("num_experts_per_tok", experts)
    groups, kept = _groups(given, experts, chosen) if "n_group" in has else (1, 1)
    return MixtureShape(
        mixed,
        experts,
        chosen,
        inner,
        sigmoid=sigmoid,
        normalized="norm_topk_prob" not in has or given.flag("norm_topk_prob"),
        epsilon=family.share_epsilon,
        factor=given.real("routed_scaling_factor") if sigmoid else 1.0,
        groups=groups,
        kept_groups=kept,
        corrected=given.flag("use_expert_bias") if "use_expert_bias" in has else sigmoid,
        biased=family.biased_experts,
        bound=given.real("swiglu_limit") if "swiglu_limit" in has else 0.0,
        slope=given.real("swiglu_alpha") if "swiglu_alpha" in has else 0.0,
        shared=shared,
        shared_gated="shared_expert_intermediate_size" in has,
    )


def _groups(given: Configuration, experts: int, chosen: int) -> tuple[int, int]:
    """Return the number of groups of experts, and in how many of them a token chooses its experts."""
    groups = given.whole("n_group", experts)
    kept = given.whole("topk_group", groups)
    if experts % groups or experts < 2 * groups or kept * (experts // groups) < chosen:
        raise given.bad(f"{chosen} of {experts} experts, in {kept} of {groups} groups")
    return groups, kept


def _experts_key(given: Configuration, family: Family) -> str:
    """Return the field of the number of experts, which has three names; of the first two, the one that the
    defaults lack takes precedence where a configuration has it."""
    if "n_routed_experts" in family.defaults:
        return "n_routed_experts"
    own, other = "num_local_experts", "num_experts"
    if other in family.defaults:
        own, other = other, own
    return other if other in given.values else own


def _mixed(given: Configuration, family: Family, layers: int) -> tuple[bool, ...]:
    """Return for each layer whether it is a mixture."""
    if family.single:
        return tuple(kind == MOE for kind in given.values["layers_block_type"])
    first = next((key for key in ("first_k_dense_replace", "num_dense_layers") if key in given.values), None)
    dense = given.whole(first, LAYERS_LIMIT, least=0) if first else 0
    every, plain = 1, given.values.get("mlp_only_layers") or []
    if "decoder_sparse_step" in given.values:
        every = given.whole("decoder_sparse_step", LAYERS_LIMIT)
    if not isinstance(plain, list):
        raise given.bad("mlp_only_layers is not a list")
    return tuple(
        layer >= dense and layer not in plain and (layer + 1) % every == 0 for layer in range(layers)
    )
