"""When an answer may be complete. Knows no Qt."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

FEW = 8  # tokens; before, the speed says little
ENOUGH = 3  # answers; fewer say little of the next


@dataclass(frozen=True, slots=True)
class ExpectedEnd:
    """seconds: from now. is_bound: it will not be later at this speed; else it is as long as answers usually
    are."""

    seconds: float
    is_bound: bool


def expected_end(
    tokens: int, tokens_per_second: float, most: int | None, usual: int | None
) -> ExpectedEnd | None:
    """tokens: so far. most: tokens it may have. usual: tokens answers have. None: nobody can say."""
    if tokens < FEW or tokens_per_second <= 0:
        return None
    if most is not None:
        return ExpectedEnd(max(0, most - tokens) / tokens_per_second, is_bound=True)
    if usual is not None and tokens < usual:
        return ExpectedEnd((usual - tokens) / tokens_per_second, is_bound=False)
    return None


def usual_tokens(lengths: Sequence[int]) -> int | None:
    """Of answers before, in tokens; None where there were few."""
    return round(median(lengths)) if len(lengths) >= ENOUGH else None
