"""The memory that compiled passes take for the experts that rows choose: arithmetic on the buffers of
`engine.compiled.mixture.MixtureRoom`, which is not imported here because it imports the compiler."""

import re
from collections.abc import Mapping

from engine.checkpoints import Weight
from engine.planner.tiles import FP8

# Bytes of a number in the records that packed and plain matrices read (`engine.compiled.activations`).
PACKED_RECORD, PLAIN_RECORD = 1.5, 4.0
_NUMBERS = 5 * 8  # bytes of a choice's numbers (`engine.compiled.router`)
_DOWN = re.compile(r".+\.experts\.0\.down_proj\.weight")
_GATE = re.compile(r".+\.experts\.0\.gate_(up_)?proj\.weight")
_PLAIN = ("F32", "F16", "BF16", *FP8)


def choice_nbytes(width: int, inner: int, experts: int, chosen: int, plain: bool, gated: bool = True) -> int:
    """Return the bytes that a row of a pass takes for its experts: what these and their router read and give.

    width: of a state; inner: within an expert; chosen: number of experts that a row uses; plain: whether the
    experts' weights are plain numbers; gated: whether they have a gate. The router's may be either.
    """
    record = PLAIN_RECORD if plain else PACKED_RECORD
    of_choice = 4 * ((1 + gated) * inner + width) + record * (width + inner) + _NUMBERS
    of_router = 4 * experts + (PACKED_RECORD + PLAIN_RECORD) * width
    return int(chosen * of_choice + of_router)


def row_choices(weights: Mapping[str, Weight], experts: int, chosen: int) -> int:
    """Return `choice_nbytes` of a model with these weights; 0 if it is no mixture."""
    down = next((weight for name, weight in weights.items() if _DOWN.fullmatch(name)), None)
    if down is None:
        return 0
    width, inner = down.shape
    gated = any(_GATE.fullmatch(name) for name in weights)
    return choice_nbytes(width, inner, experts, chosen, down.format in _PLAIN, gated)
