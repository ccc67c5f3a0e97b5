"""Reads the values of a checkpoint's configuration, and refuses those that no model has."""

from collections.abc import Mapping
from typing import Any

from engine.errors import BadCheckpoint

# The least and the most that a real number may be, far around those of models that exist: a model with a
# number beyond them loads, and then answers nonsense.
# fmt: off
RANGES: dict[str, tuple[float, float]] = {
    "rms_norm_eps": (1e-20, 0.1), "norm_eps": (1e-20, 0.1),  # 1e-8 to 1e-5
    "layer_norm_epsilon": (1e-20, 0.1),  # 1e-5
    "block_ffn_dim_multiplier": (1e-3, 1e3),  # 1
    "query_pre_attn_scalar": (1, 1e6),  # 144 to 256
    "attn_logit_softcapping": (0.1, 1e6),  # 50
    "final_logit_softcapping": (0.1, 1e6),  # 30
    "clip_qkv": (0.01, 1e6),  # 8
    "routed_scaling_factor": (1e-3, 1e3),  # 1 to 2.5
    "embedding_multiplier": (1e-3, 1e4), "logits_scaling": (1e-3, 1e4),  # 12, 8
    "residual_multiplier": (1e-4, 100), "attention_multiplier": (1e-6, 100),  # 0.22, 0.0078
    "llama_4_scaling_beta": (0, 100),  # 0.1
    "swiglu_limit": (0.1, 1e6), "swiglu_alpha": (0.01, 100),  # 7, 1.702
    "time_step_min": (0, 100), "time_step_max": (0, 1e6),  # 0 or 0.001, 0.1
    "rope_theta": (2, 1e15),  # 1e4 to 5e10
    "partial_rotary_factor": (0, 2),
    "factor": (0.01, 1e5),  # 0.25 to 128
    "attention_factor": (0.01, 100),  # about 1.2
    "low_freq_factor": (0.01, 1e3), "high_freq_factor": (0.01, 1e3),  # 1, 4
    "short_factor": (1e-3, 1e4), "long_factor": (1e-3, 1e4),  # 1 to 65
    "mscale": (0, 100), "mscale_all_dim": (0, 100), "beta_fast": (0, 1e5), "beta_slow": (0, 1e5),
}
# fmt: on


def bad_configuration(name: str, architecture: str, reason: str) -> BadCheckpoint:
    """Return the error for an invalid configuration. name: the model's file or folder."""
    return BadCheckpoint(
        f"The configuration of {name} is not one of a {architecture} model: {reason[:400]}",
        "Download the model again, or choose another.",
    )


class Configuration:
    """The values of a configuration, with one method for each type. Each method raises BadCheckpoint if the
    value is missing, has another type, or is outside its limits. A value of None is one that is null; only
    the methods `..._or_none` accept it.

    Attribute: `values`, which may hold anything that JSON can.
    """

    def __init__(self, name: str, architecture: str, values: Mapping[str, Any]) -> None:
        """name: the model's file or folder, for messages."""
        self._name = name
        self._architecture = architecture
        self.values = values

    def bad(self, reason: str) -> BadCheckpoint:
        return bad_configuration(self._name, self._architecture, reason)

    def part(self, key: str) -> dict[str, Any]:
        """Return the object under `key`; an empty one if there is none."""
        value = self.values.get(key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self._bad(key)
        return value

    def of(self, values: Mapping[str, Any]) -> "Configuration":
        """Return other values of the same model."""
        return Configuration(self._name, self._architecture, values)

    def whole(self, key: str, most: int, least: int = 1) -> int:
        value = self.values.get(key)
        if type(value) is not int or not least <= value <= most:
            raise self._bad(key)
        return value

    def whole_or_none(self, key: str, most: int, least: int = 1) -> int | None:
        return None if self.values.get(key) is None else self.whole(key, most, least)

    def real(self, key: str) -> float:
        """Return a number within its range in RANGES."""
        value: Any = self.values.get(key)
        least, most = RANGES[key]
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not least <= value <= most:
            raise self._bad(key)
        return float(value)

    def real_or_none(self, key: str) -> float | None:
        return None if self.values.get(key) is None else self.real(key)

    def flag(self, key: str) -> bool:
        value = self.values.get(key)
        if not isinstance(value, bool):
            raise self._bad(key)
        return value

    def text(self, key: str) -> str:
        value = self.values.get(key)
        if not isinstance(value, str):
            raise self._bad(key)
        return value

    def reals(self, key: str, count: int) -> tuple[float, ...]:
        """Return a list of `count` real numbers."""
        value = self.values.get(key)
        if not isinstance(value, list) or len(value) != count:
            raise self.bad(f"{key} is not a list of {count} numbers")
        return tuple(self.of({key: number}).real(key) for number in value)

    def choices(self, key: str, count: int, allowed: tuple[str, ...]) -> list[str] | None:
        """Return a list of `count` texts, each one of `allowed`; None if there is no list."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != count or any(each not in allowed for each in value):
            raise self.bad(f"{key} is not a list of {count} times {' or '.join(allowed)}")
        return value

    def _bad(self, key: str) -> BadCheckpoint:
        return self.bad(f"{key} is {_shown(self.values[key])}" if key in self.values else f"{key} is missing")


def _shown(value: Any) -> str:
    """Return a value as a few characters; values may be nested or have any length."""
    if isinstance(value, int) and value.bit_length() > 64:
        return "a number of absurd size"
    if isinstance(value, str):
        return repr(value[:40])
    return repr(value) if value is None or isinstance(value, (int, float)) else f"a {type(value).__name__}"
