"""A mixture of experts in a compiled program: its weights, its steps, and the memory that all mixtures of a
pass share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from engine.compiled import experts, router, steps
from engine.compiled.instructions import LANES
from engine.compiled.layout import BLOCK
from engine.compiled.matrix import Matrix, aligned
from engine.compiled.table import (
    Floats,
    Ints,
    Records,
    StepTable,
    address,
    product_arguments,
    room,
)


class ExpertSource(Protocol):
    """Brings the experts of one mixture that are not in memory."""

    def choose(self, wanted: Sequence[int]) -> None:
        """Announce the experts that this pass fetches, in the order of use."""

    def fetch(self, expert: int) -> None:
        """Put the matrices of an expert in place, until the next fetch. Raises StreamBroken if they cannot be
        read, and Interrupted if the pass is interrupted meanwhile."""


@dataclass(frozen=True, slots=True)
class Expert:
    """The matrices of an expert, as those of a `Layer`."""

    gate_up: Sequence[Matrix]
    down: Sequence[Matrix]


@dataclass(frozen=True, slots=True)
class Mixture:
    """The experts of a layer.

    router: matrices whose results are the scores of the experts. chosen: number of experts that a row uses.
    normalized: whether the shares of these add up to one. inner: width within an expert. source: brings the
    experts; None if all are in memory.
    """

    router: Sequence[Matrix]
    experts: Sequence[Expert]
    chosen: int
    normalized: bool
    inner: int
    source: ExpertSource | None = None

    @property
    def gate_up(self) -> list[Matrix]:
        return [matrix for expert in self.experts for matrix in expert.gate_up]

    @property
    def down(self) -> list[Matrix]:
        return [matrix for expert in self.experts for matrix in expert.down]


@dataclass(frozen=True, slots=True)
class ExpertSteps:
    """The steps first..last of a table that multiply by a mixture's experts. They run once for each used
    expert, after it has been fetched. counters: of their products; routing, used: see `router`."""

    first: int
    last: int
    source: ExpertSource
    counters: Ints
    routing: Ints
    used: Ints


class MixtureRoom:
    """The memory that the mixtures of a pass share: their layers run one after another.

    Attributes: `records`: the rows that routers and experts read; `scores`, float32 [rows, experts and
    padding].
    """

    def __init__(self, mixtures: Sequence[Mixture], width: int, rows: int, state: Ints) -> None:
        """mixtures: those of the pass, all with the same numbers of experts. width: of a state; rows: their
        largest number in a pass; state: that of the pass."""
        one = mixtures[0]
        self._experts, self._k = len(one.experts), one.chosen
        self._width, self._inner, self._state = width, one.inner, address(state)
        choices = rows * self._k
        gate_up = [matrix for each in mixtures for matrix in each.gate_up]
        routers = [matrix for each in mixtures for matrix in each.router]
        self.records = Records(width, [*gate_up, *routers], rows)
        self.scores = room(rows, self._experts + LANES)  # the last tile may reach over the end
        self._into_gate = Records(width, gate_up, choices)
        self._into_down = Records(one.inner, [matrix for each in mixtures for matrix in each.down], choices)
        self._gated, self._results = room(choices, 2 * one.inner), room(choices, width)
        self._used = aligned(8 * self._experts).view(np.int64)
        self._choices = [aligned(8 * choices) for _ in range(5)]
        self._starts = aligned(8 * (self._experts + 1))
        self._routing = aligned(8 * router.ROUTING).view(np.int64)
        kept = [*self._choices, self._used, self._starts]
        self._routing[: router.FIRST] = [address(part) for part in kept]

    def add(
        self, mixture: Mixture, program: StepTable, result: Floats, gelu: bool, tiles: tuple[int, int]
    ) -> ExpertSteps | None:
        """Append the steps behind the product of the router; `result`, float32 [rows, width], gets what the
        layer adds to the states. tiles: room for a tile of each thread, as for a product step. Return the
        steps that run once for each expert; None if they run once for all of them."""
        both = self._state, address(self._routing)
        k, blocks = self._k, self._width // BLOCK
        program.add(
            router.route_step,
            *(*both, address(self.scores), self.scores.strides[0], self._experts, k, int(mixture.normalized)),
        )
        program.add(router.group_step, *both, self._experts, k)
        gathered = *self.records.addresses, *self._into_gate.addresses
        program.add(experts.gather_step, *both, k, blocks, *gathered)
        first, counted = len(program.steps), program.counted
        gate_up = [each.gate_up for each in mixture.experts]
        self._add_product(program, gate_up, self._into_gate, self._gated, tiles)
        program.add(
            experts.expert_gate_step,
            *(*both, address(self._gated), self._inner, *self._into_down.addresses, int(gelu)),
        )
        down = [each.down for each in mixture.experts]
        self._add_product(program, down, self._into_down, self._results, tiles)
        last, counters = len(program.steps), program.counters[counted : program.counted]
        program.add(experts.sum_step, *both, k, self._width, address(self._results), address(result))
        program.kept += [self, mixture]
        if mixture.source is None:
            return None
        return ExpertSteps(first, last, mixture.source, counters, self._routing, self._used)

    def _add_product(
        self,
        program: StepTable,
        of_experts: Sequence[Sequence[Matrix]],
        records: Records,
        out: Floats,
        tiles: tuple[int, int],
    ) -> None:
        """Append the product of the choices and their experts' matrices."""
        matrices = max(map(len, of_experts))
        table = np.zeros((len(of_experts), matrices, steps.PRODUCT_MATRIX), np.int64)
        for expert, group in enumerate(of_experts):
            column = 0
            for number, matrix in enumerate(group):
                table[expert, number] = product_arguments(matrix, address(out) + 4 * column, out.strides[0])
                column += matrix.shape[0]
        program.add(
            experts.expert_product_step,
            *(self._state, address(self._routing), program.counter(), *records.addresses),
            *(of_experts[0][0].shape[1] // BLOCK, sum(matrix.tiles for matrix in of_experts[0])),
            *(*tiles, matrices, address(table), out.strides[0]),
        )
        program.kept.append(table)
