"""How the blocks of a format store their scales: which bytes are finite numbers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_MOST_EXPONENT = 252  # of E8M0: with larger ones, a number may be infinite; 255 is NaN

# Blocks, uint8 [blocks, bytes] of numpy or torch, and the offset of a scale in a block.
Blocks = Any


@dataclass(frozen=True, slots=True)
class ScaleKind:
    """A way to store scales.

    Attributes: `finite`, whether the scales at an offset of all blocks are finite numbers; `limit`, which
    makes those of random blocks finite and of usual size, in place; `tile`, the type with 16 bits that holds
    these scales exactly, F16 or BF16.
    """

    finite: Callable[[Blocks, int], bool]
    limit: Callable[[Blocks, int], None]
    tile: str


def _is_half_finite(blocks: Blocks, at: int) -> bool:
    # The high byte of an infinite or NaN float16 is, in bits, s11111mm (s: sign, m: mantissa).
    return not (blocks[:, at + 1] & 0x7C == 0x7C).any()


def _limit_half(blocks: Blocks, at: int) -> None:
    blocks[:, at + 1] &= 0xBF  # clears the highest bit of the exponent: below 2


def _is_quartered_finite(blocks: Blocks, at: int) -> bool:
    # The two highest quarters of an infinite or NaN float16 are, in bits, s111 and 11mm.
    high, low = blocks[:, at + 7] & 0x70 == 0x70, blocks[:, at + 5] & 0xC0 == 0xC0
    return not (high & low).any()


def _limit_quartered(blocks: Blocks, at: int) -> None:
    blocks[:, at + 7] &= 0x9F  # below 2^-7


def _is_exponent_finite(blocks: Blocks, at: int) -> bool:
    return not (blocks[:, at] > _MOST_EXPONENT).any()


def _limit_exponent(blocks: Blocks, at: int) -> None:
    blocks[:, at] &= 15
    blocks[:, at] |= 112  # 2^-16 to 1/2


def _is_small_finite(blocks: Blocks, at: int) -> bool:
    return True  # ggml reads NaN as 0


def _limit_small(blocks: Blocks, at: int) -> None:
    blocks[:, at] &= 0x17  # below 1/16


KINDS = {
    "F16": ScaleKind(_is_half_finite, _limit_half, "F16"),
    # A quarter of a float16 in the highest four bits of each of four 16-bit words, the lowest one first.
    "F16_IN_QUARTERS": ScaleKind(_is_quartered_finite, _limit_quartered, "F16"),
    # A byte that is an exponent (OCP Microscaling Formats).
    "E8M0": ScaleKind(_is_exponent_finite, _limit_exponent, "BF16"),
    # A byte with four bits of exponent and three of mantissa, the sign ignored.
    "E4M3": ScaleKind(_is_small_finite, _limit_small, "F16"),
}
