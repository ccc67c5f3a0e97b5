"""Translate the scaling of rotary positions in a GGUF file to Hugging Face's `rope_parameters`."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.checkpoints.checkpoint import read_span
from engine.checkpoints.gguf_header import DAMAGED
from engine.checkpoints.gguf_keys import Keys
from engine.errors import BadCheckpoint, UnsupportedModel

TABLE_LIMIT = 1 << 20  # maximum bytes of a table of frequency divisors; real tables have at most 512


YARN = {  # keys of rope.scaling: HF's names
    "yarn_attn_factor": "attention_factor",
    "yarn_beta_fast": "beta_fast",
    "yarn_beta_slow": "beta_slow",
}
UNROTATED = 1e30  # the divisor of pairs that proportional positions leave as they are
_VARIANTS = {"attn_factor": 1.0, "yarn_ext_factor": 1.0, "yarn_log_multiplier": 0.0}  # key: usual value


def rope_parameters(
    keys: Keys, rotated: int, theta: float = 10000.0, yarn: Mapping[str, str] = YARN
) -> dict[str, Any]:
    """Return HF's `rope_parameters`, made from the metadata keys that llama.cpp calls `LLM_KV_ROPE_*`.

    rotated: the number of elements in each head that are rotated. theta: the base to use if the file has
    none. yarn: the keys under which the converter writes HF's parameters of YaRN. Raises `BadCheckpoint` if
    a value or table is invalid; `UnsupportedModel` for an unknown scaling.
    """
    theta = keys.real("{arch}.rope.freq_base", theta)
    tensors = keys.header.tensors
    if "rope_freqs.weight" in tensors:
        return {"rope_type": "llama3", "rope_theta": theta, **_llama3_scaling(keys, theta, rotated)}
    if "rope_factors_long.weight" in tensors:
        return {"rope_type": "longrope", "rope_theta": theta, **_longrope_scaling(keys, rotated)}
    kind = keys.text("{arch}.rope.scaling.type", "none")
    linear = keys.get("{arch}.rope.scale_linear")  # an older key for the factor
    factor = keys.real(
        "{arch}.rope.scaling.factor", 1.0 if linear is None else keys.real("{arch}.rope.scale_linear")
    )
    scale = keys.get("{arch}.rope.scaling.attn_factor")  # llama.cpp multiplies cosines and sines by it
    if kind != "yarn" and scale is not None and keys.real("{arch}.rope.scaling.attn_factor") != 1.0:
        raise UnsupportedModel(
            f"{keys.path.name} scales attention ({keys.prefix}.rope.scaling.attn_factor), which is not "
            f"supported with positions of the type {kind[:40]!r}.",
            "Choose another model.",
        )
    if kind == "yarn":
        return {"rope_type": "yarn", "rope_theta": theta, **_yarn_scaling(keys, factor, yarn)}
    if kind == "linear" or (kind == "none" and factor != 1.0):
        return {"rope_type": "linear", "rope_theta": theta, "factor": factor}
    if kind != "none":
        raise UnsupportedModel(
            f"{keys.path.name} scales positions with the unsupported method {kind[:40]!r}.",
            "Choose another model.",
        )
    return {"rope_type": "default", "rope_theta": theta}


def proportional_parameters(keys: Keys, head_dim: int) -> dict[str, Any]:
    """Return the `rope_parameters` of layers that rotate only the pairs of highest frequency, the frequencies
    being those of whole heads (Gemma 4). The file has a table of divisors: 1 for these pairs, `UNROTATED` for
    the others.

    Raises `BadCheckpoint` if the table is missing or misshapen; `UnsupportedModel` for another table, or if
    positions are scaled besides.
    """
    for key, usual in (("type", "none"), ("factor", 1.0), ("attn_factor", 1.0)):
        if keys.get("{arch}.rope.scaling." + key) not in (None, usual):
            raise _unsupported_table(keys, f"and scales positions ({keys.prefix}.rope.scaling.{key})")
    divisors = _table(keys, "rope_freqs.weight", head_dim)
    rotated = int((divisors == 1.0).sum())
    part = rotated / len(divisors)
    expected = np.repeat(np.array([1.0, UNROTATED], np.float32), (rotated, len(divisors) - rotated))
    if not np.array_equal(divisors, expected) or int(part * head_dim // 2) != rotated:
        raise _unsupported_table(keys, "with other divisors")
    return {
        "rope_type": "proportional",
        "partial_rotary_factor": part,
        "rope_theta": keys.real("{arch}.rope.freq_base"),
    }


def _unsupported_table(keys: Keys, how: str) -> UnsupportedModel:
    return UnsupportedModel(
        f"{keys.path.name} rotates a part of each head {how}, which is not supported.",
        "Choose another file of this model.",
    )


def _longrope_scaling(keys: Keys, rotated: int) -> dict[str, Any]:
    """Return the parameters of LongRoPE (arXiv 2402.13753).

    They include one table of frequency divisors for contexts up to the original training context, and one for
    longer contexts.
    """
    parameters: dict[str, Any] = {
        f"{length}_factor": [
            float(str(divisor)) for divisor in _divisors(keys, f"rope_factors_{length}.weight", rotated)
        ]
        for length in ("short", "long")
    }
    parameters["original_max_position_embeddings"] = keys.number(
        "{arch}.rope.scaling.original_context_length", least=2
    )
    if keys.get("{arch}.rope.scaling.attn_factor") is not None:
        parameters["attention_factor"] = keys.real("{arch}.rope.scaling.attn_factor")
    return parameters


def _yarn_scaling(keys: Keys, factor: float, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the parameters of YaRN (arXiv 2309.00071), including the file's ramp and attention factor.

    names: as `yarn` of `rope_parameters`. Raises `UnsupportedModel` for a variant of YaRN that is not
    supported.
    """
    for key in _VARIANTS.keys() - names.keys():
        value = keys.get("{arch}.rope.scaling." + key)
        if value is not None and (isinstance(value, np.ndarray) or value != _VARIANTS[key]):
            raise UnsupportedModel(
                f"{keys.path.name} scales positions with an unsupported variant of YaRN ({key}).",
                "Choose another model.",
            )
    parameters: dict[str, Any] = {
        "factor": factor,
        "original_max_position_embeddings": keys.number(
            "{arch}.rope.scaling.original_context_length", least=1
        ),
    }
    for key, name in names.items():
        if keys.get("{arch}.rope.scaling." + key) is not None:
            parameters[name] = keys.real("{arch}.rope.scaling." + key)
    return parameters


