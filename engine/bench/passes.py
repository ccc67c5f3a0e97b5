"""`specexec bench passes`: measures how long one pass takes with different numbers of rows, to show from
which number on further rows cost time."""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from engine.bench.estimates import Curve, Estimate, check_plot, draw
from engine.bench.options import add_plot_option, add_repeats_option, numbers, say
from engine.bench.timings import CONTEXT, text_pass, timed
from engine.errors import BadOption
from engine.serving.service import EngineService
from engine.terminal import Commands, add_command, add_model_options, cancelled_by_ctrl_c, load_request

if TYPE_CHECKING:
    from engine.model.interface import Model

ROWS = ",".join(str(2**n) for n in range(11))


def add(kinds: Commands) -> None:
    parser = add_command(
        kinds,
        "passes",
        run,
        "time one pass of target and draft against its number of rows",
        "Each row of a pass is a token of a tree or of a prompt. The table shows how many rows a pass takes "
        "before further ones cost time.",
    )
    add_model_options(parser)
    parser.add_argument(
        "--rows", metavar="N,…", default=ROWS, help="numbers of rows to time (default: %(default)s)"
    )
    parser.add_argument(
        "--behind",
        type=int,
        metavar="N",
        default=CONTEXT,
        help="number of tokens before the rows of a pass (default: %(default)s)",
    )
    add_repeats_option(parser, 5)
    add_plot_option(parser, "seconds against rows")


def run(parsed: argparse.Namespace) -> int:
    rows = sorted(numbers("rows", parsed.rows, int))
    if min(rows[0], parsed.behind, parsed.repeats) < 1:
        raise BadOption(
            "--rows, --behind and --repeats must be at least 1.", "Omit them to use the defaults."
        )
    check_plot(parsed.plot)
    engine = EngineService()
    with cancelled_by_ctrl_c() as cancelled:
        loaded = engine.load(load_request(parsed), lambda event: None, cancelled)
        assert engine.session is not None
        pair = engine.session.pair
        try:
            models = {loaded.target.name: pair.target.model}
            if loaded.draft and pair.draft:
                models[loaded.draft.name] = pair.draft.model
            times = measure(models, rows, parsed.repeats, say, parsed.behind)
        finally:
            engine.unload()
    if parsed.json:
        print(json.dumps({"passes": msgspec.to_builtins(times)}))
    else:
        print("\n".join(table(times)))
    if parsed.plot:
        draw(parsed.plot, curves(times), x="rows of the pass", y="seconds", doubling=True)
    return 0


class PassTime(msgspec.Struct, frozen=True):
    """The time of a pass over `rows` rows. `s`: the median in seconds, with the interval from the fastest to
    the slowest run."""

    rows: int
    s: Estimate


def measure(
    models: "dict[str, Model]",
    rows: Sequence[int],
    repeats: int,
    say: Callable[[str], None],
    behind: int = CONTEXT,
) -> dict[str, list[PassTime]]:
    """Time passes of each model with each number of `rows`, after `behind` tokens. The keys of `models` and
    of the result are the models' names. Raises the errors that a pass raises."""
    times: dict[str, list[PassTime]] = {name: [] for name in models}
    for name, model in models.items():
        for count in rows:
            say(f"{name}, {count} rows")
            time = timed(text_pass(model, count, behind), repeats)
            times[name].append(PassTime(count, Estimate(time.s, time.fastest_s, time.slowest_s)))
    return times


def table(times: dict[str, list[PassTime]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield "| model | rows | pass, ms | × one row | ms per row |"
    yield "|---|---:|---:|---:|---:|"
    for name, passes in times.items():
        for time in passes:
            ms = f"{_ms(time.s.value)} ({_ms(time.s.low)}–{_ms(time.s.high)})"
            share = time.s.value / passes[0].s.value
            yield f"| {name} | {time.rows} | {ms} | {share:.2f} | {_ms(time.s.value / time.rows)} |"


def curves(times: dict[str, list[PassTime]]) -> list[Curve]:
    return [Curve(name, {float(each.rows): each.s for each in passes}) for name, passes in times.items()]


def _ms(seconds: float | None) -> str:
    return "–" if seconds is None else f"{1000 * seconds:.3g}"
