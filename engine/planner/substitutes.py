"""The formats of the substitutes with which a streamed target drafts for itself.

Plans choose the one that promises most tokens per second: with more bits, more guesses are right, but less of
the target is resident beside the substitutes, so that a pass reads more.
"""

from dataclasses import dataclass

from engine.checkpoints.storage import BLOCKS


@dataclass(frozen=True, slots=True)
class SubstituteFormat:
    """A format of substitutes.

    Attributes: `name`, as in BLOCKS; `bits`: per weight in the tiles of compiled passes, which is what
    substitutes take in memory (see `engine.compiled.layout`); `gain`: the gain of trees that are grown with
    them (see `planner.acceptance`), relative to the gain with Q4_0.
    """

    name: str
    bits: float
    gain: float

    @property
    def stored_bits(self) -> float:
        """Bits per weight on the disk."""
        values, nbytes = BLOCKS[self.name]
        return 8 * nbytes / values


# Fewest bits first. Each gain is an estimate for any model from what was measured with one, Qwen2.5-Coder
# 1.5B in bfloat16 (docs/benchmarks/streaming.md, "A target as its own draft").
FORMATS = (
    SubstituteFormat("Q2_K", 3.125, 0.8),
    SubstituteFormat("Q3_K", 3.5625, 1.0),
    SubstituteFormat("Q4_0", 4.5, 1.0),
)
SMALLEST = FORMATS[0].name
MOST_SHARE = 0.8  # of a matrix's bytes that its substitute may take; otherwise too little is saved


def usable_formats(columns: int, bits: float) -> list[SubstituteFormat]:
    """Return the formats for a matrix with rows of so many columns, stored in so many bits per weight: those
    that are much smaller. Fewest bits first."""
    return [each for each in FORMATS if not columns % BLOCKS[each.name][0] and each.bits <= MOST_SHARE * bits]


def nearest_format(wanted: str, columns: int, bits: float) -> SubstituteFormat | None:
    """Return the usable format that has about as many bits as the one called `wanted`; None if none is
    usable. columns, bits: as for `usable_formats`."""
    aim = next(each.bits for each in FORMATS if each.name == wanted)
    return min(usable_formats(columns, bits), key=lambda each: abs(each.bits - aim), default=None)
