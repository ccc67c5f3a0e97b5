"""GGUF files as checkpoints: llama.cpp's names and keys put into Hugging Face's words.

A new architecture is one entry in `ARCHITECTURES`. Sources: convert_hf_to_gguf.py and gguf-py's constants of
ggml-org/llama.cpp.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.checkpoints.checkpoint import Checkpoint, Generation, GgufVocabulary, Span
from engine.checkpoints.gguf_header import DAMAGED, GgufHeader, read_header
from engine.checkpoints.gguf_keys import Keys
from engine.checkpoints.gguf_rope import rope_parameters
from engine.errors import BadCheckpoint, UnsupportedModel


@dataclass(frozen=True, slots=True)
class Architecture:
    """How one `general.architecture` maps: HF's names, and what its layers have beside the common weights.

    Attributes: `interleaved`: rows of Q and K were permuted for llama.cpp's rotary layout; `extra`: config
    entries that are always the same.
    """

    model_type: str
    class_name: str
    interleaved: bool = False
    qkv_bias: bool = False
    qk_norm: bool = False
    extra: tuple[tuple[str, Any], ...] = ()


ARCHITECTURES = {
    "llama": Architecture("llama", "LlamaForCausalLM", interleaved=True),
    "mistral": Architecture(
        "mistral", "MistralForCausalLM", interleaved=True, extra=(("sliding_window", None),)
    ),
    "qwen2": Architecture("qwen2", "Qwen2ForCausalLM", qkv_bias=True, extra=(("use_sliding_window", False),)),
    "qwen3": Architecture("qwen3", "Qwen3ForCausalLM", qk_norm=True, extra=(("use_sliding_window", False),)),
}

# Metadata that change the computation in ways the architectures above do not have. Written by converters for
# relatives (mixtures, Granite, MiniCPM, sliding windows) under the same architecture name.
DIFFERENT_MATHS = (
    "expert_count",
    "attention.sliding_window",
    "attention.clamp_kqv",
    "attention.max_alibi_bias",
    "attention.scale",
    "attention.temperature_scale",
    "logit_scale",
    "residual_scale",
    "embedding_scale",
    "final_logit_softcapping",
    "attn_logit_softcapping",
    "use_parallel_residual",
)
# Rotary frequencies some old converters wrote; they follow from the metadata.
HARMLESS = re.compile(
    r"rope_freqs\.weight|blk\.\d+\.(attn_rot_embd|rope_freqs|attn\.rotary_emb\.inv_freq)(\.weight)?"
)


def claims(path: Path) -> bool:
    """Whether `path` is (named like, or begins like) a GGUF file, or a folder with one and no other model."""
    if path.is_dir():
        return _lone_file(path) is not None
    if not path.is_file():
        return False
    if path.suffix.lower() == ".gguf":
        return True
    try:
        with path.open("rb") as file:
            return file.read(4) == b"GGUF"
    except OSError:
        return False


def read(path: Path) -> Checkpoint:
    """The checkpoint in the GGUF file at `path`. Raises `BadCheckpoint` or `UnsupportedModel`."""
    path = _lone_file(path) or path
    header = read_header(path)
    keys = Keys(path, header)
    name = keys.text("general.architecture")
    if keys.number("split.count", 1) > 1:
        raise UnsupportedModel(
            f"{path.name} is one part of a model split over several files.",
            "Join the parts with llama.cpp's `llama-gguf-split --merge`, then load the joined file.",
        )
    if name not in ARCHITECTURES:
        raise UnsupportedModel(
            f"{path.name} holds a model of architecture {name[:40]!r}, which is not supported.",
            f"Supported in GGUF files: {', '.join(sorted(ARCHITECTURES))}.",
        )
    architecture = ARCHITECTURES[name]
    keys.prefix = name
    vocabulary = _vocabulary(keys)
    config = _config(keys, architecture, vocabulary)
    tensors = _tensors(path, header, architecture, config)
    return Checkpoint(
        path=path,
        format="gguf",
        architecture=architecture.model_type,
        config=config,
        tensors=tensors,
        tokenizer=vocabulary,
        generation=Generation(_end_ids(keys, len(vocabulary.tokens)), vocabulary.bos_id),
    )


def _lone_file(path: Path) -> Path | None:
    """The .gguf file in the folder `path` that holds nothing else to choose from."""
    if not path.is_dir() or (path / "config.json").exists():
        return None
    files = list(path.glob("*.gguf"))
    return files[0] if len(files) == 1 else None


# -- the vocabulary ------------------------------------------------------------------------------------------


def _vocabulary(keys: Keys) -> GgufVocabulary:
    tokens = keys.get("tokenizer.ggml.tokens")
    if not isinstance(tokens, list) or not tokens:
        raise keys.bad("tokenizer.ggml.tokens", tokens if isinstance(tokens, list) else None)
    count = len(tokens)
    merges = keys.get("tokenizer.ggml.merges")
    if merges is not None and not isinstance(merges, list):
        raise keys.bad("tokenizer.ggml.merges", merges)
    template = keys.get("tokenizer.chat_template")
    scores = _per_token(keys, "tokenizer.ggml.scores", count)
    types = _per_token(keys, "tokenizer.ggml.token_type", count)
    return GgufVocabulary(
        model=keys.text("tokenizer.ggml.model"),
        pre=keys.text("tokenizer.ggml.pre", "default"),
        tokens=tokens,
        scores=None if scores is None else scores.astype(np.float32),
        types=None if types is None else types.astype(np.int32),
        merges=merges,
        bos_id=keys.token_id("tokenizer.ggml.bos_token_id", count),
        eos_id=keys.token_id("tokenizer.ggml.eos_token_id", count),
        unknown_id=keys.token_id("tokenizer.ggml.unknown_token_id", count),
        add_bos=keys.flag("tokenizer.ggml.add_bos_token"),
        add_eos=keys.flag("tokenizer.ggml.add_eos_token"),
        add_space_prefix=keys.flag("tokenizer.ggml.add_space_prefix"),
        chat_template=template if isinstance(template, str) else None,
    )


def _per_token(keys: Keys, key: str, count: int) -> NDArray[np.generic] | None:
    """A list with one number per token, or None where the file has none."""
    value = keys.get(key)
    if value is None:
        return None
    if not isinstance(value, np.ndarray):
        raise keys.bad(key, value)
    if len(value) != count:
        raise BadCheckpoint(
            f"{keys.path.name} is not valid: {key} has {len(value)} items for {count} tokens.", DAMAGED
        )
    return value


def _end_ids(keys: Keys, vocabulary: int) -> tuple[int, ...]:
    """Tokens that end an answer: end of sequence, of turn, of message."""
    found = (keys.token_id(f"tokenizer.ggml.{end}_token_id", vocabulary) for end in ("eos", "eot", "eom"))
    return tuple(dict.fromkeys(token for token in found if token is not None))


# -- the configuration ---------------------------------------------------------------------------------------


def _config(keys: Keys, architecture: Architecture, vocabulary: GgufVocabulary) -> dict[str, Any]:
    _refuse_different_maths(keys)
    tensors = keys.header.tensors
    hidden = keys.number("{arch}.embedding_length", least=1)
    heads = keys.number("{arch}.attention.head_count", least=1)
    kv_heads = keys.number("{arch}.attention.head_count_kv", heads, least=1)
    head_dim = keys.number("{arch}.attention.key_length", hidden // heads, least=2)
    if heads % kv_heads or head_dim % 2:
        raise BadCheckpoint(
            f"{keys.path.name} is not valid: {heads} heads, {kv_heads} key-value heads of size {head_dim}.",
            DAMAGED,
        )
    if keys.number("{arch}.attention.value_length", head_dim) != head_dim:
        raise UnsupportedModel(
            f"{keys.path.name} has keys and values of different lengths.", "Choose another model."
        )
    if keys.number("{arch}.rope.dimension_count", head_dim) != head_dim:
        raise UnsupportedModel(f"{keys.path.name} rotates only part of each head.", "Choose another model.")
    rows = tensors["token_embd.weight"].shape[0] if "token_embd.weight" in tensors else len(vocabulary.tokens)
    if len(vocabulary.tokens) > rows:
        raise BadCheckpoint(
            f"{keys.path.name} is not valid: {len(vocabulary.tokens)} tokens, but an embedding of {rows}.",
            DAMAGED,
        )
    config: dict[str, Any] = {
        "architectures": [architecture.class_name],
        "vocab_size": rows,
        "hidden_size": hidden,
        "intermediate_size": keys.number("{arch}.feed_forward_length", least=1),
        "num_hidden_layers": keys.number("{arch}.block_count", least=1, most=4096),
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_dim": head_dim,
        "hidden_act": "silu",
        "max_position_embeddings": keys.number("{arch}.context_length", least=1),
        "rms_norm_eps": keys.real("{arch}.attention.layer_norm_rms_epsilon"),
        "rope_parameters": rope_parameters(keys, head_dim),
        "tie_word_embeddings": "output.weight" not in tensors,
        "bos_token_id": vocabulary.bos_id,
        "eos_token_id": vocabulary.eos_id,
        "pad_token_id": keys.token_id("tokenizer.ggml.padding_token_id", len(vocabulary.tokens)),
        **dict(architecture.extra),
    }
    if architecture.model_type == "llama":
        config["attention_bias"] = any(
            name.startswith("blk.0.attn_") and name.endswith(".bias") for name in tensors
        )
        config["mlp_bias"] = any(name.startswith("blk.0.ffn_") and name.endswith(".bias") for name in tensors)
    return config


def _refuse_different_maths(keys: Keys) -> None:
    for key in DIFFERENT_MATHS:
        value = keys.get("{arch}." + key)
        if value is None or (isinstance(value, (int, float)) and not value):
            continue
        wide_window = isinstance(value, int) and value >= keys.number("{arch}.context_length")
        if key == "attention.sliding_window" and wide_window:
            continue
        raise UnsupportedModel(
            f"{keys.path.name} computes differently ({keys.prefix}.{key}), in a way not supported here.",
            "Choose another model.",
        )


# -- the tensors ---------------------------------------------------------------------------------------------


def _tensors(
    path: Path, header: GgufHeader, architecture: Architecture, config: dict[str, Any]
) -> dict[str, Span]:
    """HF name: span. Every expected tensor is there, of the expected shape, with nothing unknown beside."""
    expected = _expected(architecture, config)
    spans: dict[str, Span] = {}
    for name, (hf_name, shape, rope_heads) in expected.items():
        tensor = header.tensors.get(name)
        if tensor is None:
            raise BadCheckpoint(f"{path.name} is not complete: tensor {name} is missing.", DAMAGED)
        if tensor.shape != shape:
            raise BadCheckpoint(
                f"{path.name} is not valid: {name} has the shape {tensor.shape}, not {shape}.", DAMAGED
            )
        spans[hf_name] = Span(path, tensor.offset, tensor.nbytes, shape, tensor.storage, rope_heads)
    for name in header.tensors.keys() - expected.keys():
        if not HARMLESS.fullmatch(name):
            raise UnsupportedModel(
                f"{path.name} has a tensor {name} that a {architecture.model_type} model does not have.",
                "This model is a relative that is not supported; choose another.",
            )
    return spans


def _expected(
    architecture: Architecture, config: dict[str, Any]
) -> dict[str, tuple[str, tuple[int, ...], int]]:
    """GGUF name: (HF name, shape, heads whose rows are interleaved)."""
    hidden, wide, head_dim = config["hidden_size"], config["intermediate_size"], config["head_dim"]
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    q_rows, kv_rows = heads * head_dim, kv_heads * head_dim
    q_heads, k_heads = (heads, kv_heads) if architecture.interleaved else (0, 0)
    o_bias, mlp_bias = config.get("attention_bias", False), config.get("mlp_bias", False)
    qkv_bias = o_bias or architecture.qkv_bias
    linears = (  # GGUF name, HF name, rows, columns, interleaved heads, bias
        ("attn_q", "self_attn.q_proj", q_rows, hidden, q_heads, qkv_bias),
        ("attn_k", "self_attn.k_proj", kv_rows, hidden, k_heads, qkv_bias),
        ("attn_v", "self_attn.v_proj", kv_rows, hidden, 0, qkv_bias),
        ("attn_output", "self_attn.o_proj", hidden, q_rows, 0, o_bias),
        ("ffn_gate", "mlp.gate_proj", wide, hidden, 0, mlp_bias),
        ("ffn_up", "mlp.up_proj", wide, hidden, 0, mlp_bias),
        ("ffn_down", "mlp.down_proj", hidden, wide, 0, mlp_bias),
    )
    norms = [("attn_norm", "input_layernorm", hidden), ("ffn_norm", "post_attention_layernorm", hidden)]
    if architecture.qk_norm:
        norms.append(("attn_q_norm", "self_attn.q_norm", head_dim))
        norms.append(("attn_k_norm", "self_attn.k_norm", head_dim))
    vocabulary = config["vocab_size"]
    expected: dict[str, tuple[str, tuple[int, ...], int]] = {
        "token_embd.weight": ("model.embed_tokens.weight", (vocabulary, hidden), 0)
    }
    for layer in range(config["num_hidden_layers"]):
        ours, theirs = f"model.layers.{layer}.", f"blk.{layer}."
        for name, hf_name, size in norms:
            expected[f"{theirs}{name}.weight"] = (f"{ours}{hf_name}.weight", (size,), 0)
        for name, hf_name, rows, columns, interleaved, bias in linears:
            expected[f"{theirs}{name}.weight"] = (f"{ours}{hf_name}.weight", (rows, columns), interleaved)
            if bias:
                expected[f"{theirs}{name}.bias"] = (f"{ours}{hf_name}.bias", (rows,), interleaved)
    expected["output_norm.weight"] = ("model.norm.weight", (hidden,), 0)
    if not config["tie_word_embeddings"]:
        expected["output.weight"] = ("lm_head.weight", (vocabulary, hidden), 0)
    return expected
