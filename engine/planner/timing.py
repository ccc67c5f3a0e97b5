"""Seconds of a target pass, of growing a tree, of an iteration (DESIGN section 4's bounds)."""

from dataclasses import dataclass
from typing import Literal

from engine.planner.machines import Compute, Machine
from engine.planner.outlines import Outline
from engine.planner.placing import Placement

Limit = Literal["disk", "PCIe", "compute", "draft"]

BEAMS = (4, 8, 16, 32, 64, 128)
# A tree is about so much deeper than the path accepted, and takes a round for each level (coder pair, 96
# tokens: 8, 13, 20 rounds at budgets of 16, 64, 256 with 16 beams, 5.9, 8.6, 10.6 tokens per pass).
DEPTH = 1.4
WIDTH = 0.3  # and, where it is wide, for some of its levels more than one


def pass_s(model: Outline, rows: int, compute: Compute, unpacked: bool, logits: int | None = None) -> float:
    """Seconds of one pass with all weights on the device. unpacked: they were, at loading. logits: rows that
    get them; None: all."""
    head = model.table_weights
    weights = model.layer_weights * model.touched(rows) + head
    products = 2 * (model.layer_weights * model.active * rows + head * (rows if logits is None else logits))
    seconds = products / compute.flops + len(model.layers) * compute.layer_s
    if model.packed and not unpacked:
        if rows <= compute.fused_rows:
            stored = sum(model.layers) * model.touched(rows) + model.head
            return seconds + stored / compute.memory
        seconds += weights / compute.unpack
    return seconds + weights * compute.itemsize / compute.memory


def growth_s(draft: Outline, budget: int, tokens: float, compute: Compute, unpacked: bool) -> float:
    """Seconds of growing one tree, with the beams that make it shortest. tokens: per pass."""
    return min(
        (DEPTH * tokens + WIDTH * budget / beams) * pass_s(draft, beams, compute, unpacked) for beams in BEAMS
    )


@dataclass(frozen=True, slots=True)
class Stream:
    """What is moved in each pass. link_s: over PCIe, disk_s: from the SSD; behind_ring_s: of the slower, what
    is not in the ring when a pass begins."""

    link_s: float
    disk_s: float
    behind_ring_s: float

    @property
    def s(self) -> float:
        return max(self.link_s, self.disk_s)

    @property
    def slower(self) -> Limit:
        return "PCIe" if self.link_s > self.disk_s else "disk"


def stream(placement: Placement, machine: Machine, on_card: bool, used: float) -> Stream:
    """used: share of the layers' weights that a pass needs."""

    def seconds(ring: int, staging: int) -> tuple[float, float]:
        moved = max(0.0, placement.streamed * used - ring) if on_card else 0.0
        read = max(0.0, placement.ssd * used - (staging if on_card else ring))
        return moved / machine.link, read / machine.disk

    link_s, disk_s = seconds(0, 0)
    return Stream(link_s, disk_s, max(seconds(placement.ring, placement.staging)))


@dataclass(frozen=True, slots=True)
class Iteration:
    """Seconds, predicted. `draft_s` of growing the tree, `target_s` of the pass that checks it, with waiting
    for what is streamed."""

    tokens: float
    draft_s: float
    target_s: float
    limited_by: Limit

    @property
    def s(self) -> float:
        return self.draft_s + self.target_s

    @property
    def tokens_per_second(self) -> float:
        return self.tokens / self.s


def iteration(tokens: float, draft_s: float, computing_s: float, streaming: Stream) -> Iteration:
    """While drafting and verifying take turns: max(B / link, t_draft + max((B - ring) / link, t_target))."""
    behind_s = max(streaming.behind_ring_s, computing_s)
    limited_by: Limit = streaming.slower
    if streaming.s < draft_s + behind_s:
        if draft_s > behind_s:
            limited_by = "draft"
        elif computing_s >= streaming.behind_ring_s:
            limited_by = "compute"
    return Iteration(tokens, draft_s, max(streaming.s - draft_s, behind_s), limited_by)
