"""How a GGUF file scales rotary positions, as Hugging Face's `rope_parameters`."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.checkpoints.checkpoint import read_span
from engine.checkpoints.gguf_header import DAMAGED
from engine.checkpoints.gguf_keys import Keys
from engine.errors import BadCheckpoint, UnsupportedModel

TABLE_LIMIT = 1 << 20  # bytes of a table of frequency divisors; real ones take 512 at most


def rope_parameters(keys: Keys, rotated: int, theta: float = 10000.0) -> dict[str, Any]:
    """HF's `rope_parameters`; keys as in llama.cpp's `LLM_KV_ROPE_*`.

    rotated: numbers of each head that are rotated; theta: the base where the file does not say.
    """
    theta = keys.real("{arch}.rope.freq_base", theta)
    tensors = keys.header.tensors
    if "rope_freqs.weight" in tensors:
        return {"rope_type": "llama3", "rope_theta": theta, **_llama3_scaling(keys, theta, rotated)}
    if "rope_factors_long.weight" in tensors:
        return {"rope_type": "longrope", "rope_theta": theta, **_longrope_scaling(keys, rotated)}
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
            f"{keys.path.name} scales positions by {kind[:40]!r}, which is not supported.",
            "Choose another model.",
        )
    return {"rope_type": "default", "rope_theta": theta}


def _longrope_scaling(keys: Keys, rotated: int) -> dict[str, Any]:
    """LongRoPE (arXiv 2402.13753): divisors for the context the model was first trained with, and for longer
    ones."""
    found: dict[str, Any] = {
        f"{length}_factor": [
            float(str(divisor)) for divisor in _divisors(keys, f"rope_factors_{length}.weight", rotated)
        ]
        for length in ("short", "long")
    }
    found["original_max_position_embeddings"] = keys.number(
        "{arch}.rope.scaling.original_context_length", least=2
    )
    if keys.get("{arch}.rope.scaling.attn_factor") is not None:
        found["attention_factor"] = keys.real("{arch}.rope.scaling.attn_factor")
    return found


def _yarn_scaling(keys: Keys, factor: float) -> dict[str, Any]:
    """YaRN (arXiv 2309.00071), with what the file says of its ramp and attention factor."""
    for key, usual in (("attn_factor", 1.0), ("yarn_ext_factor", 1.0), ("yarn_log_multiplier", 0.0)):
        said = keys.get("{arch}.rope.scaling." + key)
        if said is not None and (isinstance(said, np.ndarray) or said != usual):
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


def _llama3_scaling(keys: Keys, theta: float, rotated: int) -> dict[str, Any]:
    """The parameters behind Llama 3's table of frequency divisors.

    All Llama 3.1-3.3 models use low 1, high 4, original context 8192; the largest divisor is the factor. The
    table is computed again from them and compared, so that another scaling is never taken for this one.
    """
    divisors = _divisors(keys, "rope_freqs.weight", rotated).astype(np.float64)
    factor = float(divisors.max())
    low, high, original = 1.0, 4.0, 8192
    wavelengths = 2 * math.pi * theta ** (np.arange(0, rotated, 2) / rotated)
    smooth = np.clip((original / wavelengths - low) / (high - low), 0.0, 1.0)
    if not np.allclose(divisors, 1 / ((1 - smooth) / factor + smooth), rtol=1e-3):
        raise UnsupportedModel(
            f"{keys.path.name} scales positions by a table that is not Llama 3's.",
            "Choose another file of this model.",
        )
    return {
        "factor": factor,
        "low_freq_factor": low,
        "high_freq_factor": high,
        "original_max_position_embeddings": original,
    }


def _divisors(keys: Keys, name: str, rotated: int) -> NDArray[np.float32]:
    """A table of frequency divisors, [rotated / 2] float32, none absurd."""
    tensor = keys.header.tensors.get(name)
    if tensor is None:
        raise BadCheckpoint(f"{keys.path.name} is not complete: tensor {name} is missing.", DAMAGED)
    if tensor.storage != "F32" or tensor.shape != (rotated // 2,) or tensor.nbytes > TABLE_LIMIT:
        raise BadCheckpoint(
            f"{keys.path.name} is not valid: {name} has the shape {tensor.shape}, not {(rotated // 2,)}.",
            DAMAGED,
        )
    divisors = read_span(tensor.span()).view("<f4")
    if not ((divisors > 1e-3) & (divisors < 1e4)).all():  # a NaN is neither
        raise BadCheckpoint(f"{keys.path.name} is not valid: {name} divides by absurd numbers.", DAMAGED)
    return divisors
