"""Measurements as curves with error bars, by matplotlib (the extra `plot`)."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from engine.bench.comparison import ALL, Row
from engine.bench.intervals import Estimate
from engine.errors import BadOption, DiskProblem, MissingExtra

FORMATS = (".png", ".svg")


class Curve(msgspec.Struct, frozen=True):
    """x -> what was measured there."""

    name: str
    points: dict[float, Estimate]


def check(path: Path) -> None:
    """Before hours of measuring: raises MissingExtra, BadOption."""
    if find_spec("matplotlib") is None:
        raise MissingExtra("Plots need matplotlib.", 'Install it: pip install "specexec-desktop[plot]".')
    if path.suffix not in FORMATS:
        raise BadOption(f"No plot can be written as {path.name}.", "Name a file that ends in .png or .svg.")
    if not path.absolute().parent.is_dir():
        raise BadOption(f"There is no folder {path.absolute().parent}.", "Make it first.")


def draw(path: Path, curves: Sequence[Curve], x: str, y: str, doubling: bool = False) -> None:
    """x, y: what the axes show, with the unit. doubling: x goes up by factors of two. Raises DiskProblem."""
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
        raise DiskProblem(f"{path}: {error.strerror}.", "Name a file that can be written.") from None


def draw_drafters(rows: Sequence[Row], path: Path) -> None:
    """Tokens per pass of all prompts: against budget where there are several, else against temperature."""
    rows = [row for row in rows if row.kind == ALL]
    budgets = {row.cell.budget for row in rows if row.cell.budget}
    temperatures = {row.cell.sampling.temperature for row in rows}
    by_budget = len(budgets) > 1 or len(temperatures) == 1
    curves: dict[str, dict[float, Estimate]] = {}
    for row in rows:
        cell, sampling = row.cell, row.cell.sampling
        name = cell.drafter
        if by_budget and len(temperatures) > 1:
            name += f", temperature {sampling.temperature:g}"
        if not by_budget and cell.budget != 0:
            name += f", budget {cell.budget or 'auto'}"
        if sampling.penalty:
            name += f", “{sampling.letter}” −{sampling.penalty:g}"
        if not by_budget:
            curves.setdefault(name, {})[sampling.temperature] = row.tokens_per_pass
        elif cell.budget == 0:  # a level to compare with
            curves[name] = dict.fromkeys(map(float, budgets), row.tokens_per_pass)
        elif cell.budget is not None:
            curves.setdefault(name, {})[cell.budget] = row.tokens_per_pass
    draw(
        path,
        [Curve(name, points) for name, points in curves.items()],
        x="budget, nodes" if by_budget else "temperature",
        y="tokens per pass, 95 % interval",
        doubling=by_budget,
    )
