"""How a GGUF file scales rotary positions, as Hugging Face's `rope_parameters`."""

import math
from pathlib import Path
from typing import Any

import numpy as np

from engine.checkpoints.checkpoint import Span, read_span
from engine.checkpoints.gguf_header import DAMAGED, GgufTensor
from engine.checkpoints.gguf_keys import Keys
from engine.errors import BadCheckpoint, UnsupportedModel


def rope_parameters(keys: Keys, head_dim: int) -> dict[str, Any]:
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


def _yarn_scaling(keys: Keys, factor: float) -> dict[str, Any]:
    """YaRN (arXiv 2309.00071), with what the file says of its ramp and attention factor."""
    for key, usual in (("attn_factor", 1.0), ("yarn_ext_factor", 1.0), ("yarn_log_multiplier", 0.0)):
        if keys.get("{arch}.rope.scaling." + key) not in (None, usual):
            raise UnsupportedModel(
                f"{keys.path.name} scales positions by a kind of YaRN that is not supported ({key}).",
                "Choose another model.",
            )
    found: dict[str, Any] = {
        "factor": factor,
        "original_max_position_embeddings": keys.number(
            "{arch}.rope.scaling.original_context_length", least=1
        ),
    }
    names = {
        "yarn_attn_factor": "attention_factor",
        "yarn_beta_fast": "beta_fast",
        "yarn_beta_slow": "beta_slow",
    }
    for key, name in names.items():
        if keys.get("{arch}.rope.scaling." + key) is not None:
            found[name] = keys.real("{arch}.rope.scaling." + key)
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
