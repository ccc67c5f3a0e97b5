"""One case of the simulation: a pair on a described machine, from its plan to its passes and iterations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.bench.simulation.card import SimulatedCard, SimulatedDisk
from engine.bench.simulation.clock import VirtualClock
from engine.bench.simulation.helper import HelpedTarget
from engine.bench.simulation.iteration import SimulatedDrafter, iterate
from engine.bench.simulation.model import SimulatedTarget
from engine.bench.simulation.own_draft import DescribedOwnDraft, fastest_own_draft
from engine.checkpoints import Weight
from engine.errors import BadOption
from engine.planner import (
    Asked,
    Compute,
    HelpingProcessor,
    MachineProfile,
    Outline,
    PairOutline,
    Plan,
    acceptance,
    iteration_seconds,
    plan_for,
)
from engine.planner.lent_share import Helper
from engine.planner.prediction import Growth, growth
from engine.streaming import Streamer, WeightLimits

# Passes, or iterations, before the ones that are timed: the rings then hold what a pass leaves there.
BEFORE = 2
TIMED = 2


@dataclass(frozen=True, slots=True)
class SimulatedPass:
    """A pass over `rows` rows, in seconds.

    `nbytes`: bytes moved; `moving_s`: to move them, over the link or from the disk, whichever takes longer;
    `computing_s`: a simulated pass with all weights on the card; `pass_s`: a simulated pass that streams;
    `planned_s`: the planner's prediction.
    """

    rows: int
    nbytes: int
    moving_s: float
    computing_s: float
    pass_s: float
    planned_s: float

    @property
    def bound_s(self) -> float:
        return max(self.moving_s, self.computing_s)

    @property
    def ratio(self) -> float:
        return self.pass_s / self.bound_s

    @property
    def share(self) -> float:
        """The share of the bandwidth of the link, or of the disk if that takes longer, that the pass uses."""
        return self.moving_s / self.pass_s


@dataclass(frozen=True, slots=True)
class SimulatedIteration:
    """An iteration, in seconds.

    `tokens`: as many as the planner expects of it; `drafting_s`: the card's work for a tree; `turns_s`: while
    drafting and verifying take turns, with its bound `turns_bound_s` = max(B / link, draft + max((B - ring) /
    link, computing)); `overlapped_s`: if the draft goes on beside the pass, with its bound if all that it
    grows there survives, `overlapped_bound_s` = max(B / link, computing, draft + the card's part of
    computing); `planned_s`: the planner's prediction for taking turns.
    """

    tokens: float
    drafting_s: float
    turns_s: float
    turns_bound_s: float
    overlapped_s: float
    overlapped_bound_s: float
    planned_s: float

    @property
    def tokens_per_second(self) -> float:
        """While drafting and verifying take turns."""
        return self.tokens / self.turns_s


@dataclass(frozen=True, slots=True)
class SimulatedOutcome:
    """The results of a case. `missing`: why the planner does not run the pair there; nothing else then.
    `form`: the format of the target's copy, if one drafts; `own`: how the target drafts for itself, if it
    does."""

    missing: str | None = None
    one_pass: SimulatedPass | None = None
    iteration: SimulatedIteration | None = None
    form: str | None = None
    own: DescribedOwnDraft | None = None


@dataclass(frozen=True, slots=True)
class SharedPass:
    """A pass over `rows` rows with the processor's help. `share`: of the bytes that else cross the link, what
    it multiplies; `alone_s`, `shared_s`: seconds without and with its help; `planned_share`, `planned_s`: the
    planner's prediction of share and seconds."""

    rows: int
    share: float
    alone_s: float
    shared_s: float
    planned_share: float
    planned_s: float


@dataclass(frozen=True, slots=True)
class _Case:
    """What is loaded: the limits of the target's weights; the rows of a pass, and its tokens; the layers of
    the draft, 0 without one; how its trees grow; the planned seconds of an iteration."""

    limits: WeightLimits
    rows: int
    tokens: float
    layers: int
    way: Growth
    planned_s: float


def simulate(
    weights: Mapping[str, Weight],
    pair: PairOutline,
    machine: MachineProfile,
    rows: int | None,
    context: int,
    survival: float = 1.0,
) -> SimulatedOutcome:
    """Simulate passes of `rows` rows, and iterations with trees of one node less, of a pair on a machine with
    a card, loaded as the planner would load it.

    weights: the target's matrices. rows: None for as many as the plan has. survival: as for
    `SimulatedDrafter`. Raises BadOption if nothing is streamed.
    """
    plan = plan_for(machine, pair, _asked(context, rows))
    if not plan.runs:
        return SimulatedOutcome(missing=plan.missing)
    assert machine.card is not None
    assert plan.budget is not None
    layers, way, tokens = 0, Growth(0.0, 0, 0.0), plan.predicted_tokens_per_pass or 1.0
    if pair.draft is not None:
        layers = len(pair.draft.layers)
        way = growth(pair.draft, plan.budget, tokens, machine.card, plan.draft_unpacked)
    case = _Case(_limits(plan), plan.budget + 1, tokens, layers, way, plan.seconds_per_pass or 0.0)
    found = _simulated(weights, pair.target, case, machine, context, survival)
    return replace(found, form=plan.substitutes)


