"""The tensors of a model of transformers as llama.cpp's converter names and stores them in a GGUF file."""

from collections.abc import Iterator

import gguf
import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedConfig, PreTrainedModel

from tests.engine.checkpoints.gguf_metadata import ALWAYS_STACKED, INTERLEAVED, STATEFUL

# Of an assistant of Gemma 4: names that gguf-py 0.19 does not know yet.
OF_ASSISTANTS = {
    "pre_projection.weight": "nextn.pre_projection.weight",
    "post_projection.weight": "nextn.post_projection.weight",
    "masked_embedding.centroids.weight": "masked_embd_centroids.weight",
    "masked_embedding.token_ordering": "masked_embd_ordering",
}


def converted(
    module: PreTrainedModel, architecture: str, stacked: bool | str
) -> Iterator[tuple[str, NDArray[np.float32]]]:
    config = module.config.get_text_config()
    number = next(number for number, name in gguf.MODEL_ARCH_NAMES.items() if name == architecture)
    names = gguf.get_tensor_name_map(number, config.num_hidden_layers)
    heads: dict[str, int] = {}
    if architecture in INTERLEAVED:
        heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
    for hf_name, tensor in module.state_dict().items():
        array = tensor.numpy()
        if name := OF_ASSISTANTS.get(hf_name):
            yield name, array.astype(np.int32) if array.dtype == np.int64 else array
            continue
        if hf_name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        if architecture == "gpt-oss" and (found := _of_gpt_oss(hf_name, array)):
            yield from found
            continue
        if ".experts." in hf_name:
            block = hf_name.removeprefix("model.layers.").partition(".")[0]
            kinds = hf_name.rpartition(".")[2].removesuffix("_proj").split("_")
            for kind, half in zip(kinds, np.split(array, len(kinds), axis=1), strict=True):
                is_merged = stacked == "gate_up" or (stacked == "gate_up in layer 1" and block == "1")
                if is_merged and kind != "down":
                    if kind == "gate":
                        yield f"blk.{block}.ffn_gate_up_exps.weight", array
                elif stacked or architecture in ALWAYS_STACKED:
                    yield f"blk.{block}.ffn_{kind}_exps.weight", half
                else:
                    for expert, matrix in enumerate(half):
                        yield f"blk.{block}.ffn_{kind}.{expert}.weight", matrix
            continue
        if architecture == "granitehybrid" and (found := _of_granite_hybrid(config, hf_name, array)):
            for name, part in found:
                yield names.get_name(name, try_suffixes=(".weight", ".bias")) or name, part
            continue
        if architecture in ("granitemoe", "granitehybrid"):
            hf_name = hf_name.replace(".router.", ".router.layer.")  # as on the Hub
        layer = hf_name.split(".")[-2]
        if layer in heads:
            array = array.reshape(heads[layer], 2, len(array) // heads[layer] // 2, -1)
            array = array.swapaxes(1, 2).reshape(tensor.shape)
        if architecture in ("gemma2", "gemma3") and hf_name.endswith("norm.weight"):
            array = array + 1
        if ".altup_" in hf_name:
            continue
        if hf_name.endswith(("layer_scalar", "correct_output_scale")):
            hf_name += ".weight"
        if "embed_tokens_per_layer" in hf_name:  # rows for images and sound
            array = np.pad(array, ((0, config.vocab_size - len(array)), (0, 0)))
        if hf_name.endswith((".e_score_correction_bias", ".expert_bias")):
            yield f"blk.{hf_name.split('.')[2]}.exp_probs_b.bias", array
            continue
        if hf_name.endswith("shared_expert_gate.weight"):
            array = array.squeeze(0)
        if hf_name.endswith("in_proj_qkvz.weight"):
            yield from _parted(config, f"blk.{hf_name.split('.')[2]}", array)
            continue
        if architecture in STATEFUL:
            hf_name, array = _of_qwen35(config, hf_name, array)
        if hf_name.endswith(".conv.conv.weight"):
            array = array.squeeze(1)
        if config.model_type == "nemotron_h":
            hf_name, array = _of_nemotron(config, hf_name, array)
        yield names.get_name(hf_name, try_suffixes=(".weight", ".bias")), array
    if architecture == "gemma3n":
        yield from _of_gemma3n(module)
    if architecture == "gemma4":
        pairs = config.per_layer_config["full_attention"].head_dim // 2
        rotated = int(pairs * config.rope_parameters["full_attention"]["partial_rotary_factor"])
        yield "rope_freqs.weight", np.repeat(np.float32([1.0, 1e30]), (rotated, pairs - rotated))
    if (getattr(config, "rope_parameters", None) or {}).get("rope_type") == "longrope":
        for length in ("long", "short"):
            factors = np.array(config.rope_parameters[f"{length}_factor"], np.float32)
            yield f"rope_factors_{length}.weight", factors


def _of_gemma3n(module: PreTrainedModel) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Yield the matrices of the streams, stacked, and the unused ones that layers with the keys and values of
    an earlier layer have in Google's files, and which llama.cpp asks for."""
    config = module.config
    for name, hf_name in (("proj", "projections"), ("unembd_proj", "unembed_projections")):
        matrices = [linear.weight.detach().numpy() for linear in getattr(module.model, f"altup_{hf_name}")]
        yield f"altup_{name}.weight", np.stack(matrices)
    rows = config.num_key_value_heads * config.head_dim
    for layer in range(config.num_hidden_layers - config.num_kv_shared_layers, config.num_hidden_layers):
        yield f"blk.{layer}.attn_k_norm.weight", np.ones(config.head_dim, np.float32)
        for kind in "kv":
            yield f"blk.{layer}.attn_{kind}.weight", np.ones((rows, config.hidden_size), np.float32)


def _of_gpt_oss(name: str, array: NDArray[np.float32]) -> list[tuple[str, NDArray[np.float32]]]:
    """Return experts and sinks as the converter names and stores them: gate and up take turns."""
    block, _, rest = name.removeprefix("model.layers.").partition(".")
    if rest == "self_attn.sinks":
        return [(f"blk.{block}.attn_sinks.weight", array)]
    owner, _, kind = rest.rpartition(".")
    if owner != "mlp.experts":
        return []
    leaf = "bias" if kind.endswith("_bias") else "weight"
    array = array if leaf == "bias" else array.swapaxes(1, 2)
    if kind.startswith("down"):
        return [(f"blk.{block}.ffn_down_exps.{leaf}", array)]
    return [
        (f"blk.{block}.ffn_{half}_exps.{leaf}", array[:, at::2]) for at, half in enumerate(("gate", "up"))
    ]


def _of_qwen35(
    config: PreTrainedConfig, name: str, array: NDArray[np.float32]
) -> tuple[str, NDArray[np.float32]]:
    """Return the tensor as the converter names and stores it: value heads in tiled order (not those of
    Qwen3-Next), larger norms."""
    key_heads, key_width = config.linear_num_key_heads, config.linear_key_head_dim
    heads, width = config.linear_num_value_heads, config.linear_value_head_dim

    def tiled(part: NDArray[np.float32], size: int) -> NDArray[np.float32]:
        if config.model_type == "qwen3_next":
            return part
        apart = part.reshape(key_heads, heads // key_heads, size, -1)
        return apart.swapaxes(0, 1).reshape(part.shape)

    first = 2 * key_heads * key_width  # rows of queries and keys
    match name.partition(".linear_attn.")[2]:
        case "in_proj_qkv.weight" | "conv1d.weight" as kind:
            array = array.squeeze(1) if kind == "conv1d.weight" else array
            array = np.concatenate([array[:first], tiled(array[first:], width)])
        case "in_proj_z.weight":
            array = tiled(array, width)
        case "in_proj_a.weight" | "in_proj_b.weight":
            array = tiled(array, 1)
        case "out_proj.weight":
            array = np.ascontiguousarray(tiled(np.ascontiguousarray(array.T), width).T)
        case "A_log":
            array = -np.exp(tiled(array, 1))
        case "dt_bias":
            name, array = name.replace("dt_bias", "dt_proj.bias"), tiled(array, 1)
        case "":
            array = array + 1 if name.endswith("norm.weight") else array
    return name, array


def _parted(
    config: PreTrainedConfig, block: str, array: NDArray[np.float32]
) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Yield the two matrices into which the converter parts what Qwen3-Next has by key heads."""
    heads, width = config.linear_num_key_heads, config.linear_key_head_dim
    values = config.linear_num_value_heads * config.linear_value_head_dim // heads
    apart = array.reshape(heads, 2 * (width + values), -1)
    parts = np.split(apart, np.cumsum([width, width, values]), axis=1)
    *read, gates = (part.reshape(-1, array.shape[1]) for part in parts)
    yield f"{block}.attn_qkv.weight", np.concatenate(read)
    yield f"{block}.attn_gate.weight", gates


def _of_granite_hybrid(
    config: PreTrainedConfig, name: str, array: NDArray[np.float32]
) -> list[tuple[str, NDArray[np.float32]]]:
    """Return what the converter makes of an MLP or of a Mamba-2 layer: gate and up apart, vectors as
    matrices."""
    block, _, rest = name.removeprefix("model.layers.").partition(".")
    end = "_shexp" if config.num_local_experts else ""
    match rest:
        case "shared_mlp.input_linear.weight":
            halves = zip(("gate", "up"), np.split(array, 2), strict=True)
            return [(f"blk.{block}.ffn_{kind}{end}.weight", half) for kind, half in halves]
        case "shared_mlp.output_linear.weight":
            return [(f"blk.{block}.ffn_down{end}.weight", array)]
        case "mamba.conv1d.weight":
            array = array.squeeze(1)
        case "mamba.A_log":
            array = -np.exp(array)[:, None]
        case "mamba.D":
            array = array[:, None]
        case "mamba.norm.weight":
            array = array.reshape(config.mamba_n_groups, -1)
        case "mamba.dt_bias":
            name = name.replace("dt_bias", "dt_proj.bias")
        case _:
            return []
    return [(name, array)]


def _of_nemotron(
    config: PreTrainedConfig, name: str, array: NDArray[np.float32]
) -> tuple[str, NDArray[np.float32]]:
    """Return the tensor as the converter names and stores it: with the Hub's names, vectors as matrices."""
    match name.partition(".mixer.")[2]:
        case "conv1d.weight":
            array = array.squeeze(1)
        case "A_log":
            array = -np.exp(array)[:, None]
        case "D":
            array = array[:, None]
        case "norm.weight":
            array = array.reshape(config.n_groups, -1)
        case "dt_bias":
            name = name.replace("dt_bias", "dt_proj.bias")
    return name.replace("model.", "backbone."), array
