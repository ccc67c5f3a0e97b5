"""One case of the simulation: a pair on a described machine, from its plan to its passes and iterations."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from engine.bench.simulation.card import SimulatedCard, SimulatedDisk
from engine.bench.simulation.clock import VirtualClock
from engine.bench.simulation.iteration import SimulatedDrafter, iterate
from engine.bench.simulation.model import SimulatedTarget
from engine.checkpoints import Weight
from engine.errors import BadOption
from engine.planner import Asked, Compute, MachineProfile, PairOutline, acceptance, plan_for
from engine.planner.prediction import growth
from engine.streaming import WeightLimits

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

    `drafting_s`: the card's work for a tree; `turns_s`: while drafting and verifying take turns, with its
    bound `turns_bound_s` = max(B / link, draft + max((B - ring) / link, computing)); `overlapped_s`: if the
    draft goes on beside the pass and all that it grows there survives, with its bound `overlapped_bound_s` =
    max(B / link, draft + computing); `planned_s`: the planner's prediction for taking turns.
    """

    drafting_s: float
    turns_s: float
    turns_bound_s: float
    overlapped_s: float
    overlapped_bound_s: float
    planned_s: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a case gives. `missing`: why the planner does not run the pair there; nothing else then."""

    missing: str | None = None
    one_pass: SimulatedPass | None = None
    iteration: SimulatedIteration | None = None


def simulate(
    weights: Mapping[str, Weight], pair: PairOutline, machine: MachineProfile, rows: int, context: int
) -> Outcome:
    """Simulate passes of `rows` rows, and iterations with trees of one node less, of a pair on a machine with
    a card, loaded as the planner would load it.

    weights: the target's matrices. Raises BadOption if nothing is streamed.
    """
    asked = Asked(context, budget=rows - 1, device="cuda")
    plan = plan_for(machine, pair, asked)
    if not plan.runs:
        return Outcome(missing=plan.missing)
    if plan.vram_limit_nbytes is None:
        raise BadOption("Nothing is streamed, because the whole target fits.", "Describe a smaller card.")
    assert machine.card is not None
    limits = WeightLimits(plan.vram_limit_nbytes, plan.ram_limit_nbytes)
    alone = PairOutline(pair.target, None, acceptance(0))
    planned = plan_for(machine, alone, replace(asked, vram_limit_nbytes=plan.vram_limit_nbytes))
    computing_s = _Machine(weights, None, machine, machine.card).seconds(rows, {"pass": None})["pass"]
    streamed = _Machine(weights, limits, machine, machine.card)
    assert streamed.target.streamer is not None
    tiers = streamed.target.streamer.tiers
    moved = sum(tiers.values())
    moving_s = max(moved / machine.link, tiers["ssd"] / machine.disk)
    ring_s = streamed.target.streamer.nbytes / machine.link
    way = None
    kinds: dict[str, bool | None] = {"pass": None}
    if pair.draft is not None:
        tokens = plan.predicted_tokens_per_pass or 1.0
        way = growth(pair.draft, rows - 1, tokens, machine.card, plan.draft_unpacked)
        streamed.drafter = SimulatedDrafter(way, len(pair.draft.layers), streamed.card)
        kinds |= {"turns": False, "overlapped": True}
    seconds = streamed.seconds(rows, kinds)
    one_pass = SimulatedPass(
        rows, moved, moving_s, computing_s, seconds["pass"], planned.seconds_per_pass or 0.0
    )
    if way is None:
        return Outcome(one_pass=one_pass)
    iteration = SimulatedIteration(
        way.s,
        seconds["turns"],
        max(moving_s, way.s + max(moving_s - ring_s, computing_s)),
        seconds["overlapped"],
        max(moving_s, way.s + computing_s),
        plan.seconds_per_pass or 0.0,
    )
    return Outcome(one_pass=one_pass, iteration=iteration)


class _Machine:
    """A target on a card, and perhaps a drafter, with a clock of their own."""

    def __init__(
        self,
        weights: Mapping[str, Weight],
        limits: WeightLimits | None,
        machine: MachineProfile,
        compute: Compute,
    ) -> None:
        self.clock = VirtualClock()
        self.card = SimulatedCard(self.clock, machine.link)
        disk = SimulatedDisk(self.clock, machine.disk)
        self.target = SimulatedTarget(weights, limits, compute, self.clock, self.card, disk)
        self.drafter: SimulatedDrafter | None = None

    def seconds(self, rows: int, kinds: Mapping[str, bool | None]) -> dict[str, float]:
        """Return the mean seconds of each of `kinds`, by name, in the middle of others of its kind: None is a
        pass alone, False an iteration that takes turns, True one that overlaps."""

        def once(overlapped: bool | None) -> None:
            if overlapped is None:
                self.target.run(rows)
            else:
                assert self.drafter is not None
                iterate(self.drafter, self.target, rows, overlapped, self.clock)

        def all_of_them() -> dict[str, float]:
            found: dict[str, float] = {}
            for name, overlapped in kinds.items():
                for _ in range(BEFORE):
                    once(overlapped)
                begin = self.clock.seconds
                for _ in range(TIMED):
                    once(overlapped)
                found[name] = (self.clock.seconds - begin) / TIMED
            self.target.close()
            return found

        return self.clock.run(all_of_them)