def simulate_own_draft(
    weights: Mapping[str, Weight],
    target: Outline,
    machine: MachineProfile,
    rows: int | None,
    context: int,
    survival: float = 1.0,
    gain: float = 1.0,
) -> SimulatedOutcome:
    """Simulate the same of a target that is its own draft, in the fastest way. gain: as for `own_pairs`.
    Raises BadOption if the target fits, or cannot draft for itself."""
    alone = plan_for(machine, PairOutline(target, None, acceptance(0)), _asked(context, rows))
    if alone.runs:
        _limits(alone)
    own = fastest_own_draft(machine, target, _asked(context, rows), gain)
    if own is None:
        return SimulatedOutcome(missing="more VRAM, for the copy")
    tokens, planned_s = own.predicted.tokens, own.predicted.s
    case = _Case(own.limits, own.budget + 1, tokens, len(target.layers), own.growth, planned_s)
    found = _simulated(weights, target, case, machine, context, survival)
    return replace(found, form=own.form, own=own)


def _asked(context: int, rows: int | None) -> Asked:
    return Asked(context, budget=None if rows is None else rows - 1, device="cuda")


def _simulated(
    weights: Mapping[str, Weight],
    target: Outline,
    case: _Case,
    machine: MachineProfile,
    context: int,
    survival: float,
) -> SimulatedOutcome:
    limits, rows, way = case.limits, case.rows, case.way
    alone = PairOutline(target, None, acceptance(0))
    asked = Asked(context, vram_limit_nbytes=limits.device_nbytes, budget=rows - 1, device="cuda")
    planned_s = plan_for(machine, alone, asked).seconds_per_pass or 0.0
    resident = _Running(weights, None, machine)
    computing_s = resident.timed([lambda: resident.target.run(rows)])[0]
    card_s = resident.card.computing.busy_s / (BEFORE + TIMED)

    running = _Running(weights, limits, machine)
    streamer, clock = running.streamer, running.clock
    moving_s = max(streamer.pass_nbytes / machine.link, streamer.tiers["ssd"] / machine.disk)
    works = [lambda: running.target.run(rows)]
    if case.layers:
        drafter = SimulatedDrafter(way, case.layers, running.card, survival)
        works += [
            lambda: iterate(drafter, running.target, rows, overlapped=False, clock=clock),
            lambda: iterate(drafter, running.target, rows, overlapped=True, clock=clock),
        ]
    pass_s, *iterations = running.timed(works)
    turns_s, overlapped_s = iterations or (pass_s, pass_s)
    behind_ring_s = moving_s - streamer.nbytes / machine.link
    return SimulatedOutcome(
        one_pass=SimulatedPass(rows, streamer.pass_nbytes, moving_s, computing_s, pass_s, planned_s),
        iteration=SimulatedIteration(
            tokens=case.tokens,
            drafting_s=way.s,
            turns_s=turns_s,
            turns_bound_s=max(moving_s, way.s + max(behind_ring_s, computing_s)),
            overlapped_s=overlapped_s,
            overlapped_bound_s=max(moving_s, computing_s, way.s + card_s),
            planned_s=case.planned_s,
        ),
    )


def simulate_help(
    weights: Mapping[str, Weight],
    target: Outline,
    machine: MachineProfile,
    processor: Compute,
    rows: int,
    context: int,
) -> SharedPass | None:
    """Simulate passes of `rows` rows with and without the processor's help; None if the planner does not run
    the target.

    processor: its speed; `memory` is the RAM's bandwidth, of which the link takes its part. Raises BadOption
    if nothing is streamed.
    """
    pair = PairOutline(target, None, acceptance(0))
    helping = HelpingProcessor(processor, "measured")
    asked = Asked(context, budget=rows - 1, device="cuda", helper=helping)
    plan = plan_for(machine, pair, asked)
    seconds = iteration_seconds(machine, pair, asked, plan)
    if seconds is None:
        return None
    running = _Running(weights, _limits(plan), machine)
    helper = Helper.beside(processor, machine.link)
    helped = HelpedTarget(running.target, helper, running.clock, running.card)
    works = [lambda: running.target.run(rows), lambda: helped.run(rows)]
    alone_s, shared_s = running.timed(works, helped.choose_share)
    return SharedPass(rows, helped.lending.share, alone_s, shared_s, plan.helped, seconds(rows - 1))


def _limits(plan: Plan) -> WeightLimits:
    if plan.vram_limit_nbytes is None:
        raise BadOption("Nothing is streamed, because the whole target fits.", "Describe a smaller card.")
    return WeightLimits(plan.vram_limit_nbytes, plan.ram_limit_nbytes)


class _Running:
    """A target on a card, with a clock of their own."""

    def __init__(
        self, weights: Mapping[str, Weight], limits: WeightLimits | None, machine: MachineProfile
    ) -> None:
        assert machine.card is not None
        self.compute = machine.card
        self.clock = VirtualClock()
        self.card = SimulatedCard(self.clock, machine.link)
        disk = SimulatedDisk(self.clock, machine.disk)
        self.target = SimulatedTarget(weights, limits, self.compute, self.clock, self.card, disk)

    @property
    def streamer(self) -> Streamer:
        assert self.target.streamer is not None
        return self.target.streamer

    def timed(
        self, works: Sequence[Callable[[], None]], first: Callable[[], None] = lambda: None
    ) -> list[float]:
        """Return the mean seconds of each of `works`, in the middle of others of its kind, and close the
        target. first: called before them."""

        def repeated() -> list[float]:
            first()
            found = []
            for work in works:
                for _ in range(BEFORE):
                    work()
                begin = self.clock.seconds
                for _ in range(TIMED):
                    work()
                found.append((self.clock.seconds - begin) / TIMED)
            self.target.close()
            return found

        return self.clock.run(repeated)
