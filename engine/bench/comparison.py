"""What the answers of a grid of drafters come to: means with 95 % intervals, each beside one drafter's on the
same prompts."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from statistics import fmean

import msgspec

from engine import protocol
from engine.bench.drafters import Cell, Record
from engine.bench.intervals import Estimate, mean, ratio

FEWEST_TOKENS = 16  # of an answer that counts
ALL = "all"


class Row(msgspec.Struct, frozen=True):
    """Of one cell and one kind of prompt (or ALL). `against_…`: times what the other drafter has, None for
    itself. `seconds`: of one iteration. `accepted`: share of the nodes proposed, None where there were none.
    Of replayed answers there are no times."""

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


def compare(records: Sequence[Record], against: str) -> list[Row]:
    """against: name of a drafter. Answers that ended within FEWEST_TOKENS are left out."""
    records = [record for record in records if record.counts.tokens >= FEWEST_TOKENS]
    cells = list(dict.fromkeys(record.cell for record in records))
    cells.sort(key=_order(cells))
    kinds = list(dict.fromkeys(record.kind for record in records))
    rows = _rows(ALL, cells, records, against)
    for kind in kinds if len(kinds) > 1 else []:
        rows += _rows(kind, cells, [record for record in records if record.kind == kind], against)
    return rows


def left_out(records: Sequence[Record]) -> int:
    """Answers that do not count."""
    return sum(record.counts.tokens < FEWEST_TOKENS for record in records)


def _rows(kind: str, cells: Sequence[Cell], records: Sequence[Record], against: str) -> list[Row]:
    by_cell: dict[Cell, list[Record]] = {}
    for record in records:
        by_cell.setdefault(record.cell, []).append(record)
    return [_row(kind, cell, by_cell, against) for cell in cells if cell in by_cell]


def _order(cells: list[Cell]) -> Callable[[Cell], tuple[int, ...]]:
    """By sampling, then drafter, each as it came first; then by budget."""
    samplings = list(dict.fromkeys(cell.sampling for cell in cells))
    drafters = list(dict.fromkeys(cell.drafter for cell in cells))
    return lambda cell: (
        samplings.index(cell.sampling),
        drafters.index(cell.drafter),
        cell.budget is None,
        cell.budget or 0,
    )


def _row(kind: str, cell: Cell, by_cell: dict[Cell, list[Record]], against: str) -> Row:
    records = by_cell[cell]
    others = by_cell.get(_other(cell, list(by_cell), against) or cell, [])
    times = [record.times for record in records if record.times]
    passes = sum(record.counts.passes for record in records if record.times)
    seconds = {
        phase: sum(getattr(each.seconds, phase) for each in times) / passes
        for phase in protocol.Seconds.__struct_fields__
    } if times else None  # fmt: skip
    nodes = sum(record.counts.nodes for record in records)
    rates, per_pass = _by_prompt(records, _rate), _by_prompt(records, _per_pass)
    return Row(
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
    )


def _other(cell: Cell, cells: list[Cell], against: str) -> Cell | None:
    """The cell of `against` with the same settings; where it has no trees, or only one budget, that one."""
    same = [each for each in cells if each.drafter == against and each.sampling == cell.sampling]
    if len(same) == 1:
        return same[0]
    return next((each for each in same if each.budget == cell.budget), None)


def _per_pass(record: Record) -> float | None:
    return record.counts.tokens_per_pass


def _rate(record: Record) -> float | None:
    return record.times.tokens_per_second if record.times else None


def _by_prompt(records: Sequence[Record], what: Callable[[Record], float | None]) -> dict[str, float]:
    """The mean over repeats, where there is a value."""
    found: dict[str, list[float]] = {}
    for record in records:
        value = what(record)
        if value is not None:
            found.setdefault(record.prompt, []).append(value)
    return {prompt: fmean(values) for prompt, values in found.items()}


def _paired(values: dict[str, float], others: dict[str, float]) -> Estimate | None:
    both = [prompt for prompt in values if prompt in others]
    return ratio([values[each] for each in both], [others[each] for each in both]) if both else None


def table(rows: Sequence[Row], against: str) -> Iterator[str]:
    """Markdown, one table for each kind."""
    for kind, group in groupby(rows, lambda row: row.kind):
        if kind != ALL:
            yield ""
            yield f"{kind or 'no kind'}:"
            yield ""
        yield (
            f"| drafter | budget | temperature | prompts | tokens per pass | × {against} | tokens/s "
            f"| × {against} | prefill s | draft s | target s | wait s | other s | nodes accepted |"
        )
        yield "|---|" + "---:|" * 13
        for row in group:
            yield f"| {' | '.join(_columns(row))} |"
    if any(row.replayed for row in rows):
        yield ""
        yield "Rows without tokens/s were replayed: the target's answers were recorded once."


def _columns(row: Row) -> list[str]:
    cell, sampling = row.cell, row.cell.sampling
    penalty = f", “{sampling.letter}” −{sampling.penalty:g}" if sampling.penalty else ""
    phases = [f"{getattr(row.seconds, phase):.3f}" if row.seconds else "–" for phase in PHASES]
    return [
        cell.drafter,
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
    ]


PHASES = ("draft", "target", "stream_wait", "other")


def _shown(estimate: Estimate | None) -> str:
    if estimate is None:
        return "–"
    interval = "" if estimate.low is None else f" ({estimate.low:.2f}–{estimate.high:.2f})"
    return f"{estimate.value:.2f}{interval}"
