"""Correct predictions by what was measured in past answers, which is kept in the user's data folder."""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

import msgspec
import platformdirs
from msgspec import Meta

from engine.documents import read_json
from engine.files import write_whole

FADE = 0.7  # weight of an answer relative to the answer after it
MOST = 200  # maximum number of answers kept


Factor: TypeAlias = Annotated[float, Meta(gt=0)]


@dataclass(frozen=True, slots=True)
class Observed:
    """What one answer taught: the ratios of its measured figures to the predicted ones.

    Attributes: `target`, `draft`: names of the models' files, "" without a draft; `acceptance`: ratio of the
    gains; `drafting`, `verifying`: ratios of the seconds; `choosing`: measured tokens/s, with the budgets
    that the engine chose, relative to the tokens/s predicted for the best plan.
    """

    target: str
    draft: str
    device: str
    acceptance: Factor
    drafting: Factor
    verifying: Factor
    choosing: Factor


@dataclass(frozen=True, slots=True)
class Correction:
    """Factors by which predicted figures are multiplied; their names are those in `Observed`."""

    acceptance: float = 1.0
    drafting: float = 1.0
    verifying: float = 1.0
    choosing: float = 1.0


def corrected(history: Sequence[Observed], target: str, draft: str, device: str) -> Correction:
    """Return the geometric means of the ratios in past answers of this pair on this device; newer answers
    have more weight. If the pair has no answers there, `drafting` and `verifying` are the means over the
    other pairs on the device. A factor without any answers is 1.

    history: past answers, oldest first.
    """
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


@dataclass(frozen=True, slots=True)
class AnswerHistory:
    """The content of planner.json: past answers, oldest first."""

    answers: tuple[Observed, ...] = ()


def history() -> Sequence[Observed]:
    """Read the past answers, oldest first; there are none if the file is missing or damaged."""
    try:
        return read_json(_file(), AnswerHistory).answers
    except (OSError, ValueError):
        return ()


def remember(answer: Observed) -> None:
    """Add an answer to the history and save it. If the folder is not writable, the answer is dropped."""
    file = _file()
    kept = AnswerHistory((*history(), answer)[-MOST:])
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, msgspec.json.format(msgspec.json.encode(kept)))


def _file() -> Path:
    return platformdirs.user_data_path("specexec-desktop", appauthor=False) / "planner.json"
