"""Predict the seconds of a target pass, of growing a tree, and of an iteration, from the bounds in
docs/design.md, section 4."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from engine.machine.disk_reads import READERS
from engine.planner.launches import halving_nbytes, pieces
from engine.planner.layer_placement import LayerPlacement
from engine.planner.machines import Compute, MachineProfile
from engine.planner.outline import Outline
from engine.planner.run_rows import RECORDED_ROWS
from engine.planner.tiers import MAX_SLOT_NBYTES

Limit = Literal["disk", "PCIe", "compute", "launching", "draft"]

BEAMS = (4, 8, 16, 32, 64, 128)
# Depth of a tree relative to the accepted path. Each level takes a round of the draft. Measured with the
# coder pair, 96 tokens and 16 beams: 8, 13 and 20 rounds at budgets of 16, 64 and 256, where a pass gave 5.9,
# 8.6 and 10.6 tokens.
DEPTH = 1.4
WIDTH = 0.3  # additional rounds that wide trees take, relative to budget / beams


def pass_s(
    model: Outline,
    rows: int,
    compute: Compute,
    unpacked: bool,
    logits: int | None = None,
    of_layers: float = 1.0,
) -> float:
    """Return the seconds that one pass takes with all weights on the device. unpacked: whether weights were
    unpacked at loading. logits: number of rows whose logits are computed; None for all rows. of_layers: the
    share of the layers' weights that this device multiplies by."""
    head, of_all = model.table_weights, model.layer_weights * of_layers
    weights = of_all * model.touched(rows) + head
    products = 2 * (of_all * model.active * rows + head * (rows if logits is None else logits))
    is_fused = not unpacked and rows <= compute.fused_rows
    flops = compute.flops * (compute.fused_share if is_fused and model.packed else 1.0)
    seconds = products / flops + len(model.layers) * compute.layer_s
    if is_fused:
        stored = sum(model.layers) * of_layers * model.touched(rows) + model.head
        return seconds + stored * (1.0 if compute.unpacks else model.expansion) / compute.memory
    if model.packed and not unpacked:
        seconds += weights / compute.unpack
    if compute.halves:
        seconds += of_layers * rows * halving_nbytes(model.matrices, model.chosen) / compute.memory
    return seconds + weights * compute.itemsize / compute.memory


def launching_s(
    model: Outline,
    placement: LayerPlacement,
    rows: int,
    compute: Compute,
    unpacked: bool = False,
    near: float = 0.0,
) -> float:
    """Return the seconds in which the processor launches a pass on a card, piece by piece. unpacked: whether
    weights were unpacked at loading. near: the share of the experts in use by which the processor
    multiplies."""
    whole = placement.whole
    if whole and rows <= RECORDED_ROWS and not model.experts and not model.states:
        return 0.0  # it is replayed from a recording
    # Matrices of plain numbers, which are not cut.
    numbers = whole and (unpacked or not model.packed) and not compute.halves
    slot = None if whole else MAX_SLOT_NBYTES
    always, of_experts = pieces(model.matrices, slot, numbers or rows <= compute.fused_rows, numbers)
    used = (1 - near) * (1 - (1 - model.chosen) ** rows)
    return compute.launch_s * (always + of_experts * used)


@dataclass(frozen=True, slots=True)
class Growth:
    """How one tree grows: in `rounds` rounds on average, each of `beams` rows and `round_s` seconds."""

    rounds: float
    beams: int
    round_s: float

    @property
    def s(self) -> float:
        return self.rounds * self.round_s


def growth(draft: Outline, budget: int, tokens: float, compute: Compute, unpacked: bool) -> Growth:
    """Return how one tree grows with the number of beams that is fastest. tokens: how many are expected
    per pass."""
    return fastest_growth(budget, tokens, lambda beams: pass_s(draft, beams, compute, unpacked))


def fastest_growth(budget: int, tokens: float, round_s: Callable[[int], float]) -> Growth:
    """Return the same for rounds that take `round_s(beams)` seconds."""
    ways = (Growth(DEPTH * tokens + WIDTH * budget / beams, beams, round_s(beams)) for beams in BEAMS)
    return min(ways, key=lambda way: way.s)


