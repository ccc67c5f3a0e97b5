"""Predicts how link and processor share the experts of a mixture that a card lacks."""

from dataclasses import replace

from engine.planner.expert_times import GAIN, ROWS
from engine.planner.layer_placement import LayerPlacement
from engine.planner.lent_share import Helper, processor_share
from engine.planner.outline import Outline
from engine.planner.prediction import Stream


def shared_misses(
    target: Outline, placement: LayerPlacement, missed: Stream, helper: Helper, rows: int
) -> tuple[Stream, float]:
    """Return the seconds that the missed experts of a pass take with the processor's help, and the share of
    their bytes that crosses no link: 0 if the help does not pay, or is not possible.

    missed: the seconds without help. Reckoned as if a layer could be divided where link and processor end
    together, while a loaded model divides whole experts. The processor multiplies by those that are in RAM;
    those that have to be read from the SSD cross the link.
    """
    if not target.near_experts or rows > ROWS or not missed.link_s:
        return missed, 0.0
    of_expert = rows * target.chosen / (1 - (1 - target.chosen) ** rows)  # rows that chose it
    weights = target.layer_weights / sum(target.layers)  # of a byte
    rate = 1 / helper.product_s(1.0, weights, max(1, round(of_expert)), target.packing)
    share = processor_share(rate, helper.link) * _in_ram(target, placement, rows)
    layers, chosen = len(target.layers), rows * target.chosen * target.experts / target.expert
    returned = chosen / layers * share * target.hidden  # a row for each expert chosen
    exchange_s = layers * (helper.exchange_s(rows * target.hidden) + helper.exchange_s(returned))
    shared_s = (1 - share) * missed.link_s + exchange_s
    shared = replace(missed, link_s=shared_s, behind_ring_s=max(shared_s, missed.disk_s))
    return (missed, 0.0) if shared.s >= GAIN * missed.s else (shared, share)


def _in_ram(target: Outline, placement: LayerPlacement, rows: int) -> float:
    """Return the share of the missed experts that are in RAM; see `engine.planner.prediction.misses`."""
    if not placement.ssd:
        return 1.0
    shares = placement.cache / target.experts, max(placement.cache, placement.ram) / target.experts
    missed, read = (target.missed(rows, share, cautious=True) for share in shares)
    return 1 - read / missed
