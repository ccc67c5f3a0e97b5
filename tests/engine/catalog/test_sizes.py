"""Computed sizes equal those of models built by transformers and, to the byte, of llama.cpp's files."""

from dataclasses import replace
from pathlib import Path

import pytest
from transformers import PreTrainedConfig, PreTrainedModel

from engine import catalog
from engine.catalog import CatalogModel, Variant, sizes
from engine.catalog.models import THROUGH_TORCH, DenseLayers, LayerInputs, WideLayers
from engine.catalog.states import ConvolutionStates, DeltaStates, LayerStates, MambaStates
from engine.checkpoints import Checkpoint, open_checkpoint
from engine.model.architectures import FAMILIES
from engine.model.description import described
from engine.planner import checkpoint_outline
from tests.engine.checkpoints.files import real_file
from tests.engine.models import EXPERTS, reference

LLAMA = catalog.catalog().models["llama-3.1-8b"]
MIXTRAL = catalog.catalog().models["mixtral-8x7b"]
Q4 = catalog.entries()["llama-3.1-8b-q4_k_m"]


DELTA = DeltaStates(key_heads=2, heads=4, key_width=8, value_width=12, kernel=4)
# What layers do, one letter for each, and what they have that recur.
LAYERS: dict[str, tuple[str, LayerStates]] = {
    "qwen3_5_text": ("sas", DELTA),
    "qwen3_5_moe_text": ("sas", DELTA),
    "lfm2": ("sas", ConvolutionStates(kernel=3)),
    "lfm2_moe": ("sas", ConvolutionStates(kernel=3)),
    "granitemoehybrid": ("sas", MambaStates(heads=8, width=8, groups=2, state=12, kernel=4)),
    "granitemoehybrid_experts": ("sas", MambaStates(heads=8, width=8, groups=1, state=12, kernel=4)),
    "nemotron_h_experts": ("sfaf", MambaStates(heads=8, width=6, groups=2, state=12, kernel=4)),
}
CHANGES: dict[str, dict[str, object]] = {
    "lfm2": dict(conv_bias=False),
    "glm4_moe": dict(use_qk_norm=False),
}
# What transformers does not count as parameters.
BUFFERS = ("layer_scalar", "e_score_correction_bias", "expert_bias")
DENSE_FIRST = ("glm4_moe", "lfm2_moe")
WIDE = {
    "gemma4_large": WideLayers(every=2, kv_heads=1, head_dim=16),
    "gemma4_text": WideLayers(every=2, kv_heads=2, head_dim=16, values=True),
}


def built(kind: str) -> PreTrainedModel:
    if kind == "qwen3_5_moe_text":
        return reference("qwen3_5_text", model_type=kind, **EXPERTS)
    return reference(kind, **CHANGES.get(kind, {}))


def model_of(kind: str) -> tuple[CatalogModel, int]:
    """Return a tiny model's figures, and the number of parameters in transformers."""
    module = built(kind)
    config = module.config
    first = config.per_layer_config[0]
    pattern, states = LAYERS.get(kind, ("", None))
    figures = CatalogModel(
        id=kind,
        name=kind,
        family=kind,
        architecture=config.model_type,
        parameters=sum(weight.numel() for weight in module.parameters())
        + sum(buffer.numel() for name, buffer in module.named_buffers() if name.endswith(BUFFERS)),
        layers=config.num_hidden_layers,
        hidden=config.hidden_size,
        intermediate=_inner(kind, config),
        heads=config.num_attention_heads,
        kv_heads=getattr(first, "num_key_value_heads", None) or config.num_key_value_heads,
        head_dim=getattr(first, "head_dim", None) or config.hidden_size // config.num_attention_heads,
        vocabulary=config.vocab_size,
        context=config.max_position_embeddings,
        license="",
        about="",
        experts=_first(config, "num_local_experts", "num_experts", "n_routed_experts"),
        experts_per_token=getattr(config, "num_experts_per_tok", 0),
        tied=config.tie_word_embeddings,
        shared_expert=_shared(config),
        dense=DenseLayers(layers=1, intermediate=config.intermediate_size) if kind in DENSE_FIRST else None,
        pattern=pattern,
        states=states,
        wide=WIDE.get(kind),
        inputs=LayerInputs(width=10, shared=2, twice=True) if kind == "gemma4_text" else None,
    )
    return figures, figures.parameters


def _first(config: PreTrainedConfig, *names: str) -> int:
    return next((value for name in names if (value := getattr(config, name, 0))), 0)


def _inner(kind: str, config: PreTrainedConfig) -> int:
    """The width of an expert, or of an MLP."""
    if kind == "granitemoehybrid":  # its MLPs are the shared experts of others
        return config.shared_intermediate_size
    return _first(config, "moe_intermediate_size", "intermediate_size")


