"""A copy of the target in fewer bits drafts for it on a described card, in two ways: as the draft of an
ordinary pair, which any card runs; and as the target's own draft, which shares what it can. No card runs the
latter: docs/benchmarks/cards.md says why."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.planner import Asked, MachineProfile, Outline, PairOutline, self_pairs
from engine.planner.candidate import Candidate
from engine.planner.layer_placement import LayerPlacement, place
from engine.planner.prediction import (
    Growth,
    PredictedIteration,
    fastest_growth,
    iteration,
    launching_s,
    pass_s,
    stream,
)
from engine.planner.search import BUDGETS
from engine.planner.tiers import MAX_SLOT_NBYTES, SLOTS
from engine.streaming import WeightLimits

# Shares of the resident layers that the copy has, too. The fastest is taken.
COPIED = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class DescribedOwnDraft:
    """How a target would draft for itself on a card.

    Attributes: `form`: the format of the copy, which has the streamed layers; `copied`: the share of the
    resident layers that it has, too, so that the draft reads fewer bytes in each round: the others are
    shared; `resident`, `copy`: bytes of the resident layers, and of the copy; `limits`: for the target's
    weights; `budget`: of the trees; `growth`: how they grow; `predicted`: an iteration, by the planner's
    arithmetic.
    """

    form: str
    copied: float
    resident: int
    copy: int
    limits: WeightLimits
    budget: int
    growth: Growth
    predicted: PredictedIteration


def own_pairs(target: Outline, gain: float = 1.0) -> list[PairOutline]:
    """Return pairs of a target and itself in fewer bits, one for each format, in the bytes that a card would
    have: blocks as stored, not tiles. gain: how many times as many tokens copies gain as plans expect. Raises
    BadOption if the target cannot draft for itself."""
    found = []
    for pair in self_pairs(target):
        draft, form = pair.draft, pair.substitutes
        assert draft is not None
        assert form is not None
        stored = form.stored / draft.multiplied  # bytes of blocks for each byte of tiles
        layers = tuple(int(stored * nbytes) for nbytes in draft.layers)
        draft = replace(draft, layers=layers, head=int(stored * draft.head), packed=True, compiled=False)
        accepted = replace(pair.acceptance, gain=gain * pair.acceptance.gain)
        found.append(replace(pair, draft=draft, acceptance=accepted))
    return found


def pairs_with_copies(target: Outline, gain: float = 1.0) -> list[PairOutline]:
    """Return the same as ordinary pairs. The draft is a file with the whole model: it has an embedding and
    rows of its own, and reads the prompt."""
    pairs = ((pair, pair.draft) for pair in own_pairs(target, gain))
    return [
        replace(pair, draft=replace(draft, embedding=draft.head, tied=target.tied), shared=False)
        for pair, draft in pairs
        if draft is not None
    ]


def fastest_own_draft(
    machine: MachineProfile, target: Outline, asked: Asked, gain: float = 1.0
) -> DescribedOwnDraft | None:
    """Return the fastest way in which a target that is streamed to the machine's card would draft for itself,
    of all formats and shares, and of all budgets if `asked` has none; None if no copy fits. gain: as for
    `own_pairs`."""
    budgets = BUDGETS if asked.budget is None else [asked.budget]
    found = (
        way
        for pair in own_pairs(target, gain)
        for budget in budgets
        for way in _ways(Candidate(pair, machine, asked, "cuda", budget, False, False))
    )
    return max(found, key=lambda way: way.predicted.tokens_per_second, default=None)


def _ways(candidate: Candidate) -> Iterator[DescribedOwnDraft]:
    """Yield one way for each share in COPIED that fits."""
    pair, machine, budget = candidate.pair, candidate.machine, candidate.budget
    target, draft, form = pair.target, pair.draft, pair.substitutes
    assert draft is not None
    assert form is not None
    free = candidate.usable_nbytes - candidate.overhead_nbytes  # beside a whole copy
    in_ram = machine.usable_ram - candidate.ram_beside_card
    ring = SLOTS * max(MAX_SLOT_NBYTES, target.piece)  # at most
    tokens = pair.acceptance.tokens(budget)
    for copied in COPIED:
        # Bytes of the copy that each resident byte spares. The ring spares none.
        spared = (1 - copied) * draft.multiplied / target.multiplied
        nbytes = int((free - spared * ring) / (1 - spared))
        placement = place(target, nbytes, in_ram) if min(nbytes, in_ram) > 0 else None
        if placement is None or not placement.streamed:
            continue
        resident = placement.device + placement.spare
        way = _growth(candidate, (1 - copied) * resident / sum(target.layers), tokens)
        yield DescribedOwnDraft(
            form=form.name,
            copied=copied,
            resident=resident,
            copy=int(draft.multiplied - spared * resident),
            limits=WeightLimits(nbytes, placement.ram + placement.staging if placement.ssd else None),
            budget=budget,
            growth=way,
            predicted=_predicted(candidate, placement, tokens, way),
        )


def _growth(candidate: Candidate, shared: float, tokens: float) -> Growth:
    """Return how trees grow. shared: the share of the layers that the draft reads as the target has them."""
    target, draft = candidate.pair.target, candidate.pair.draft
    assert draft is not None
    compute = candidate.compute(target)
    layers = replace(target, head=0, table_weights=0)
    products = replace(compute, layer_s=0.0)  # the copy's part counts what layers do besides

    def round_s(beams: int) -> float:
        of_copy = pass_s(draft, beams, compute, False, of_layers=1 - shared)
        return of_copy + pass_s(layers, beams, products, False, of_layers=shared)

    return fastest_growth(candidate.budget, tokens, round_s)


def _predicted(
    candidate: Candidate, placement: LayerPlacement, tokens: float, way: Growth
) -> PredictedIteration:
    target, rows = candidate.pair.target, 1 + candidate.budget
    compute = candidate.compute(target)
    computing_s = pass_s(target, rows, compute, False)
    launched_s = launching_s(target, placement, rows, compute)
    return iteration(tokens, way.s, computing_s, stream(placement, candidate.machine, True, 1.0), launched_s)
