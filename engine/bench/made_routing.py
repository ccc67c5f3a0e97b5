"""Made-up routing of a mixture of experts with a stated skew and overlap, and the chances behind it."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import BadOption


@dataclass(frozen=True, slots=True)
class Routing:
    """A mixture's shape, and how its tokens are routed.

    Attributes: `layers`; `experts` of each layer; `chosen` by each token; `rows`: consecutive tokens in a
    pass; `passes`; `skew`: in each layer, the expert of rank r is drawn in proportion to r ** -skew;
    `overlap`: the chance that a token chooses an expert because the token before has; `seed`.
    """

    layers: int = 48
    experts: int = 128
    chosen: int = 8
    rows: int = 1
    passes: int = 200
    skew: float = 1.0
    overlap: float = 0.6
    seed: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.chosen < self.experts or min(self.layers, self.rows, self.passes) < 1:
            raise BadOption(
                f"A routing of {self.chosen} of {self.experts} experts in {self.layers} layers, {self.rows} "
                f"rows and {self.passes} passes is none.",
                "Give whole numbers of at least 1, and more experts than are chosen.",
            )
        if not 0 <= self.overlap <= 1 or not 0 <= self.skew <= 10:
            raise BadOption(
                f"The overlap {self.overlap} or the skew {self.skew} is out of range.",
                "The overlap is 0 to 1, the skew 0 to 10.",
            )


class MixtureTurn(NamedTuple):
    """A mixture's turn in a pass. Experts are numbered among those of all mixtures.

    Attributes: `mixture`; `wanted`: the experts that the pass chooses, ascending; `last`: those of these that
    its last token chooses.
    """

    mixture: int
    wanted: list[int]
    last: list[int]


def routed(routing: Routing) -> Iterator[MixtureTurn]:
    """Yield the turns of each pass after the other."""
    random = np.random.default_rng(routing.seed)
    likely = [weights(routing)[ranks] for ranks in _ranks(routing, random)]
    last = [np.zeros(0, np.int64) for _ in range(routing.layers)]
    for _ in range(routing.passes):
        for layer in range(routing.layers):
            chosen: set[int] = set()
            for _ in range(routing.rows):
                stay = last[layer][random.random(len(last[layer])) < routing.overlap]
                chances = likely[layer].copy()
                chances[stay] = 0
                drawn = random.choice(
                    routing.experts, routing.chosen - len(stay), False, chances / chances.sum()
                )
                last[layer] = np.concatenate([stay, drawn])
                chosen.update(last[layer].tolist())
            first = layer * routing.experts
            yield MixtureTurn(
                layer,
                sorted(first + expert for expert in chosen),
                [first + expert for expert in last[layer].tolist()],
            )


def weights(routing: Routing) -> NDArray[np.float64]:
    """Return the weight of each rank, with which an expert is drawn."""
    return np.arange(1.0, routing.experts + 1) ** -routing.skew


def _ranks(routing: Routing, random: np.random.Generator) -> list[NDArray[np.int64]]:
    return [random.permutation(routing.experts) for _ in range(routing.layers)]


def chances(routing: Routing) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the chances with which a pass uses each expert, float64 [all experts], if the last token of the
    pass before did not choose it, and if it did.

    A mean-field solution: of n experts with weights w, a draw of k without replacement contains expert i with
    chance 1 - exp(-w_i t), where t is such that these sum up to k (Rosen, "Asymptotic theory for order
    sampling", 1997); the experts that stay are left out of the draw by their mean.
    """
    each = weights(routing)
    stays = routing.overlap
    counts = range(1, routing.chosen + 1)
    draws = [(k, comb(routing.chosen, k) * (1 - stays) ** k * stays ** (routing.chosen - k)) for k in counts]
    among = np.full(routing.experts, routing.chosen / routing.experts)  # chance to be chosen by a token
    for _ in range(50):
        left = 1 - among * stays
        drawn = sum(share * _drawn(each, left, k) for k, share in draws) + np.zeros(routing.experts)
        among = drawn / (1 - stays + stays * drawn) if stays < 1 else among
    again = stays + (1 - stays) * drawn
    never = (1 - drawn) ** (routing.rows - 1)
    ranks = np.concatenate(_ranks(routing, np.random.default_rng(routing.seed)))
    return (1 - (1 - drawn) * never)[ranks], (1 - (1 - again) * never)[ranks]


def _drawn(each: NDArray[np.float64], left: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return the chance of each expert to be among `count` drawn ones, if it is `left` to be drawn."""
    low, high = 0.0, 1.0
    while left @ (1 - np.exp(-each * high)) < count and high < 1e9:
        low, high = high, 2 * high
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if left @ (1 - np.exp(-each * middle)) < count else (low, middle)
    found: NDArray[np.float64] = 1 - np.exp(-each * high)
    return found