def _shared(config: PreTrainedConfig) -> int:
    """The width of the expert that every token uses."""
    if getattr(config, "n_shared_experts", 0) and config.model_type == "glm4_moe":
        return config.n_shared_experts * config.moe_intermediate_size
    if not _first(config, "num_local_experts", "num_experts", "n_routed_experts"):
        return 0
    names = "shared_expert_intermediate_size", "moe_shared_expert_intermediate_size"
    return _first(config, *names, "shared_intermediate_size")


@pytest.mark.parametrize(
    "kind",
    [
        *("llama", "mistral", "mixtral", "qwen2", "qwen3", "gemma2", "gemma3_text", "phi3"),
        *("qwen3_5_text", "qwen3_5_moe_text", "gemma4_large", "gemma4_text", "seed_oss", "glm4", "smollm3"),
        *("ministral3", "olmo2", "olmo3", "glm4_moe", "lfm2", "lfm2_moe"),
        *("granitemoehybrid", "granitemoehybrid_experts", "nemotron_h_experts"),
    ],
)
def test_parameters_are_those_of_the_built_model(kind: str) -> None:
    figures, counted = model_of(kind)
    assert sizes.parameters(figures) == counted
    plain = replace(Q4, format="16-bit", mix="")
    assert sizes.weights_nbytes(figures, plain) == 2 * counted


def test_the_catalogue_knows_which_architectures_have_compiled_steps() -> None:
    assert set(THROUGH_TORCH) == {name for name, family in FAMILIES.items() if not family.compiled}


def test_only_routed_experts_are_active() -> None:
    assert sizes.parameters(MIXTRAL) == 46_702_792_704
    assert sizes.active_parameters(MIXTRAL) == 12_879_925_248  # Mixtral of Experts, 2401.04088: 13B
    assert sizes.active_parameters(LLAMA) == sizes.parameters(LLAMA)


@pytest.mark.parametrize("id", ["smollm2", "coder", "coder-draft"])
def test_bytes_are_those_of_the_file(id: str) -> None:
    variant = catalog.entries()[id]
    model = catalog.catalog().models[variant.model]
    checkpoint = open_checkpoint(real_file(id))
    layers = range(model.layers)
    computed = [sizes.layer_nbytes(model, variant, layer) for layer in layers]
    # In files that sort layers by name (0, 1, 10, ...), other layers get more bits.
    for parts, prefix, ending in (
        ([layer.attention for layer in computed], "self_attn.", "_proj.weight"),
        ([layer.mlp for layer in computed], "mlp.", "_proj.weight"),
        ([layer.expert for layer in computed], "mlp.", "_proj.weight"),
        ([layer.total for layer in computed], "", ""),
    ):
        in_file = [stored(checkpoint, f"model.layers.{layer}.{prefix}", ending) for layer in layers]
        assert sorted(parts) == sorted(in_file)
    assert sizes.embedding_nbytes(model, variant) == stored(checkpoint, "model.embed_tokens.", "")
    assert sizes.head_nbytes(model, variant) == stored(checkpoint, "lm_head.", "")
    assert sizes.weights_nbytes(model, variant) == sizes.files_nbytes(model, variant) == checkpoint.nbytes


def stored(checkpoint: Checkpoint, prefix: str, ending: str) -> int:
    return sum(
        weight.nbytes
        for name, weight in checkpoint.weights.items()
        if name.startswith(prefix) and name.endswith(ending)
    )


def test_each_group_has_a_scale_and_a_zero_point() -> None:
    grouped = replace(Q4, format="gptq", mix="", bits=4, group_size=128)
    one_group = replace(grouped, group_size=-1)
    awq = replace(grouped, format="awq")
    q, k, o = 4096 * 4096, 1024 * 4096, 4096 * 4096
    numbers = q + 2 * k + o
    rows, columns = 4096 + 1024 + 1024 + 4096, 4 * 4096
    assert attention(awq) == numbers // 2 + rows * 32 * 5 // 2  # 16-bit scale and 4-bit zero: 2.5 bytes
    assert attention(grouped) == attention(awq) + 4 * columns
    assert attention(one_group) == numbers // 2 + rows * 5 // 2 + 4 * columns
    assert attention(replace(awq, group_size=3000)) == numbers // 2 + rows * 2 * 5 // 2, (
        "the last group is shorter"
    )


def attention(variant: Variant) -> int:
    return sizes.layer_nbytes(LLAMA, variant, 0).attention


def test_a_padded_mlp_is_larger() -> None:
    plain = replace(Q4, format="16-bit", mix="")
    padded = replace(plain, intermediate=LLAMA.intermediate + 128)
    more = sizes.layer_nbytes(LLAMA, padded, 0).mlp - sizes.layer_nbytes(LLAMA, plain, 0).mlp
    assert more == 2 * 3 * 128 * LLAMA.hidden


