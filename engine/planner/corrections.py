"""What was measured corrects what is predicted. Numbers in, numbers out; `planner.kept` keeps them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from msgspec import Meta

FADE = 0.7  # what an answer counts for, one answer later


Factor: TypeAlias = Annotated[float, Meta(gt=0)]


@dataclass(frozen=True, slots=True)
class Observed:
    """One answer: measured over predicted. `target`, `draft`: names of their files, "" for none; `acceptance`
    of the gain, `drafting` and `verifying` of seconds, `choosing` of tokens/s: the engine's own budgets
    against the best one."""

    target: str
    draft: str
    device: str
    acceptance: Factor
    drafting: Factor
    verifying: Factor
    choosing: Factor


@dataclass(frozen=True, slots=True)
class Correction:
    """Factors of predicted figures, as in `Observed`."""

    acceptance: float = 1.0
    drafting: float = 1.0
    verifying: float = 1.0
    choosing: float = 1.0


def corrected(history: Sequence[Observed], target: str, draft: str, device: str) -> Correction:
    """history: oldest first. Answers of this pair on this device tell; where there are none, how fast the
    device was with other pairs. Fading geometric means."""
    on_device = [each for each in history if each.device == device]
    same = [each for each in on_device if (each.target, each.draft) == (target, draft)]

    def mean(answers: list[Observed], factor: Callable[[Observed], float]) -> float:
        weights = [FADE**age for age in range(len(answers))]
        logs = [math.log(factor(each)) for each in reversed(answers)]
        total = sum(weight * log for weight, log in zip(weights, logs, strict=True))
        return math.exp(total / sum(weights)) if answers else 1.0

    return Correction(
        acceptance=mean(same, lambda each: each.acceptance),
        drafting=mean(same or on_device, lambda each: each.drafting),
        verifying=mean(same or on_device, lambda each: each.verifying),
        choosing=mean(same, lambda each: each.choosing),
    )
