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
from engine.bench.slower_disk import add_disk_speed_option, checked_speed, slow_down
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
        "to compute with resident weights, draft and target together, whichever is longer. There are two "
        "answers with trees: in one, draft and target take turns; in the other, the draft goes on while the "
        "target verifies, where it can.",
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
    add_disk_speed_option(parser)


def run(parsed: argparse.Namespace) -> int:
    rows = sorted(numbers("rows", parsed.rows, int))
    if rows[0] < 1 or min(parsed.tokens, parsed.repeats) < 1:
        raise BadOption(
            "--rows, --tokens and --repeats must be at least 1.", "Omit them to use the defaults."
        )
    speed = checked_speed(parsed)
    report = measure(load_request(parsed), rows, parsed.tokens, parsed.repeats, say, speed)
    if parsed.json:
        print(json.dumps(asdict(report)))
    else:
        print("\n".join(table(report)))
    return 0


@dataclass(frozen=True, slots=True)
class Iterations:
    """The mean iteration of one answer.

    `iteration_s`: its time in seconds. `seconds`: the same by phase. `overlaps`: whether the draft computes
    while the target verifies.

    `bound_s` = max(bytes streamed per pass / speed of the link, seconds of drafting + seconds of a resident
    target pass), with the seconds of drafting from the answer in which both take turns.
    """

    drafter: str
    budget: int
    overlaps: bool
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
) -> StreamingReport:
    """Measure passes and answers of a target that is streamed under the limit of `load`.

    rows: the numbers of rows to time passes with; also the budgets of the answers with trees. tokens: maximum
    number of tokens of an answer. disk_speed: as in `slow_down`.

    Raises BadOption if nothing is streamed, and the errors from loading and answering.
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
        slow_down(streamer, disk_speed)
        passes = []
        sweeps: list[float] = []
        for count in rows:
            say(f"{count} rows, streamed")
            one_pass = text_pass(_target(engine), count)
            link, streamed = in_turns(streamer.sweep, one_pass, repeats)
            sweeps.append(link.s)
            passes.append(Pass(count, resident[count], link, streamed, max(link.s, resident[count].s)))
        answers = AnswerTimes(engine, tokens, streamer, resident)
        say("an answer with none")
        iterations, only_turns = [answers.plain()], ""
        if engine.session and engine.session.pair.draft:
            only_turns = answers.only_turns()
            for budget in (count for count in rows if count > 1):
                say(f"answers with specexec, budget {budget}")
                iterations.extend(answers.with_trees(budget))
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
        f"{'iteration':>21} {'tokens/s':>9} {'per pass':>9} {'seconds':>8} {'draft':>7} {'target':>7} "
        f"{'wait':>7} {'/ bound':>8}"
    )
    for each in report.iterations:
        name = (
            each.drafter + (f", {each.budget}" if each.budget else "") + (" ahead" if each.overlaps else "")
        )
        yield (
            f"{name:>21} {each.tokens_per_second:>9.2f} {each.tokens_per_pass:>9.2f} "
            f"{each.iteration_s:>8.3f} {each.seconds['draft']:>7.3f} {each.seconds['target']:>7.3f} "
            f"{each.seconds['stream_wait']:>7.3f} {each.ratio:>8.2f}"
        )
    if report.only_turns:
        yield f"No row “ahead”. {report.only_turns}"


class AnswerTimes:
    """Measures the iterations of answers by a loaded engine, whose target is streamed."""

    def __init__(
        self, engine: EngineService, tokens: int, streamer: "Streamer", resident: dict[int, Timings]
    ) -> None:
        """resident: by number of rows, the times of resident passes."""
        self._engine = engine
        self._tokens = tokens
        self._streamer = streamer
        self._resident = resident

    def plain(self) -> Iterations:
        return self._iterations("none", 0, overlaps=False)

    def only_turns(self) -> str:
        """Return why the draft cannot go on while the target verifies, as a sentence; "" if it can."""
        from engine.decoding.ahead import hindrance

        assert self._engine.session is not None
        return hindrance(self._engine.session.drafter("specexec"), _target(self._engine))

    def with_trees(self, budget: int) -> list[Iterations]:
        """Return the iterations of an answer in which draft and target take turns, and of one in which the
        draft goes on while the target verifies, where it can."""
        turns = self._iterations("specexec", budget, overlaps=False)
        if self.only_turns():
            return [turns]
        return [turns, self._iterations("specexec", budget, overlaps=True, draft_s=turns.seconds["draft"])]

    def _iterations(
        self, drafter: str, budget: int, overlaps: bool, draft_s: float | None = None
    ) -> Iterations:
        """draft_s: what drafting costs if it takes turns; None: as in this answer."""
        session = self._engine.session
        assert session is not None
        options = protocol.Options(
            drafter=drafter,
            budget=budget or None,
            overlap="on" if overlaps else "off",
            max_new_tokens=self._tokens,
            seed=0,
            stop_loops=False,
        )
        session.forget()
        before = timed(self._streamer.sweep, 3)
        chat = protocol.Chat(id=0, messages=[protocol.Message("user", PROMPT)], options=options)
        answer = session.answer(chat, _ignore, _never)
        after = timed(self._streamer.sweep, 3)
        phases = {
            name: getattr(answer.seconds, name) / answer.target_passes
            for name in protocol.Seconds.__struct_fields__
        }
        target_s = self._resident[max(rows for rows in self._resident if rows <= max(budget, 1))].s
        computing_s = target_s + (phases["draft"] if draft_s is None else draft_s)
        return Iterations(
            drafter,
            budget,
            overlaps,
            answer.tokens_per_second or 0.0,
            answer.tokens_per_pass or 0.0,
            sum(phases.values()),
            phases,
            max((before.s + after.s) / 2, computing_s),
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
