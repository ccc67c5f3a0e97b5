"""The machines and cards that a target is to be served on."""

import math
import re
from dataclasses import dataclass

from engine.errors import BadOption

GIB = 2**30

# What an engine may take of a card's memory; the emitted commands say so too.
SHARE = 0.90
# Memory that an engine takes on each card beside weights and KV cache: activations, CUDA graphs, buffers of
# collective operations. An estimate, as no card was measured.
RESERVED = 3 * GIB // 2
MOST = 4096  # machines, or cards in one


@dataclass(frozen=True, slots=True)
class Cluster:
    """`nodes` machines, each with `gpus` cards of `gib` GiB."""

    nodes: int
    gpus: int
    gib: float

    @property
    def usable(self) -> int:
        """Bytes of one card that weights and KV cache may take."""
        return max(0, int(self.gib * GIB * SHARE) - RESERVED)

    def __str__(self) -> str:
        cards = f"{self.gpus} card{'s' * (self.gpus > 1)} of {self.gib:g} GiB"
        return cards if self.nodes == 1 else f"{self.nodes} machines with {cards} each"


def cluster_of(cards: str, nodes: int = 1) -> Cluster:
    """Return the cluster that `cards` describes, such as "2x24", two cards of 24 GiB, in each of `nodes`
    machines. Raises BadOption."""
    found = re.fullmatch(r"([0-9]{1,4})[x×]([0-9]{1,5}(?:\.[0-9]+)?)", cards)
    gpus, gib = (int(found[1]), float(found[2])) if found else (0, 0.0)
    if not (0 < gpus <= MOST and 0 < gib < math.inf):
        raise BadOption(
            f"{cards!r} does not describe cards.",
            "Give their number and the GiB of each, such as --gpus 2x24.",
        )
    if not 0 < nodes <= MOST:
        raise BadOption(f"{nodes} is not a number of machines.", f"Give --nodes a number from 1 to {MOST:,}.")
    return Cluster(nodes, gpus, gib)
