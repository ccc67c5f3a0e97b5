"""Seconds of one pass against its rows: where more rows stop being free."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from engine.bench.intervals import Estimate
from engine.bench.plots import Curve
from engine.bench.timing import text_pass, timed
from engine.model import Model


class PassTime(msgspec.Struct, frozen=True):
    """`s`: the median, between the fastest and the slowest, in seconds."""

    rows: int
    s: Estimate


def measure(
    models: dict[str, Model], rows: Sequence[int], repeats: int, say: Callable[[str], None]
) -> dict[str, list[PassTime]]:
    """models: by name. Raises what a pass raises."""
    found: dict[str, list[PassTime]] = {name: [] for name in models}
    for name, model in models.items():
        for count in rows:
            say(f"{name}, {count} rows")
            time = timed(text_pass(model, count), repeats)
            found[name].append(PassTime(count, Estimate(time.s, time.fastest_s, time.slowest_s)))
    return found


def table(times: dict[str, list[PassTime]]) -> Iterator[str]:
    """Markdown."""
    yield "| model | rows | pass, ms | × one row | ms per row |"
    yield "|---|---:|---:|---:|---:|"
    for name, passes in times.items():
        for each in passes:
            ms = f"{_ms(each.s.value)} ({_ms(each.s.low)}–{_ms(each.s.high)})"
            share = each.s.value / passes[0].s.value
            yield f"| {name} | {each.rows} | {ms} | {share:.2f} | {_ms(each.s.value / each.rows)} |"


def curves(times: dict[str, list[PassTime]]) -> list[Curve]:
    return [Curve(name, {float(each.rows): each.s for each in passes}) for name, passes in times.items()]


def _ms(seconds: float | None) -> str:
    return "–" if seconds is None else f"{1000 * seconds:.3g}"
