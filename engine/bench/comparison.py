"""Summarises the answers that `specexec bench drafters` measures: means with 95 % intervals, and the ratio of
every drafter to one of them on the same prompts."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from statistics import fmean

import msgspec

from engine import protocol
from engine.bench.estimates import Curve, Estimate, draw, mean, ratio
from engine.bench.records import AnswerRecord, Cell, Counts

FEWEST_TOKENS = 16  # shorter answers are left out
ALL = "all"


class ComparisonRow(msgspec.Struct, frozen=True):
    """A summary of one cell's answers to one kind of prompt, or to ALL.

    `prompts`: the number of prompts. `against_per_pass`, `against_per_second`: the ratio to the drafter that
    the others are compared with; None for that drafter itself. `seconds`: the mean time of one iteration.
    `accepted`: the share of the proposed nodes that were accepted; None if no nodes were proposed.
    `survived`: the share of the trees that the draft had begun during the pass before; `survivors`: the mean
    number of nodes that these had then; `kept`: the share of the nodes grown while trees were verified with
    which next trees began, None also if a record does not tell; all None if nothing was drafted during
    passes. Replayed answers have no times.
    """

    kind: str
    cell: Cell
    prompts: int
    replayed: bool
    tokens_per_pass: Estimate
    against_per_pass: Estimate | None
    tokens_per_second: Estimate | None
    against_per_second: Estimate | None
    prefill_s: float | None
    seconds: protocol.Seconds | None
    accepted: float | None
    survived: float | None = None
    survivors: float | None = None
    kept: float | None = None


def compare(records: Sequence[AnswerRecord], against: str) -> list[ComparisonRow]:
    """Summarise answers, first over all prompts, then for each kind of prompt. Answers of fewer than
    FEWEST_TOKENS tokens are left out.

    against: name of the drafter that the others are compared with.
    """
    records = [record for record in records if record.counts.tokens >= FEWEST_TOKENS]
    cells = list(dict.fromkeys(record.cell for record in records))
    cells.sort(key=_order(cells))
    kinds = list(dict.fromkeys(record.kind for record in records))
    rows = _rows(ALL, cells, records, against)
    for kind in kinds if len(kinds) > 1 else []:
        rows += _rows(kind, cells, [record for record in records if record.kind == kind], against)
    return rows


def left_out(records: Sequence[AnswerRecord]) -> int:
    """Return the number of answers that `compare` leaves out."""
    return sum(record.counts.tokens < FEWEST_TOKENS for record in records)


def _rows(
    kind: str, cells: Sequence[Cell], records: Sequence[AnswerRecord], against: str
) -> list[ComparisonRow]:
    by_cell: dict[Cell, list[AnswerRecord]] = {}
    for record in records:
        by_cell.setdefault(record.cell, []).append(record)
    return [_row(kind, cell, by_cell, against) for cell in cells if cell in by_cell]


def _order(cells: list[Cell]) -> Callable[[Cell], tuple[int, ...]]:
    """Return a key that sorts cells by sampling, then by drafter (both in order of appearance), then by
    budget."""
    samplings = list(dict.fromkeys(cell.sampling for cell in cells))
    drafters = list(dict.fromkeys(cell.drafter for cell in cells))
    return lambda cell: (
        samplings.index(cell.sampling),
        drafters.index(cell.drafter),
        cell.budget is None,
        cell.budget or 0,
    )


def _row(kind: str, cell: Cell, by_cell: dict[Cell, list[AnswerRecord]], against: str) -> ComparisonRow:
    records = by_cell[cell]
    others = by_cell.get(_other(cell, list(by_cell), against) or cell, [])
    times = [record.times for record in records if record.times]
    passes = sum(record.counts.passes for record in records if record.times)
    seconds = {
        phase: sum(getattr(each.seconds, phase) for each in times) / passes
        for phase in protocol.Seconds.__struct_fields__
    } if times else None  # fmt: skip
    nodes = sum(record.counts.nodes for record in records)
    ahead, survived, survivors = (
        sum(getattr(record.counts, name) for record in records) for name in ("ahead", "survived", "survivors")
    )
    verified = sum(record.counts.passes for record in records)
    rates, per_pass = _by_prompt(records, _rate), _by_prompt(records, _per_pass)
    return ComparisonRow(
        kind=kind,
        cell=cell,
        prompts=len(per_pass),
        replayed=len(times) < len(records),
        tokens_per_pass=mean(list(per_pass.values())),
        against_per_pass=None if others is records else _paired(per_pass, _by_prompt(others, _per_pass)),
        tokens_per_second=mean(list(rates.values())) if rates else None,
        against_per_second=None if others is records else _paired(rates, _by_prompt(others, _rate)),
        prefill_s=fmean(each.prefill_s for each in times) if times else None,
        seconds=protocol.Seconds(**seconds) if seconds else None,
        accepted=sum(record.counts.accepted for record in records) / nodes if nodes else None,
        survived=survived / verified if ahead else None,
        survivors=survivors / survived if survived else None,
        kept=_kept([record.counts for record in records if record.counts.ahead]),
    )


def _kept(counts: Sequence[Counts]) -> float | None:
    """Return the share of nodes grown ahead with which next trees began; None if it is not known."""
    kept = [each.kept for each in counts if each.kept is not None]
    return sum(kept) / sum(each.ahead for each in counts) if counts and len(kept) == len(counts) else None


def _other(cell: Cell, cells: list[Cell], against: str) -> Cell | None:
    """Return the cell to compare `cell` with. Of the cells of the drafter `against` with the same sampling,
    this is the only one, or if there are several, the one with the same budget; None if there is none."""
    same = [each for each in cells if each.drafter == against and each.sampling == cell.sampling]
    if len(same) == 1:
        return same[0]
    return next((each for each in same if each.budget == cell.budget), None)


def _per_pass(record: AnswerRecord) -> float | None:
    return record.counts.tokens_per_pass


def _rate(record: AnswerRecord) -> float | None:
    return record.times.tokens_per_second if record.times else None


def _by_prompt(
    records: Sequence[AnswerRecord], what: Callable[[AnswerRecord], float | None]
) -> dict[str, float]:
    """Return, for each prompt, the mean of `what` over its repeats. Repeats without a value are left out."""
    by_prompt: dict[str, list[float]] = {}
    for record in records:
        value = what(record)
        if value is not None:
            by_prompt.setdefault(record.prompt, []).append(value)
    return {prompt: fmean(values) for prompt, values in by_prompt.items()}


def _paired(values: dict[str, float], others: dict[str, float]) -> Estimate | None:
    both = [prompt for prompt in values if prompt in others]
    return ratio([values[each] for each in both], [others[each] for each in both]) if both else None


def table(rows: Sequence[ComparisonRow], against: str) -> Iterator[str]:
    """Yield the lines of Markdown tables, one for each kind of prompt."""
    for kind, group in groupby(rows, lambda row: row.kind):
        if kind != ALL:
            yield ""
            yield f"{kind or 'no kind'}:"
            yield ""
        yield (
            f"| drafter | budget | temperature | prompts | tokens per pass | × {against} | tokens/s "
            f"| × {against} | prefill s | draft s | target s | wait s | other s | nodes accepted "
            "| trees survived | with nodes | nodes survived |"
        )
        yield "|---|" + "---:|" * 16
        for row in group:
            yield f"| {' | '.join(_columns(row))} |"
    if any(row.replayed for row in rows):
        yield ""
        yield "Rows without tokens/s are replayed from recorded answers of the target."


def _columns(row: ComparisonRow) -> list[str]:
    cell, sampling = row.cell, row.cell.sampling
    penalty = f", “{sampling.letter}” −{sampling.penalty:g}" if sampling.penalty else ""
    phases = [f"{getattr(row.seconds, phase):.3f}" if row.seconds else "–" for phase in PHASES]
    return [
        cell.drafter + (f", overlap {cell.overlap}" if cell.overlap != "auto" else ""),
        {None: "auto", 0: "–"}.get(cell.budget, str(cell.budget)),
        f"{sampling.temperature:g}{penalty}",
        str(row.prompts),
        _shown(row.tokens_per_pass),
        _shown(row.against_per_pass),
        _shown(row.tokens_per_second),
        _shown(row.against_per_second),
        "–" if row.prefill_s is None else f"{row.prefill_s:.2f}",
        *phases,
        "–" if row.accepted is None else f"{100 * row.accepted:.1f} %",
        "–" if row.survived is None else f"{100 * row.survived:.0f} %",
        "–" if row.survivors is None else f"{row.survivors:.0f}",
        "–" if row.kept is None else f"{100 * row.kept:.1f} %",
    ]


PHASES = ("draft", "target", "stream_wait", "other")


def _shown(estimate: Estimate | None) -> str:
    if estimate is None:
        return "–"
    interval = "" if estimate.low is None else f" ({estimate.low:.2f}–{estimate.high:.2f})"
    return f"{estimate.value:.2f}{interval}"


def plot(rows: Sequence[ComparisonRow], path: Path) -> None:
    """Plot the tokens per pass over all prompts: against the temperature if there are several temperatures
    but not several budgets, otherwise against the budget."""
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
        elif cell.budget == 0:  # without trees: a horizontal line to compare with
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
