"""Means with confidence intervals, and plots of them.

Intervals are computed by the bootstrap (Efron 1979), always with the same random numbers. Prompts are
resampled, because they differ far more than repeats of one prompt do. With fewer than about ten prompts the
interval is slightly too narrow.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.bench.options import require_package
from engine.errors import BadOption, DiskProblem

RESAMPLES = 10_000
CONFIDENCE = 0.95
PLOT_SUFFIXES = (".png", ".svg")

Numbers = NDArray[np.float64]


class Estimate(msgspec.Struct, frozen=True):
    """A mean and its 95 % interval from `low` to `high`, both None for a single prompt."""

    value: float
    low: float | None = None
    high: float | None = None


class Curve(msgspec.Struct, frozen=True):
    """A curve in a plot. `points` maps each x to the estimate measured there."""

    name: str
    points: dict[float, Estimate]


def mean(values: Sequence[float]) -> Estimate:
    """Estimate the mean of `values`, one per prompt."""
    return _estimate(lambda rows: rows[:, 0].mean(-1), np.asarray([values], np.float64))


def ratio(values: Sequence[float], others: Sequence[float]) -> Estimate:
    """Estimate the mean of `values` divided by the mean of `others`; both are for the same prompts in the
    same order.

    Both are resampled together, so that the difficulty of a prompt cancels.
    """
    pairs = np.asarray([values, others], np.float64)
    return _estimate(lambda rows: rows[:, 0].mean(-1) / rows[:, 1].mean(-1), pairs)


def _estimate(statistic: Callable[[Numbers], Numbers], samples: Numbers) -> Estimate:
    """Estimate `statistic`, and its interval by resampling the prompts.

    statistic: a function from [resamples, series, prompts] to [resamples]. samples: [series, prompts]."""
    prompts = samples.shape[1]
    value = float(statistic(samples[None])[0])
    if prompts < 2:
        return Estimate(value)
    drawn = np.random.default_rng(0).integers(prompts, size=(RESAMPLES, prompts))
    resampled = statistic(samples[:, drawn].swapaxes(0, 1))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail]).tolist()
    return Estimate(value, low, high)


def check_plot(path: Path | None) -> None:
    """Check, before hours of measuring, that a plot can be written to `path`. Raises MissingExtra if
    matplotlib is not installed; BadOption if `path` is neither PNG nor SVG, or its folder does not exist."""
    if path is None:
        return
    require_package("matplotlib", "Plotting")
    if path.suffix not in PLOT_SUFFIXES:
        raise BadOption(f"{path.name} is neither a PNG nor an SVG file.", "Name a file in .png or .svg.")
    if not path.absolute().parent.is_dir():
        raise BadOption(f"The folder {path.absolute().parent} does not exist.", "Create it first.")


def draw(path: Path, curves: Sequence[Curve], x: str, y: str, doubling: bool = False) -> None:
    """Plot curves with error bars to `path`.

    x, y: labels of the axes, with units. doubling: use a logarithmic x axis of base 2. Raises DiskProblem if
    the file cannot be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes: Any = figure.subplots()
    for curve in curves:
        places = sorted(curve.points)
        points = [curve.points[place] for place in places]
        values = [point.value for point in points]
        below = [point.value - (point.value if point.low is None else point.low) for point in points]
        above = [(point.value if point.high is None else point.high) - point.value for point in points]
        axes.errorbar(
            places, values, yerr=[below, above], marker="o", markersize=4, capsize=3, label=curve.name
        )
    ticks = sorted({place for curve in curves for place in curve.points})
    if doubling:
        axes.set_xscale("log", base=2)
    if len(ticks) <= 12:
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_ylim(bottom=0)
    axes.set(xlabel=x, ylabel=y)
    axes.grid(alpha=0.3)
    if len(curves) > 1:
        axes.legend(frameon=False)
    try:
        figure.savefig(path, dpi=160)
    except OSError as error:
        raise DiskProblem(
            f"The plot cannot be written to {path}: {error.strerror}.", "Name a file that can be written."
        ) from None
