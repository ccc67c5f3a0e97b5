"""Look up the metadata of a GGUF file, and refuse missing values and values of a wrong type."""

import math
from pathlib import Path

import numpy as np

from engine.checkpoints.gguf_header import DAMAGED, GgufHeader, Value
from engine.errors import BadCheckpoint, UnsupportedModel


class Keys:
    """The metadata of the GGUF file at `path`, with one method for each type of value.

    `{arch}` in a key stands for `prefix`, the GGUF name of the architecture. If the key is missing, `text`,
    `number` and `real` return `default`, or raise `BadCheckpoint` if there is no default.
    """

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
        """Return an integer from `least` to `most`. Raises `UnsupportedModel` if the value is an array."""
        value = self.get(key)
        if value is None and default is not None:
            return default
        if isinstance(value, np.ndarray):
            raise UnsupportedModel(
                f"{self.path.name} has layers of different sizes, which is not supported: "
                f"{self.full(key)} is a list.",
                "Choose a model whose layers all have the same size.",
            )
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.bad(key, value)
        return value

    def numbers(
        self, key: str, count: int, default: int | None = None, least: int = 0, most: int = 1 << 31
    ) -> list[int]:
        """Return an integer for each of `count` layers, which are a list in the file, or one for all."""
        value = self.get(key)
        if not isinstance(value, np.ndarray):
            return [self.number(key, default, least, most)] * count
        found = [int(each) for each in value] if value.dtype.kind in "iu" else []
        if len(found) != count or not all(least <= each <= most for each in found):
            raise self.bad(key, value)
        return found

    def real(self, key: str, default: float | None = None) -> float:
        """Return a positive finite number.

        A stored float32 becomes the shortest decimal number that it stands for (1e-05, not 9.99999974e-06).
        """
        value = self.get(key)
        if value is None and default is not None:
            return default
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
            raise self.bad(key, value)
        with np.errstate(over="ignore"):
            short = np.float32(value)
        return float(str(short)) if short == value else float(value)

    def token_id(self, key: str, vocabulary: int) -> int | None:
        """Return a token id; None if it is missing or outside the vocabulary, as in llama.cpp.

        vocabulary: the number of tokens.
        """
        value = self.get(key)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < vocabulary:
            return None
        return value

    def bad(self, key: str, value: Value | None) -> BadCheckpoint:
        if isinstance(value, list):
            shown = f"is a list of {len(value)} strings"
        else:
            shown = "is missing" if value is None else f"is {str(value)[:40]!r}"
        return BadCheckpoint(f"{self.path.name} is invalid: {self.full(key)} {shown}.", DAMAGED)
