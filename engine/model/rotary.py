"""Rotary positions: the frequencies of a model, and the cosines and sines of every position.

Some frequencies depend on the length of the text. They are those of a text as long as the context, and fixed:
if they changed with the text, cached keys and new queries would have different ones. Beyond its original
context, LongRoPE (arXiv 2402.13753) has the long factors for every position, as in llama.cpp.

The frequencies are those of transformers' `ROPE_INIT_FUNCTIONS`, in float32 where these compute in float32.
Powers are rounded once from float64. torch's differ from them by at most 1 ulp, and so about one frequency in
a hundred differs from transformers', by 1 or 2 ulp.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

UNROTATED = "none"  # the type of layers without positions, which no configuration names
_POSITIONS = 256  # factors are computed for so many positions at a time

Frequencies = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Rotary:
    """One kind of rotary positions of a model.

    Attributes: `type`, a name in TYPES, or UNROTATED; `base`; `width`, how many numbers of a head are
    rotated; `positions`, the longest text of the model, and `original`, that of its first training, tokens;
    the others as transformers' RopeParameters explains them.
    """

    type: str
    base: float
    width: int
    positions: int
    original: int = 0
    factor: float | None = None  # None: positions / original
    attention_factor: float | None = None  # None: computed from `factor`
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    mscale: float | None = None
    mscale_all_dim: float | None = None
    truncate: bool = True
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0
    short_factor: tuple[float, ...] = ()
    long_factor: tuple[float, ...] = ()
    part: float = 1.0  # of a head's pairs, where the others have a frequency of 0
    beta: float = 0.0  # queries grow by it with the logarithm of the position (Llama 4, Ministral 3)

    def scale(self) -> float:
        return self.positions / self.original if self.factor is None else self.factor


def frequencies(rotary: Rotary, context: int) -> tuple[Frequencies, float]:
    """Return the frequencies, float32 [pairs], for a context of that many tokens, and the factor of cosines
    and sines. Raises ArithmeticError or ValueError if there are none for such numbers."""
    if rotary.type == UNROTATED:  # the cosine of 0 is 1, and its sine 0: queries and keys stay as they are
        return np.zeros(-(-rotary.width // 2), np.float32), 1.0
    with np.errstate(all="ignore"):
        found, factor = TYPES[rotary.type](rotary, context)
    if not np.isfinite(found).all() or not math.isfinite(factor):
        raise ArithmeticError("the rotary frequencies are not finite")
    return found, factor


class RotaryFactors:
    """Cosines and sines of every kind of rotary positions of a model.

    Attributes: `pairs_of`, for each kind the number of pairs that a head's rotated numbers form; `pairs`, the
    largest of them.
    """

    def __init__(self, kinds: Sequence[Rotary], context: int) -> None:
        """context: the length of a text, in tokens, that frequencies are fixed for."""
        self._first = kinds[0]
        self._kinds = [frequencies(kind, context) for kind in kinds]
        self.pairs_of = [len(found) for found, _ in self._kinds]
        self.pairs = max(self.pairs_of)
        self._table = np.zeros((len(kinds), 2, 0, self.pairs), np.float32)

    def at(self, positions: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the cosines and sines, float32 [kinds, 2, rows, pairs], of positions, int64 [rows]. Kinds
        with fewer pairs have zeros behind them."""
        # Positions are computed in blocks of one size, so that a position's factors are always the same.
        done, last = self._table.shape[2], int(positions.max())
        if done <= last:
            blocks = [self._block(start) for start in range(done, last + 1, _POSITIONS)]
            self._table = np.concatenate([self._table, *blocks], axis=2)
        return np.ascontiguousarray(self._table[:, :, positions])

    def of_queries(self, positions: NDArray[np.int64]) -> NDArray[np.float32] | None:
        """Return the factors of queries at positions, int64 [rows], float32 [rows]; None if all are 1."""
        if not self._first.beta:
            return None
        turns = np.floor_divide(positions, self._first.original).astype(np.float32)
        return (1 + np.float32(self._first.beta) * np.log(1 + turns)).astype(np.float32)

    def _block(self, start: int) -> NDArray[np.float32]:
        positions = np.arange(start, start + _POSITIONS).astype(np.float32)[:, None]
        kinds = []
        for found, factor in self._kinds:
            angles = (positions * found).astype(np.float64)
            waves = np.stack([np.cos(angles), np.sin(angles)]).astype(np.float32)
            absent = self.pairs - len(found)
            kinds.append(np.pad(waves * np.float32(factor), ((0, 0), (0, 0), (0, absent))))
        return np.stack(kinds)