def test_a_mixture_includes_all_experts() -> None:
    layer = sizes.layer_nbytes(MIXTRAL, replace(Q4, format="16-bit", mix=""), 0)
    assert layer.expert == 2 * 3 * 4096 * 14336
    assert layer.mlp == 8 * layer.expert
    assert layer.other == 2 * (2 * 4096 + 8 * 4096)


def test_a_copy_of_a_tied_head_counts_in_the_files_only() -> None:
    variant = catalog.entries()["qwen3-0.6b-16bit"]
    model = catalog.catalog().models["qwen3-0.6b"]
    assert sizes.head_nbytes(model, variant) == 0
    assert sizes.files_nbytes(model, variant) - sizes.weights_nbytes(model, variant) == 2 * 151936 * 1024


def test_the_size_of_a_tokens_keys_and_values() -> None:
    assert sizes.kv_row_nbytes(LLAMA) == 131072  # 128 KiB
    assert sizes.kv_row_nbytes(LLAMA, itemsize=4) == 262144


WINDOWED = [model for model in catalog.catalog().models.values() if model.sliding_window]


@pytest.mark.parametrize("model", WINDOWED, ids=lambda model: model.id)
def test_layers_with_a_window_are_those_of_the_architecture(model: CatalogModel) -> None:
    config = {"num_hidden_layers": model.layers, "sliding_window": model.sliding_window}
    if model.architecture == "gemma4_text":
        config["sliding_window_pattern"] = model.full_every
    windows = described(model.id, model.architecture, config).windows
    expected = [window == model.sliding_window for window in windows]
    assert [model.slides(layer) for layer in range(model.layers)] == expected
    assert any(expected)
    assert 0 < sizes.window_row_nbytes(model) < sizes.kv_row_nbytes(model)


def test_most_of_what_gemma_4_keeps_of_a_token_is_in_layers_with_a_window() -> None:
    model = catalog.catalog().models["gemma-4-31b"]
    assert sizes.window_row_nbytes(model) == 50 * 2 * 16 * 256 * 2
    assert sizes.kv_row_nbytes(model) - sizes.window_row_nbytes(model) == 10 * 2 * 4 * 512 * 2


@pytest.mark.parametrize(
    ("model", "matrix", "layer", "expected"),
    [
        ("llama-3.1-8b", "q", 0, "Q4_K"),
        ("llama-3.1-8b", "down", 0, "Q6_K"),
        ("llama-3.1-8b", "down", 4, "Q4_K"),
        ("llama-3.1-8b", "v", 6, "Q6_K"),
        ("llama-3.1-8b", "v", 28, "Q6_K"),
        ("llama-3.1-8b", "embedding", 0, "Q4_K"),
        ("llama-3.1-8b", "head", 0, "Q6_K"),
        ("llama-3.2-1b", "embedding", 0, "Q6_K"),
        ("llama-2-70b", "v", 10, "Q5_K"),
        ("llama-2-70b", "v", 0, "Q6_K"),
        ("mixtral-8x7b", "k", 10, "Q8_0"),
        ("mixtral-8x7b", "v", 10, "Q8_0"),
        ("mixtral-8x7b", "o", 10, "Q5_K"),
        ("smollm2-135m", "q", 0, "Q5_0"),
    ],
)
def test_important_matrices_get_more_bits(model: str, matrix: str, layer: int, expected: str) -> None:
    figures = catalog.catalog().models[model]
    assert sizes.storage(figures, Q4, matrix, layer, figures.hidden) == expected


@pytest.mark.parametrize("kind", [*LAYERS, "glm4_moe"])
def test_what_a_pass_multiplies_and_keeps_is_that_of_the_built_model(kind: str, tmp_path: Path) -> None:
    """Matrices of all experts, rows of keys and values, states and what is kept of a row of a tree."""
    figures, _ = model_of(kind)
    built(kind).save_pretrained(tmp_path)
    checkpoint = open_checkpoint(tmp_path)
    plain = replace(Q4, format="16-bit", mix="")
    multiplied = sum(
        rows * columns * (figures.experts if of_expert else 1)
        for rows, columns, _, of_expert in sizes.multiplied(figures, plain)
    )
    outline = checkpoint_outline(checkpoint, kind)
    # A shared expert's gate has one row; GGUF files have it as a vector, and sizes count it as such.
    stored = sum(each.rows * each.columns * count for each, count in outline.matrices if each.rows > 1)
    assert multiplied == stored - figures.vocabulary * figures.hidden
    assert sizes.kv_row_nbytes(figures, itemsize=1) == outline.kv_row
    assert sizes.states_nbytes(figures) == outline.states
    assert sizes.state_row_nbytes(figures) == outline.state_row
    of_layers = [sizes.layer_nbytes(figures, plain, layer) for layer in range(figures.layers)]
    assert 2 * sum(layer.experts for layer in of_layers) == outline.experts  # stored in float32
