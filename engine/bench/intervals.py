"""Means with intervals: the bootstrap (Efron 1979), always with the same random numbers.

What is resampled are prompts: they differ far more than repeats of one do. Of fewer than about ten prompts
the interval is somewhat too narrow.
"""

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

RESAMPLES = 10_000
CONFIDENCE = 0.95

Numbers = NDArray[np.float64]


class Estimate(msgspec.Struct, frozen=True):
    """`low` to `high` is the 95 % interval; of a single prompt there is none."""

    value: float
    low: float | None = None
    high: float | None = None


def mean(values: Sequence[float]) -> Estimate:
    """One value for each prompt."""
    return _estimate(lambda rows: rows[:, 0].mean(-1), np.asarray([values], np.float64))


def ratio(values: Sequence[float], others: Sequence[float]) -> Estimate:
    """The mean of `values` over that of `others`, which are of the same prompts, in the same order: both are
    resampled together, so that what makes a prompt easy for both cancels."""
    pairs = np.asarray([values, others], np.float64)
    return _estimate(lambda rows: rows[:, 0].mean(-1) / rows[:, 1].mean(-1), pairs)


def _estimate(statistic: Callable[[Numbers], Numbers], samples: Numbers) -> Estimate:
    """statistic: [resamples, series, prompts] to [resamples]. samples: [series, prompts]."""
    prompts = samples.shape[1]
    value = float(statistic(samples[None])[0])
    if prompts < 2:
        return Estimate(value)
    drawn = np.random.default_rng(0).integers(prompts, size=(RESAMPLES, prompts))
    resampled = statistic(samples[:, drawn].swapaxes(0, 1))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail]).tolist()
    return Estimate(value, low, high)