def _powers(base: float, width: int) -> Frequencies:
    """Return base^(2i / width), the inverse of the plain frequencies, for each pair i."""
    exponents = np.arange(0, width, 2).astype(np.float32) / np.float32(width)
    powers: NDArray[np.float64] = np.float64(np.float32(base)) ** exponents.astype(np.float64)
    return powers.astype(np.float32)


def _plain(rotary: Rotary, context: int) -> tuple[Frequencies, float]:
    return np.reciprocal(_powers(rotary.base, rotary.width)), 1.0


def _linear(rotary: Rotary, context: int) -> tuple[Frequencies, float]:
    return _plain(rotary, context)[0] / np.float32(rotary.scale()), 1.0


def _proportional(rotary: Rotary, context: int) -> tuple[Frequencies, float]:
    """Gemma 4: the frequencies of whole heads, of which only the first pairs are rotated."""
    found, _ = _linear(rotary, context)
    found[int(rotary.part * rotary.width // 2) :] = 0
    return found, 1.0


def _dynamic(rotary: Rotary, context: int) -> tuple[Frequencies, float]:
    """NTK: the base is stretched for the context."""
    width, factor = rotary.width, rotary.scale()
    longer = max(context, rotary.positions) / rotary.positions
    base = rotary.base * (factor * longer - (factor - 1)) ** (width / (width - 2))
    return np.reciprocal(_powers(base, width)), 1.0


def _yarn(rotary: Rotary, context: int) -> tuple[Frequencies, float]:
    """YaRN (arXiv 2309.00071): slow frequencies are divided by the factor, fast ones are not, and those
    between are mixed."""
    width, factor = rotary.width, rotary.scale()
    powers = _powers(rotary.base, width)
    low, high = (
        width * math.log(rotary.original / (turns * 2 * math.pi)) / (2 * math.log(rotary.base))
        for turns in (rotary.beta_fast, rotary.beta_slow)
    )
    if rotary.truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, width - 1)
    if low == high:
        high += 0.001
    ramp = (np.arange(width // 2).astype(np.float32) - np.float32(low)) / np.float32(high - low)
    kept = 1 - ramp.clip(0, 1)
    slow, fast = np.reciprocal(np.float32(factor) * powers), np.reciprocal(powers)
    return slow * (1 - kept) + fast * kept, _yarn_attention(rotary, factor)


def _yarn_attention(rotary: Rotary, factor: float) -> float:
    if rotary.attention_factor is not None:
        return rotary.attention_factor

    def scale(weight: float) -> float:
        return 1.0 if factor <= 1 else 0.1 * weight * math.log(factor) + 1.0

    if rotary.mscale and rotary.mscale_all_dim:
        return scale(rotary.mscale) / scale(rotary.mscale_all_dim)
    return scale(1.0)


def _longrope(rotary: Rotary, context: int) -> tuple[Frequencies, float]:
    stretch = rotary.long_factor if context > rotary.original else rotary.short_factor
    attention, factor = rotary.attention_factor, rotary.scale()
    if attention is None and factor <= 1:
        attention = 1.0
    if attention is None:
        attention = math.sqrt(1 + math.log(factor) / math.log(rotary.original))
    powers = _powers(rotary.base, rotary.width)
    return np.reciprocal(np.array(stretch, np.float32) * powers), attention


def _llama3(rotary: Rotary, context: int) -> tuple[Frequencies, float]:
    """Llama 3.1: long waves are divided by the factor, short ones are not, and those between are mixed."""
    plain, factor = _plain(rotary, context)[0], np.float32(rotary.scale())
    low, high, original = rotary.low_freq_factor, rotary.high_freq_factor, rotary.original
    waves = 1 / plain * np.float32(2 * math.pi)
    slow, fast = waves > np.float32(original / low), waves < np.float32(original / high)
    scaled = np.where(slow, plain / factor, plain)
    share = (1 / waves * np.float32(original) - np.float32(low)) / np.float32(high - low)
    mixed = (1 - share) * scaled / factor + share * scaled
    return np.where(slow | fast, scaled, mixed), 1.0


TYPES: dict[str, Callable[[Rotary, int], tuple[Frequencies, float]]] = {
    "default": _plain,
    "linear": _linear,
    "dynamic": _dynamic,
    "yarn": _yarn,
    "longrope": _longrope,
    "llama3": _llama3,
    "proportional": _proportional,
}
CHANGING = ("dynamic", "longrope")  # these depend on the length of the context
