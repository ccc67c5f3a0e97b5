"""How near streaming comes to its bound (DESIGN section 4): the link and the computing are measured in the
same run as what is made of them, in turns, because a disk's speed changes from minute to minute."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from msgspec.structs import replace

from engine import protocol
from engine.bench.timing import Pass, Timed, in_turns, text_pass, timed
from engine.errors import BadOption
from engine.model import Model
from engine.service import Engine
from engine.streaming import Streamer

PROMPT = "Explain how a hash table works, and give a short implementation in Python."


@dataclass(frozen=True, slots=True)
class Iterations:
    """Decoding one answer: seconds of one iteration by phase, and its bound: max(link, draft + max((B - ring)
    / link, resident target pass)); plain decoding has no draft."""

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
class Report:
    """`pass_nbytes`, streamed in each pass; `ring_nbytes`; `link_gb_per_s`, the median of all sweeps."""

    pass_nbytes: int
    ring_nbytes: int
    link_gb_per_s: float
    passes: list[Pass]
    iterations: list[Iterations]


def measure(
    load: protocol.Load, rows: Sequence[int], tokens: int, repeats: int, say: Callable[[str], None]
) -> Report:
    """load: with a limit, under which the target is streamed. rows: of each measured pass. tokens: of each
    answer.

    say: told what is being measured. Raises what loading and answering raise; BadOption where nothing is
    streamed.
    """
    engine = Engine()
    try:
        say("loading without a limit")
        resident: dict[int, Timed] = {}
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
        report = Report(
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


def table(report: Report) -> Iterator[str]:
    """Lines to print."""
    yield (
        f"{report.pass_nbytes / 1e9:.2f} GB streamed each pass, ring {report.ring_nbytes / 1e9:.2f} GB, "
        f"link {report.link_gb_per_s:.2f} GB/s"
    )
    yield f"{'pass':>12} {'resident s':>11} {'link s':>9} {'streamed s':>11} {'spread':>13} {'/ bound':>8}"
    for each in report.passes:
        spread = f"{each.streamed_s.fastest_s:.3f}–{each.streamed_s.slowest_s:.3f}"
        yield (
            f"{each.rows:>7} rows {each.resident_s.s:>11.3f} {each.link_s.s:>9.3f} {each.streamed_s.s:>11.3f}"
            f" {spread:>13} {each.ratio:>8.2f}"
        )
    yield (
        f"{'iteration':>14} {'tokens/s':>9} {'per pass':>9} {'seconds':>8} {'draft':>7} {'target':>7} "
        f"{'wait':>7} {'/ bound':>8}"
    )
    for one in report.iterations:
        name = one.drafter + (f", {one.budget}" if one.budget else "")
        yield (
            f"{name:>14} {one.tokens_per_second:>9.2f} {one.tokens_per_pass:>9.2f} {one.iteration_s:>8.3f} "
            f"{one.seconds['draft']:>7.3f} {one.seconds['target']:>7.3f} {one.seconds['stream_wait']:>7.3f} "
            f"{one.ratio:>8.2f}"
        )


def _answer(
    engine: Engine, drafter: str, budget: int, tokens: int, streamer: Streamer, resident: dict[int, Timed]
) -> Iterations:
    assert engine.session is not None
    options = protocol.Options(drafter=drafter, budget=budget or None, max_new_tokens=tokens, seed=0)
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


def _target(engine: Engine) -> Model:
    assert engine.session is not None
    return engine.session.pair.target.model


def _streamer(model: Model) -> Streamer:
    if not isinstance(model.mover, Streamer) or not model.mover.pass_nbytes:
        raise BadOption(
            "Nothing is streamed: the target fits.", "Give a smaller --ram-limit or --vram-limit."
        )
    return model.mover


def _ignore(event: protocol.Event) -> None:
    pass


def _never() -> bool:
    return False
