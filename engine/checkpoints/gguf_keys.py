"""The metadata of a GGUF file, asked for by key and kind; what is missing or of another kind is refused."""

import math
from pathlib import Path

import numpy as np

from engine.checkpoints.gguf_header import DAMAGED, GgufHeader, Value
from engine.errors import BadCheckpoint, UnsupportedModel


class Keys:
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
        if isinstance(value, list):
            shown = f"is a list of {len(value)} texts"
        else:
            shown = "is missing" if value is None else f"is {str(value)[:40]!r}"
        return BadCheckpoint(f"{self.path.name} is not valid: {self.full(key)} {shown}.", DAMAGED)