def _llama3_scaling(keys: Keys, theta: float, rotated: int) -> dict[str, Any]:
    """Return the parameters of Llama 3's scaling, from which the file's table of frequency divisors was made.

    In all models from Llama 3.1 to 3.3, the low factor is 1, the high factor 4 and the original context 8192;
    the scaling factor is the largest divisor. The table is recomputed from these numbers and compared, so
    that another scaling is never mistaken for this one. Raises `UnsupportedModel` if the tables differ.
    """
    divisors = _divisors(keys, "rope_freqs.weight", rotated).astype(np.float64)
    factor = float(divisors.max())
    low, high, original = 1.0, 4.0, 8192
    wavelengths = 2 * math.pi * theta ** (np.arange(0, rotated, 2) / rotated)
    smooth = np.clip((original / wavelengths - low) / (high - low), 0.0, 1.0)
    if not np.allclose(divisors, 1 / ((1 - smooth) / factor + smooth), rtol=1e-3):
        raise UnsupportedModel(
            f"{keys.path.name} scales positions with an unsupported table (not Llama 3's).",
            "Choose another file of this model.",
        )
    return {
        "factor": factor,
        "low_freq_factor": low,
        "high_freq_factor": high,
        "original_max_position_embeddings": original,
    }


def _divisors(keys: Keys, name: str, rotated: int) -> NDArray[np.float32]:
    """Return the table `name`, as `_table` does. Raises `BadCheckpoint` if its numbers are implausible."""
    divisors = _table(keys, name, rotated)
    if not ((divisors > 1e-3) & (divisors < 1e4)).all():  # also False for NaN
        raise BadCheckpoint(f"{keys.path.name} is invalid: {name} contains implausible divisors.", DAMAGED)
    return divisors


def _table(keys: Keys, name: str, rotated: int) -> NDArray[np.float32]:
    """Read the tensor `name`, a table of frequency divisors; return it as float32 [rotated / 2].

    Raises `BadCheckpoint` if it is missing or has another shape.
    """
    tensor = keys.header.tensors.get(name)
    if tensor is None:
        raise BadCheckpoint(f"{keys.path.name} is incomplete: tensor {name} is missing.", DAMAGED)
    if tensor.storage != "F32" or tensor.shape != (rotated // 2,) or tensor.nbytes > TABLE_LIMIT:
        raise BadCheckpoint(
            f"{keys.path.name} is invalid: {name} has the shape {tensor.shape} instead of {(rotated // 2,)}.",
            DAMAGED,
        )
    return read_span(tensor.span()).view("<f4")
