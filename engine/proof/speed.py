"""The outcome of a check: the speed of a kernel, or an error because its result differs, or because a safer
way takes less time."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Speed:
    """A measured speed. Attributes: as in `TriedWay`."""

    rate: float
    possible: float | None
    unit: str
    remark: str = ""
    launch_s: float | None = None


class Differs(Exception):
    """A result of the card that is not the processor's."""


class Slow(Exception):
    """A way is right, but a safer one takes less time."""


def expect(shown: Tensor, expected: Tensor, tolerance: Tensor, what: str) -> None:
    """Raise `Differs` unless each number shown is within `tolerance` of the expected one. shown: a tensor on
    the card; expected, tolerance: tensors on the processor, whose shapes broadcast."""
    wide = expected if expected.dtype == torch.uint8 else expected.double()
    difference = (shown.cpu().to(wide.dtype) - wide).abs()
    wrong = ~(difference <= tolerance)  # NaN is wrong
    if wrong.any():
        share = float(wrong.double().mean())
        raise Differs(f"{share:.2%} of {what} differ, by {float(difference.double().max()):.3g} at most.")
