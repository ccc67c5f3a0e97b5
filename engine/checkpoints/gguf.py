"""GGUF files as checkpoints: llama.cpp's names and keys put into Hugging Face's words.

A new architecture is one entry in `ARCHITECTURES`. Sources: convert_hf_to_gguf.py and gguf-py's constants of
ggml-org/llama.cpp.
"""

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.checkpoints.checkpoint import Checkpoint, Generation, GgufVocabulary, Span, read_span
from engine.checkpoints.gguf_header import DAMAGED, GgufHeader, GgufTensor, Value, read_header
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
    keys = _Keys(path, header)
    name = keys.text("general.architecture")
    if keys.number("split.count", 1) > 1:
        raise UnsupportedModel(
            f"{path.name} is one part of a model split over several files.",
            "Join the parts with llama.cpp's `llama-gguf-split --merge`, then load the joined file.",
        )
    if name not in ARCHITECTURES:
        raise UnsupportedModel(
            f"{path.name} holds a model of architecture {name!r}, which is not supported.",
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


class _Keys:
    """Metadata asked for by key and kind; `{arch}.` stands for the architecture's prefix."""

    def __init__(self, path: Path, header: GgufHeader) -> None:
        self.path = path
        self.header = header
        self.metadata = header.metadata
        self.prefix = ""

    def full(self, key: str) -> str:
        return key.replace("{arch}", self.prefix)

    def get(self, key: str) -> Value | None:
        return self.metadata.get(self.full(key))

    def text(self, key: str, default: str | None = None) -> str:
        value = self.get(key)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            raise self.bad(key, value)
        return value

    def flag(self, key: str) -> bool | None:
        value = self.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.bad(key, value)
        return value

    def number(self, key: str, default: int | None = None, least: int = 0, most: int = 1 << 31) -> int:
        """A whole number within [least, most]."""
        value = self.get(key)
        if value is None and default is not None:
            return default
        if isinstance(value, np.ndarray):
            raise UnsupportedModel(
                f"{self.path.name} has layers of different sizes: {self.full(key)} is a list.",
                "Choose a model whose layers are all alike.",
            )
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.bad(key, value)
        return value

    def real(self, key: str, default: float | None = None) -> float:
        """A positive finite number; the shortest decimal of the stored float32 (1e-05, not
        9.99999974e-06)."""
        value = self.get(key)
        if value is None and default is not None:
            return default
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
            raise self.bad(key, value)
        with np.errstate(over="ignore"):
            short = np.float32(value)
        return float(str(short)) if short == value else float(value)

    def token_id(self, key: str, vocabulary: int) -> int | None:
        """A token id; None where absent or outside the vocabulary (llama.cpp, too, ignores those)."""
        value = self.get(key)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < vocabulary:
            return None
        return value

    def bad(self, key: str, value: Value | None) -> BadCheckpoint:
        shown = "is missing" if value is None else f"is {str(value)[:40]!r}"
        return BadCheckpoint(f"{self.path.name} is not valid: {self.full(key)} {shown}.", DAMAGED)


# -- the vocabulary ------------------------------------------------------------------------------------------


def _vocabulary(keys: _Keys) -> GgufVocabulary:
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


def _per_token(keys: _Keys, key: str, count: int) -> NDArray[np.generic] | None:
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


def _end_ids(keys: _Keys, vocabulary: int) -> tuple[int, ...]:
    """Tokens that end an answer: end of sequence, of turn, of message."""
    found = (keys.token_id(f"tokenizer.ggml.{end}_token_id", vocabulary) for end in ("eos", "eot", "eom"))
    return tuple(dict.fromkeys(token for token in found if token is not None))


# -- the configuration ---------------------------------------------------------------------------------------


def _config(keys: _Keys, architecture: Architecture, vocabulary: GgufVocabulary) -> dict[str, Any]:
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
    embedding = tensors.get("token_embd.weight")
    config: dict[str, Any] = {
        "architectures": [architecture.class_name],
        "vocab_size": embedding.shape[0] if embedding else len(vocabulary.tokens),
        "hidden_size": hidden,
        "intermediate_size": keys.number("{arch}.feed_forward_length", least=1),
        "num_hidden_layers": keys.number("{arch}.block_count", least=1, most=4096),
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_dim": head_dim,
        "hidden_act": "silu",
        "max_position_embeddings": keys.number("{arch}.context_length", least=1),
        "rms_norm_eps": keys.real("{arch}.attention.layer_norm_rms_epsilon"),
        "rope_parameters": _rope_parameters(keys, head_dim),
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


def _refuse_different_maths(keys: _Keys) -> None:
    for key in DIFFERENT_MATHS:
        value = keys.get("{arch}." + key)
        if value is None or (isinstance(value, (int, float)) and not value):
            continue
        if (
            key == "attention.sliding_window"
            and isinstance(value, int)
            and value >= keys.number("{arch}.context_length")
        ):
            continue
        raise UnsupportedModel(
            f"{keys.path.name} computes differently ({keys.prefix}.{key}), in a way not supported here.",
            "Choose another model.",
        )


def _rope_parameters(keys: _Keys, head_dim: int) -> dict[str, Any]:
    """HF's `rope_parameters`; keys as in llama.cpp's `LLM_KV_ROPE_*`."""
    theta = keys.real("{arch}.rope.freq_base", 10000.0)
    factors = keys.header.tensors.get("rope_freqs.weight")
    if factors is not None:
        return {
            "rope_type": "llama3",
            "rope_theta": theta,
            **_llama3_scaling(keys.path, factors, theta, head_dim),
        }
    kind = keys.text("{arch}.rope.scaling.type", "none")
    linear = keys.get("{arch}.rope.scale_linear")  # the older key
    factor = keys.real(
        "{arch}.rope.scaling.factor", 1.0 if linear is None else keys.real("{arch}.rope.scale_linear")
    )
    if kind == "yarn":
        return {"rope_type": "yarn", "rope_theta": theta, **_yarn_scaling(keys, factor)}
    if kind == "linear" or (kind == "none" and factor != 1.0):
        return {"rope_type": "linear", "rope_theta": theta, "factor": factor}
    if kind != "none":
        raise UnsupportedModel(
            f"{keys.path.name} scales positions by {kind!r}, which is not supported.", "Choose another model."
        )
    return {"rope_type": "default", "rope_theta": theta}


def _yarn_scaling(keys: _Keys, factor: float) -> dict[str, Any]:
    """YaRN (arXiv 2309.00071): beta_fast, beta_slow and the attention factor where the file gives them."""
    found: dict[str, Any] = {
        "factor": factor,
        "original_max_position_embeddings": keys.number(
            "{arch}.rope.scaling.original_context_length", least=1
        ),
    }
    for key, name in (("yarn_beta_fast", "beta_fast"), ("yarn_beta_slow", "beta_slow")):
        if keys.get(f"{{arch}}.rope.scaling.{key}") is not None:
            found[name] = keys.real(f"{{arch}}.rope.scaling.{key}")
    if keys.get("{arch}.rope.scaling.attn_factor") is not None:
        # llama.cpp multiplies its own 1 + 0.1 ln(factor); transformers' attention_factor replaces it.
        found["attention_factor"] = keys.real("{arch}.rope.scaling.attn_factor") * (
            1.0 + 0.1 * math.log(factor)
        )
    return found


def _llama3_scaling(path: Path, tensor: GgufTensor, theta: float, head_dim: int) -> dict[str, Any]:
    """The parameters behind Llama 3's table of frequency divisors, `[head_dim / 2]` float32.

    All Llama 3.1-3.3 models use low 1, high 4, original context 8192; the largest divisor is the factor. The
    table is computed again from them and compared, so that another scaling is never taken for this one.
    """
    if tensor.storage != "F32" or tensor.shape != (head_dim // 2,):
        raise BadCheckpoint(
            f"{path.name} is not valid: rope_freqs.weight has the shape {tensor.shape}.", DAMAGED
        )
    divisors = (
        read_span(Span(path, tensor.offset, tensor.nbytes, tensor.shape, "F32"))
        .view("<f4")
        .astype(np.float64)
    )
    factor = float(divisors.max())
    low, high, original = 1.0, 4.0, 8192
    if not 1.0 <= factor < 1e4:
        raise BadCheckpoint(f"{path.name} is not valid: rope_freqs.weight divides by {factor}.", DAMAGED)
    wavelengths = 2 * math.pi * theta ** (np.arange(0, head_dim, 2) / head_dim)
    smooth = np.clip((original / wavelengths - low) / (high - low), 0.0, 1.0)
    if not np.allclose(divisors, 1 / ((1 - smooth) / factor + smooth), rtol=1e-3):
        raise UnsupportedModel(
            f"{path.name} scales positions by a table that is not Llama 3's.",
            "Choose another file of this model.",
        )
    return {
        "factor": factor,
        "low_freq_factor": low,
        "high_freq_factor": high,
        "original_max_position_embeddings": original,
    }


# -- the tensors ---------------------------------------------------------------------------------------------


def _tensors(
    path: Path, header: GgufHeader, architecture: Architecture, config: dict[str, Any]
) -> dict[str, Span]:
    """HF name: span, every expected tensor present and of the expected shape, and nothing unknown beside
    them."""
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
    q_heads, k_heads = (heads, kv_heads) if architecture.interleaved else (0, 0)
    attention_bias, mlp_bias = config.get("attention_bias", False), config.get("mlp_bias", False)
    linears = (  # GGUF name, HF name, rows, columns, interleaved heads, bias
        (
            "attn_q",
            "self_attn.q_proj",
            heads * head_dim,
            hidden,
            q_heads,
            attention_bias or architecture.qkv_bias,
        ),
        (
            "attn_k",
            "self_attn.k_proj",
            kv_heads * head_dim,
            hidden,
            k_heads,
            attention_bias or architecture.qkv_bias,
        ),
        (
            "attn_v",
            "self_attn.v_proj",
            kv_heads * head_dim,
            hidden,
            0,
            attention_bias or architecture.qkv_bias,
        ),
        ("attn_output", "self_attn.o_proj", hidden, heads * head_dim, 0, attention_bias),
        ("ffn_gate", "mlp.gate_proj", wide, hidden, 0, mlp_bias),
        ("ffn_up", "mlp.up_proj", wide, hidden, 0, mlp_bias),
        ("ffn_down", "mlp.down_proj", hidden, wide, 0, mlp_bias),
    )
    norms = [("attn_norm", "input_layernorm", hidden), ("ffn_norm", "post_attention_layernorm", hidden)]
    if architecture.qk_norm:
        norms += [
            ("attn_q_norm", "self_attn.q_norm", head_dim),
            ("attn_k_norm", "self_attn.k_norm", head_dim),
        ]
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