@dataclass(frozen=True, slots=True)
class Stream:
    """The seconds that moving the streamed weights of one pass takes.

    Attributes: `link_s`: seconds over PCIe; `disk_s`: seconds from the SSD; `behind_ring_s`: seconds on the
    slower of the two, without the weights that are already in the rings when the pass begins; `in_turn`:
    whether computation waits meanwhile, because only then it is known what has to be moved; `one_stream`:
    whether the card does not compute while the link moves anything to it.
    """

    link_s: float
    disk_s: float
    behind_ring_s: float
    in_turn: bool = False
    one_stream: bool = False

    @property
    def s(self) -> float:
        return max(self.link_s, self.disk_s)

    def card_s(self, computing_s: float) -> float:
        """Return the seconds that the card takes for computation of `computing_s`, and for copies that keep
        it from computing."""
        return computing_s + (self.link_s if self.one_stream else 0.0)

    @property
    def slower(self) -> Limit:
        return "PCIe" if self.link_s > self.disk_s else "disk"


def stream(
    placement: LayerPlacement, machine: MachineProfile, on_card: bool, used: float, lent: float = 0.0
) -> Stream:
    """Return the seconds that moving the streamed weights of one pass takes. used: share of the layers'
    weights that the pass needs. lent: bytes in RAM that are not moved, because the processor multiplies by
    them there."""

    def seconds(ring: int, staging: int) -> tuple[float, float]:
        moved = max(0.0, placement.streamed * used - lent - ring) if on_card else 0.0
        from_disk = placement.ssd if on_card else placement.streamed
        read = max(0.0, from_disk * used - (staging if on_card else ring))
        return moved / machine.link, read / machine.disk

    link_s, disk_s = seconds(0, 0)
    behind_ring_s = max(seconds(placement.ring, placement.staging))
    return Stream(link_s, disk_s, behind_ring_s, one_stream=machine.one_stream)


def misses(
    model: Outline,
    placement: LayerPlacement,
    machine: MachineProfile,
    rows: int,
    on_card: bool = False,
    packing_s: float = 0.0,
) -> Stream:
    """Return the seconds that moving the experts takes that a pass over `rows` rows uses and that are not in
    the cache. They are moved once their layer has chosen; likely ones are read by the processor before, while
    it computes. A card gets them from RAM; what is read from the disk is reckoned as if the larger of both
    caches held all that the other does. No card has run its cache yet, so a plan takes no hit rate for
    granted there before answers of this model have taught its routing.

    packing_s: seconds in which the processor packs a byte. The thread that has read an expert packs it, and
    another one reads meanwhile.
    """
    missed = model.missed(rows, placement.cache / model.experts, cautious=on_card)
    if not on_card:
        disk_s = missed * max(1 / machine.disk, (1 / machine.disk + packing_s) / READERS)
        return Stream(0.0, disk_s, disk_s)
    share = 1.0 if not placement.ssd else max(placement.cache, placement.ram) / model.experts
    link_s, disk_s = missed / machine.link, model.missed(rows, share, cautious=True) / machine.disk
    return Stream(link_s, disk_s, max(link_s, disk_s), in_turn=True, one_stream=machine.one_stream)


@dataclass(frozen=True, slots=True)
class PredictedIteration:
    """The predicted figures of an iteration.

    Attributes: `tokens`: tokens that it gives; `draft_s`: seconds of growing the tree; `target_s`: seconds of
    the target pass, including waiting for streamed weights; `limited_by`: what limits the speed; `helped`:
    the share of the streamed weights that is lent to the processor, beside a card, in passes of few rows.
    """

    tokens: float
    draft_s: float
    target_s: float
    limited_by: Limit
    helped: float = 0.0

    @property
    def s(self) -> float:
        return self.draft_s + self.target_s

    @property
    def tokens_per_second(self) -> float:
        return self.tokens / self.s


def iteration(
    tokens: float, draft_s: float, computing_s: float, streaming: Stream, launching_s: float = 0.0
) -> PredictedIteration:
    """Return the figures of an iteration in which drafting and verifying alternate. What growing ahead hides
    is little and not predicted (docs/benchmarks/cards.md); answers correct the seconds of drafting. With B
    bytes streamed per pass, an iteration takes max(B / link, t_draft + max((B - ring) / link, t_target));
    with one stream, t_draft + B / link + t_target. The processor launches while the card waits and computes,
    and the pass takes no less than that."""
    if streaming.in_turn:
        waited_s = streaming.behind_ring_s + computing_s
    else:
        waited_s = max(streaming.behind_ring_s, streaming.card_s(computing_s))
    behind_s = max(waited_s, launching_s)
    limited_by: Limit = streaming.slower
    if streaming.s < draft_s + behind_s:
        if draft_s > behind_s:
            limited_by = "draft"
        elif launching_s > waited_s:
            limited_by = "launching"
        elif computing_s >= streaming.behind_ring_s:
            limited_by = "compute"
    return PredictedIteration(tokens, draft_s, max(streaming.s - draft_s, behind_s), limited_by)
