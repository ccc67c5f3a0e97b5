"""`specexec bench streaming`: measures how close streaming comes to its bound (docs/design.md, section 4).

Computation, the link and streamed passes are measured in the same run. Link transfers alternate with
streamed passes, because a disk's speed changes from minute to minute.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING

from msgspec.structs import replace

from engine import protocol
from engine.bench.options import PROMPT, add_repeats_option, numbers, say
from engine.bench.timings import Pass, Timings, in_turns, text_pass, timed
from engine.errors import BadOption
from engine.serving.service import EngineService
from engine.terminal import Commands, add_command, add_model_options, load_request

if TYPE_CHECKING:
    from engine.model.interface import Model
    from engine.streaming import Streamer


def add(kinds: Commands) -> None:
    parser = add_command(
        kinds,
        "streaming",
        run,
        "compare passes of a streamed target with the speed of the link",
        "Loads the target without a limit and then under --vram-limit or --ram-limit, and compares streamed "
        "passes and whole iterations with their bound: the time to transfer the streamed bytes, or the time "
        "to compute with resident weights, whichever is longer.",
    )
    add_model_options(parser)
    parser.add_argument(
        "--rows",
        metavar="N,…",
        default="1,64,256",
        help="numbers of rows of the timed passes, and budgets of the trees (default: %(default)s)",
    )
    parser.add_argument(
        "--tokens",
        type=int,
        metavar="N",
        default=64,
        help="maximum number of tokens per answer (default: %(default)s)",
    )
    add_repeats_option(parser, 5)


def run(parsed: argparse.Namespace) -> int:
    rows = sorted(numbers("rows", parsed.rows, int))
    if rows[0] < 1 or min(parsed.tokens, parsed.repeats) < 1:
        raise BadOption(
            "--rows, --tokens and --repeats must be at least 1.", "Omit them to use the defaults."
        )
    report = measure(load_request(parsed), rows, parsed.tokens, parsed.repeats, say)
    if parsed.json:
        print(json.dumps(asdict(report)))
    else:
        print("\n".join(table(report)))
    return 0


@dataclass(frozen=True, slots=True)
class Iterations:
    """The mean iteration of one answer.

    `iteration_s`: its time in seconds. `seconds`: the same by phase.

    `bound_s` = max(B / link, draft + max((B - ring) / link, resident target pass)); for plain decoding,
    max(B / link, resident target pass). B: bytes streamed per pass; ring: bytes of the ring; link: the link's
    speed in bytes per second; draft, resident target pass: the seconds that each takes.
    """

    drafter: str
    budget: int
    tokens_per_second: float
    tokens_per_pass: float
    iteration_s: float
    seconds: dict[str, float]
    bound_s: float

    @property
    def ratio(self) -> float:
        return self.iteration_s / self.bound_s


@dataclass(frozen=True, slots=True)
class StreamingReport:
    """All results of the benchmark. `pass_nbytes`: bytes streamed in each pass; `ring_nbytes`: bytes of the
    ring of slots; `link_gb_per_s`: the link's speed, the median of all sweeps, in 10^9 bytes per second."""

    pass_nbytes: int
    ring_nbytes: int
    link_gb_per_s: float
    passes: list[Pass]
    iterations: list[Iterations]


def measure(
    load: protocol.Load, rows: Sequence[int], tokens: int, repeats: int, say: Callable[[str], None]
) -> StreamingReport:
    """Measure passes and answers of a target that is streamed under the limit of `load`.

    rows: the numbers of rows to time passes with; also the budgets of the answers with trees. tokens: maximum
    number of tokens of an answer. Raises BadOption if nothing is streamed, and the errors from loading and
    answering.
    """
    engine = EngineService()
    try:
        say("loading without a limit")
        resident: dict[int, Timings] = {}
        engine.load(replace(load, vram_limit=None, ram_limit=None, weights="packed"), _ignore, _never)
        for count in rows:
            say(f"{count} rows, resident")
            one_pass = text_pass(_target(engine), count)
            resident[count] = timed(one_pass, repeats)
        say("loading under the limit")
        engine.load(load, _ignore, _never)
        streamer = _streamer(_target(engine))
        passes = []
        sweeps: list[float] = []
        for count in rows:
            say(f"{count} rows, streamed")
            one_pass = text_pass(_target(engine), count)
            link, streamed = in_turns(streamer.sweep, one_pass, repeats)
            sweeps.append(link.s)
            passes.append(Pass(count, resident[count], link, streamed, max(link.s, resident[count].s)))
        report = StreamingReport(
            streamer.pass_nbytes,
            streamer.nbytes,
            streamer.pass_nbytes / median(sweeps) / 1e9,
            passes,
            [],
        )
        drafters = [("none", 0)]
        if engine.session and engine.session.pair.draft:
            drafters += [("specexec", count) for count in rows if count > 1]
        for drafter, budget in drafters:
            say(f"an answer with {drafter}" + (f", budget {budget}" if budget else ""))
            report.iterations.append(_answer(engine, drafter, budget, tokens, streamer, resident))
        return report
    finally:
        engine.unload()


