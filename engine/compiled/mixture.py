"""A mixture of experts in a compiled program: its weights, its steps, and the memory that all mixtures of a
pass share."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.compiled import experts, router, steps
from engine.compiled.early_router import EarlyRouter
from engine.compiled.expert_steps import EarlySteps, ExpertSource, ExpertSteps
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


@dataclass(frozen=True, slots=True)
class Expert:
    """The matrices of an expert, as those of a `Layer`: no gate, where no feed-forward network has one."""

    gate_up: Sequence[Matrix]
    down: Sequence[Matrix]


@dataclass(frozen=True, slots=True)
class ExpertBiases:
    """The biases of all experts. gate_up: of the gate and the up projection, float32 [experts, 2 * inner];
    down: float32 [experts, width]."""

    gate_up: Floats
    down: Floats


@dataclass(frozen=True, slots=True)
class Mixture:
    """The experts of a layer, all of one shape. Vectors are float32.

    router: matrices whose results are the scores of the experts. chosen: number of experts that a row uses.
    inner: width within an expert. sigmoid, normalized, epsilon, factor: how scores become shares, see
    `router.route_step`. groups, kept_groups: of neighbouring experts, and in how many a row chooses.
    router_bias: of the scores, or None. corrections: are added to shares for the choice, or None. biases: of
    the experts, or None. bound, slope: see `experts.bounded_gate_block`; 0 if nothing is bounded. shared: an
    expert that all rows use besides, whatever its width; None if there is none. shared_gate: matrices whose
    result is the score of that one; empty if its share is 1. source: brings the experts that are chosen; None
    if all are in memory.
    """

    router: Sequence[Matrix]
    experts: Sequence[Expert]
    chosen: int
    inner: int
    sigmoid: bool = False
    normalized: bool = True
    epsilon: float = 0.0
    factor: float = 1.0
    groups: int = 1
    kept_groups: int = 1
    router_bias: Floats | None = None
    corrections: Floats | None = None
    biases: ExpertBiases | None = None
    bound: float = 0.0
    slope: float = 0.0
    shared: Expert | None = None
    shared_gate: Sequence[Matrix] = ()
    source: ExpertSource | None = None

    @property
    def matrices(self) -> list[Matrix]:
        """All matrices except those of the experts that are chosen."""
        shared = [*self.shared.gate_up, *self.shared.down] if self.shared else []
        return [*self.routers, *shared]

    @property
    def routers(self) -> list[Matrix]:
        """The matrices whose results are scores."""
        return [*self.router, *self.shared_gate]

    @property
    def gate_up(self) -> list[Matrix]:
        return [matrix for expert in self.experts for matrix in expert.gate_up]

    @property
    def down(self) -> list[Matrix]:
        return [matrix for expert in self.experts for matrix in expert.down]

    def route_arguments(self, scores: Floats) -> list[int | float]:
        """Return the arguments of `router.route_step` behind those of the state and the routing."""
        return [
            *(address(scores), scores.strides[0], len(self.experts), self.chosen),
            *(2 * self.sigmoid + self.normalized, address(self.router_bias)),
            *(address(self.corrections), float(self.factor), self.groups, self.kept_groups),
            float(self.epsilon),
        ]


class MixtureRoom:
    """The memory that the mixtures of a pass share: their layers run one after another.

    Attributes: `records`: the rows that routers and experts read; `scores`, float32 [rows, experts, padding,
    the shared one, padding]; `early`: asks routers before their turn, or None if no expert can be missed.
    """

    def __init__(self, mixtures: Sequence[Mixture], width: int, rows: int, state: Ints) -> None:
        """mixtures: those of the pass, all with the same numbers of experts. width: of a state; rows: their
        largest number in a pass; state: that of the pass."""
        one = mixtures[0]
        self._experts, self._k = len(one.experts), one.chosen
        self._width, self._inner, self._state = width, one.inner, address(state)
        within = sum(matrix.shape[0] for matrix in one.experts[0].gate_up)  # as wide as one or both
        self._gated = within > one.inner
        choices = rows * self._k
        gate_up = [matrix for each in mixtures for matrix in each.gate_up]
        others = [matrix for each in mixtures for matrix in each.routers]
        others += [matrix for each in mixtures if each.shared for matrix in each.shared.gate_up]
        self.records = Records(width, [*gate_up, *others], rows)
        self.scores = room(rows, LANES * max(sum(each.tiles for each in one.routers) for one in mixtures))
        self._into_gate = Records(width, gate_up, choices)
        self._into_down = Records(one.inner, [matrix for each in mixtures for matrix in each.down], choices)
        self._within, self._results = room(choices, within), room(choices, width)
        self._used = aligned(8 * self._experts).view(np.int64)
        self._choices = [aligned(8 * choices) for _ in range(5)]
        self._chosen = self._choices[router.CHOSEN].view(np.int64).reshape(rows, self._k)
        self._starts = aligned(8 * (self._experts + 1))
        self._routing = aligned(8 * router.ROUTING).view(np.int64)
        self._routing[: router.USED] = [address(part) for part in self._choices]
        self._routing[router.USED : router.FIRST] = address(self._used), address(self._starts)
        self.early = EarlyRouter(mixtures, width) if one.source else None

    def add_choice(self, mixture: Mixture, program: StepTable) -> None:
        """Append the steps right behind the product of the router."""
        both = self._state, address(self._routing)
        program.add(router.route_step, *both, *mixture.route_arguments(self.scores))
        program.add(router.group_step, *both, self._experts, self._k)
        gathered = *self.records.addresses, *self._into_gate.addresses
        program.add(experts.gather_step, *both, self._k, self._width // BLOCK, *gathered)

    def add_experts(
        self,
        mixture: Mixture,
        program: StepTable,
        result: Floats,
        gelu: bool,
        tiles: tuple[int, int],
        shared: Floats | None,
        early: Sequence[EarlySteps],
    ) -> ExpertSteps | None:
        """Append the steps behind the choice; `result`, float32 [rows, width], gets what the layer adds to
        the states. tiles: room for a tile of each thread, as for a product step. shared: the results of the
        shared expert, float32 [rows, width]. early: the steps right before. Return the steps that
        run whenever experts arrive; None if they run once for all of them."""
        both, biases = (self._state, address(self._routing)), mixture.biases
        first, counted = len(program.steps), program.counted
        gate_up = [each.gate_up for each in mixture.experts]
        self._add_product(program, gate_up, self._into_gate, self._within, tiles)
        places = *both, address(self._within), self._inner, *self._into_down.addresses
        if self._gated:
            of_gate = address(biases.gate_up if biases else None), float(mixture.bound), float(mixture.slope)
            program.add(experts.expert_gate_step, *places, int(gelu), *of_gate)
        else:
            program.add(experts.expert_square_step, *places)
        down = [each.down for each in mixture.experts]
        self._add_product(program, down, self._into_down, self._results, tiles)
        last, counters = len(program.steps), program.counters[counted : program.counted]
        gate = 0
        if mixture.shared_gate:
            gate = address(self.scores) + 4 * LANES * sum(matrix.tiles for matrix in mixture.router)
        program.add(
            experts.sum_step,
            *(*both, self._k, self._width, address(self._results), address(result)),
            *(address(biases.down if biases else None), address(shared), gate, self.scores.strides[0]),
        )
        program.kept += [self, mixture, shared]
        if mixture.source is None:
            return None
        where = self._routing, self._used, self._chosen
        return ExpertSteps(first, last, mixture.source, counters, *where, early)

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
