"""`specexec bench streaming`: measures how close streaming comes to its bound (docs/design.md, section 4).

Computation, the link and streamed passes are measured in the same run. Link transfers alternate with
streamed passes and with answers, because a disk's speed changes from minute to minute.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from statistics import median
from typing import TYPE_CHECKING

from msgspec import structs

from engine import protocol
from engine.bench.options import PROMPT, add_repeats_option, numbers, say
from engine.bench.slower_disk import add_disk_speed_option, checked_speed, slow_down
from engine.bench.timings import Pass, Timings, in_turns, text_pass, timed
from engine.errors import BadOption
from engine.serving.service import EngineService
from engine.terminal import (
    Commands,
    about_hindrance,
    add_command,
    add_model_options,
    load_request,
    validated,
)

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
        "to compute with resident weights, draft and target together, whichever is longer. There are two "
        "ways to answer with trees: in one, draft and target take turns; in the other, the draft goes on "
        "while the target verifies, where it can. Answers of both ways alternate.",
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
    parser.add_argument(
        "--temperature",
        metavar="T,…",
        default="0",
        help="temperatures of the answers with trees (default: %(default)s)",
    )
    add_repeats_option(
        parser, 3, "number of timed runs of each measurement; of answers without trees, one is"
    )
    add_disk_speed_option(parser)


def run(parsed: argparse.Namespace) -> int:
    rows = sorted(numbers("rows", parsed.rows, int))
    if rows[0] < 1 or min(parsed.tokens, parsed.repeats) < 1:
        raise BadOption(
            "--rows, --tokens and --repeats must be at least 1.", "Omit them to use the defaults."
        )
    temperatures = numbers("temperature", parsed.temperature, float)
    for each in temperatures:
        validated(protocol.Options, {"temperature": each})
    speed = checked_speed(parsed)
    load = load_request(parsed)
    report = measure(load, rows, parsed.tokens, parsed.repeats, say, speed, temperatures)
    if parsed.json:
        print(json.dumps(asdict(report)))
    else:
        print("\n".join(table(report)))
    return 0


@dataclass(frozen=True, slots=True)
class Iterations:
    """The mean iteration of each of several answers: of these means, the medians.

    `iteration_s`: its time in seconds, with the shortest and the longest, `fastest_s` and `slowest_s`.
    `seconds`: the same by phase. `overlaps`: whether the draft computes while the target verifies.

    `bound_s` = max(bytes streamed per pass / speed of the link, seconds of drafting + seconds of a resident
    target pass), with the seconds of drafting from the answers in which both take turns.

    `won`: of an iteration in which the draft goes on, how much shorter it is than one of taking turns, as a
    share of what that one takes beyond the bound; None if there is nothing to win.
    """

    drafter: str
    budget: int
    overlaps: bool
    temperature: float
    tokens_per_second: float
    tokens_per_pass: float
    iteration_s: float
    fastest_s: float
    slowest_s: float
    seconds: dict[str, float]
    bound_s: float
    won: float | None = None

    @property
    def ratio(self) -> float:
        return self.iteration_s / self.bound_s


@dataclass(frozen=True, slots=True)
class StreamingReport:
    """All results of the benchmark. `pass_nbytes`: bytes streamed in each pass; `ring_nbytes`: bytes of the
    ring of slots; `link_gb_per_s`: the link's speed, the median of all sweeps, in 10^9 bytes per second;
    `only_turns`: why the draft was never ahead, as a sentence, or ""."""

    pass_nbytes: int
    ring_nbytes: int
    link_gb_per_s: float
    passes: list[Pass]
    iterations: list[Iterations]
    only_turns: str = ""


def measure(
    load: protocol.Load,
    rows: Sequence[int],
    tokens: int,
    repeats: int,
    say: Callable[[str], None],
    disk_speed: float | None = None,
    temperatures: Sequence[float] = (0.0,),
) -> StreamingReport:
    """Measure passes and answers of a target that is streamed under the limit of `load`.

    rows: the numbers of rows to time passes with; also the budgets of the answers with trees. tokens: maximum
    number of tokens of an answer. disk_speed: as in `slow_down`. temperatures: those of the answers.

    Raises BadOption if nothing is streamed, and the errors from loading and answering.
    """
    engine = EngineService()
    try:
        say("loading without a limit")
        resident: dict[int, Timings] = {}
        alone = structs.replace(load, draft="none", vram_limit=None, ram_limit=None, weights="packed")
        engine.load(alone, _ignore, _never)
        for count in rows:
            say(f"{count} rows, resident")
            one_pass = text_pass(_target(engine), count)
            resident[count] = timed(one_pass, repeats)
        say("loading under the limit")
        engine.load(load, _ignore, _never)
        streamer = _streamer(_target(engine))
        slow_down(streamer, disk_speed)
        passes = []
        sweeps: list[float] = []
        for count in rows:
            say(f"{count} rows, streamed")
            one_pass = text_pass(_target(engine), count)
            link, streamed = in_turns(streamer.sweep, one_pass, repeats)
            sweeps.append(link.s)
            passes.append(Pass(count, resident[count], link, streamed, max(link.s, resident[count].s)))
        answers = AnswerTimes(engine, tokens, streamer, resident, repeats)
        say("an answer with none")
        iterations, only_turns = [answers.plain()], ""
        if engine.session and engine.session.pair.draft:
            only_turns = answers.only_turns()
            for budget, temperature in product((count for count in rows if count > 1), temperatures):
                say(f"answers with specexec, budget {budget}, temperature {temperature:g}")
                iterations.extend(answers.with_trees(budget, temperature))
        return StreamingReport(
            streamer.pass_nbytes,
            streamer.nbytes,
            streamer.pass_nbytes / median(sweeps) / 1e9,
            passes,
            iterations,
            only_turns,
        )
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
        f"{'iteration':>21} {'T':>4} {'tokens/s':>9} {'per pass':>9} {'seconds':>8} {'spread':>13} "
        f"{'draft':>7} {'target':>7} {'wait':>7} {'bound':>7} {'/ bound':>8} {'won':>5}"
    )
    for each in report.iterations:
        name = (
            each.drafter + (f", {each.budget}" if each.budget else "") + (" ahead" if each.overlaps else "")
        )
        spread = f"{each.fastest_s:.3f}–{each.slowest_s:.3f}"
        won = "" if each.won is None else f"{each.won:.0%}"
        yield (
            f"{name:>21} {each.temperature:>4g} {each.tokens_per_second:>9.2f} {each.tokens_per_pass:>9.2f} "
            f"{each.iteration_s:>8.3f} {spread:>13} {each.seconds['draft']:>7.3f} "
            f"{each.seconds['target']:>7.3f} {each.seconds['stream_wait']:>7.3f} {each.bound_s:>7.3f} "
            f"{each.ratio:>8.2f} {won:>5}".rstrip()
        )
    if report.only_turns:
        yield f"No row “ahead”. {report.only_turns}"


@dataclass(frozen=True, slots=True)
class _MeanIteration:
    """The mean iteration of one answer: its seconds by phase."""

    tokens_per_second: float
    tokens_per_pass: float
    seconds: dict[str, float]

    @property
    def s(self) -> float:
        return sum(self.seconds.values())


class AnswerTimes:
    """Measures the iterations of answers by a loaded engine, whose target is streamed."""

    def __init__(
        self,
        engine: EngineService,
        tokens: int,
        streamer: "Streamer",
        resident: dict[int, Timings],
        repeats: int,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """resident: by number of rows, the times of resident passes. repeats: answers of each way with trees.
        clock: returns the seconds by which transfers over the link are timed."""
        self._engine = engine
        self._tokens = tokens
        self._streamer = streamer
        self._resident = resident
        self._repeats = repeats
        self._clock = clock

    def plain(self) -> Iterations:
        """Return the iterations of one answer without trees."""
        before = self._link_s()
        mean = self._answer("none", 0, 0.0, overlaps=False)
        return self._medians("none", 0, 0.0, False, [mean], self._bound_s(0, 0.0, [before, self._link_s()]))

    def only_turns(self) -> str:
        """Return why the draft cannot go on while the target verifies, as a sentence; "" if it can."""
        from engine.decoding.ahead import hindrance

        assert self._engine.session is not None
        drafter = self._engine.session.drafter("specexec")
        why = hindrance(drafter, _target(self._engine))
        return about_hindrance(why, drafter.name) if why else ""

    def with_trees(self, budget: int, temperature: float) -> list[Iterations]:
        """Return the iterations of answers in which draft and target take turns, and of answers in which the
        draft goes on while the target verifies, where it can. The answers of both ways alternate, with
        transfers between them, and have one bound."""
        ways = [False] if self.only_turns() else [False, True]
        means: dict[bool, list[_MeanIteration]] = {way: [] for way in ways}
        links = [self._link_s()]
        for _ in range(self._repeats):
            for way in ways:
                means[way].append(self._answer("specexec", budget, temperature, way))
                links.append(self._link_s())
        drafting_s = median(mean.seconds["draft"] for mean in means[False])
        bound_s = self._bound_s(budget, drafting_s, links)
        turns, *ahead = (
            self._medians("specexec", budget, temperature, way, means[way], bound_s) for way in ways
        )
        return [turns, *(replace(each, won=_won(turns, each)) for each in ahead)]

    def _link_s(self) -> float:
        """Return the seconds of one transfer of all that a pass streams."""
        return timed(self._streamer.sweep, 1, self._clock).s

    def _bound_s(self, budget: int, drafting_s: float, links: list[float]) -> float:
        target_s = self._resident[max(rows for rows in self._resident if rows <= max(budget, 1))].s
        return max(median(links), drafting_s + target_s)

    def _answer(self, drafter: str, budget: int, temperature: float, overlaps: bool) -> _MeanIteration:
        session = self._engine.session
        assert session is not None
        options = protocol.Options(
            drafter=drafter,
            budget=budget or None,
            temperature=temperature,
            overlap="on" if overlaps else "off",
            max_new_tokens=self._tokens,
            seed=0,
            stop_loops=False,
        )
        session.forget()
        chat = protocol.Chat(id=0, messages=[protocol.Message("user", PROMPT)], options=options)
        answer = session.answer(chat, _ignore, _never)
        phases = {
            name: getattr(answer.seconds, name) / answer.target_passes
            for name in protocol.Seconds.__struct_fields__
        }
        return _MeanIteration(answer.tokens_per_second or 0.0, answer.tokens_per_pass or 0.0, phases)

    def _medians(
        self,
        drafter: str,
        budget: int,
        temperature: float,
        overlaps: bool,
        means: list[_MeanIteration],
        bound_s: float,
    ) -> Iterations:
        seconds = [mean.s for mean in means]
        return Iterations(
            drafter,
            budget,
            overlaps,
            temperature,
            median(mean.tokens_per_second for mean in means),
            median(mean.tokens_per_pass for mean in means),
            median(seconds),
            min(seconds),
            max(seconds),
            {name: median(mean.seconds[name] for mean in means) for name in means[0].seconds},
            bound_s,
        )


def _won(turns: Iterations, ahead: Iterations) -> float | None:
    to_win = turns.iteration_s - turns.bound_s
    return (turns.iteration_s - ahead.iteration_s) / to_win if to_win > 0 else None


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