def table(report: StreamingReport) -> Iterator[str]:
    """Yield the lines to print."""
    yield (
        f"{report.pass_nbytes / 1e9:.2f} GB streamed per pass, ring {report.ring_nbytes / 1e9:.2f} GB, "
        f"link {report.link_gb_per_s:.2f} GB/s"
    )
    yield f"{'pass':>12} {'resident s':>11} {'link s':>9} {'streamed s':>11} {'spread':>13} {'/ bound':>8}"
    for one in report.passes:
        spread = f"{one.streamed_s.fastest_s:.3f}–{one.streamed_s.slowest_s:.3f}"
        yield (
            f"{one.rows:>7} rows {one.resident_s.s:>11.3f} {one.link_s.s:>9.3f} {one.streamed_s.s:>11.3f}"
            f" {spread:>13} {one.ratio:>8.2f}"
        )
    yield (
        f"{'iteration':>14} {'tokens/s':>9} {'per pass':>9} {'seconds':>8} {'draft':>7} {'target':>7} "
        f"{'wait':>7} {'/ bound':>8}"
    )
    for each in report.iterations:
        name = each.drafter + (f", {each.budget}" if each.budget else "")
        yield (
            f"{name:>14} {each.tokens_per_second:>9.2f} {each.tokens_per_pass:>9.2f} "
            f"{each.iteration_s:>8.3f} {each.seconds['draft']:>7.3f} {each.seconds['target']:>7.3f} "
            f"{each.seconds['stream_wait']:>7.3f} {each.ratio:>8.2f}"
        )


def _answer(
    engine: EngineService,
    drafter: str,
    budget: int,
    tokens: int,
    streamer: "Streamer",
    resident: dict[int, Timings],
) -> Iterations:
    assert engine.session is not None
    options = protocol.Options(
        drafter=drafter, budget=budget or None, max_new_tokens=tokens, seed=0, stop_loops=False
    )
    engine.session.forget()
    before = timed(streamer.sweep, 3)
    answer = engine.session.answer([protocol.Message("user", PROMPT)], options, _ignore, _never)
    after = timed(streamer.sweep, 3)
    link_s = (before.s + after.s) / 2
    phases = {
        name: getattr(answer.seconds, name) / answer.target_passes
        for name in protocol.Seconds.__struct_fields__
    }
    target_s = resident[max(rows for rows in resident if rows <= max(budget, 1))].s
    behind_ring_s = link_s * max(0.0, 1 - streamer.nbytes / streamer.pass_nbytes)
    bound_s = max(link_s, phases["draft"] + max(behind_ring_s, target_s)) if budget else max(link_s, target_s)
    return Iterations(
        drafter,
        budget,
        answer.tokens_per_second or 0.0,
        answer.tokens_per_pass or 0.0,
        sum(phases.values()),
        phases,
        bound_s,
    )


def _target(engine: EngineService) -> "Model":
    assert engine.session is not None
    return engine.session.pair.target.model


def _streamer(model: "Model") -> "Streamer":
    if not model.streamer or not model.streamer.pass_nbytes:
        raise BadOption(
            "Nothing is streamed, because the whole target fits.",
            "Give a smaller --ram-limit or --vram-limit.",
        )
    return model.streamer


def _ignore(event: protocol.Event) -> None:
    pass


def _never() -> bool:
    return False
