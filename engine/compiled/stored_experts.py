"""Products of rows and the experts that they chose, as a file stores these, outside of any pass."""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from engine import interruption
from engine.compiled import experts, router, steps
from engine.compiled.instructions import LANES
from engine.compiled.layout import BLOCK
from engine.compiled.matrix import StreamedMatrix, aligned
from engine.compiled.pool import ComputePool
from engine.compiled.table import Floats, Ints, Records, StepTable, address, product_arguments, room
from engine.streaming.disk_watch import end_if_interrupted

# The matrices of an expert that share an input, such as gate and up.
Matrices = Sequence[StreamedMatrix]


class StoredExperts:
    """A program of two steps for each mixture: the input of choices becomes records, which are multiplied by
    the matrices of the experts chosen. All experts have matrices of the same shapes."""

    def __init__(self, mixtures: Sequence[Sequence[Matrices]], pool: ComputePool, choices: int) -> None:
        """mixtures: the matrices of each expert, of each mixture; their bytes stay where they are. choices:
        the most that are multiplied at a time, where a choice is one row's use of one expert."""
        one = mixtures[0][0]
        matrices = [matrix for mixture in mixtures for expert in mixture for matrix in expert]
        self._kept = mixtures  # the table refers to the places of their bytes
        self._pool = pool
        self._state = aligned(8 * steps.STATE).view(np.int64)
        self._state[steps.STOP] = interruption.ADDRESS
        self._columns = one[0].shape[1]
        self._rows = [matrix.shape[0] for matrix in one]
        self._starts_of = [0, *accumulate(LANES * matrix.tiles for matrix in one)]
        self._input = room(choices, self._columns)
        self._output = room(choices, self._starts_of[-1])
        self._records = Records(self._columns, matrices, choices)
        self._used_of = aligned(8 * choices).view(np.int64)
        self._used = aligned(8 * len(mixtures[0])).view(np.int64)
        self._starts = aligned(8 * (len(mixtures[0]) + 1)).view(np.int64)
        self._routing = aligned(8 * router.ROUTING).view(np.int64)
        self._routing[router.USED_OF] = address(self._used_of)
        self._routing[router.USED : router.FIRST] = address(self._used), address(self._starts)
        self._tile_nbytes = max(matrix.tile_nbytes for matrix in matrices)
        self._tiles = aligned(pool.threads * self._tile_nbytes)
        self._program = StepTable(counters=aligned(64).view(np.int64).reshape(1, 8))
        self._counter = self._program.counter()
        self._tables: list[Ints] = [self._table(mixture) for mixture in mixtures]

    def _table(self, mixture: Sequence[Matrices]) -> Ints:
        program, out = self._program, self._output
        first, one = len(program.steps), mixture[0]
        both, records = (address(self._state), address(self._routing)), self._records.addresses
        program.add(experts.choice_record_step, *both, address(self._input), self._columns, *records)
        described = np.array(
            [
                [
                    product_arguments(matrix, address(out) + 4 * start, out.strides[0])
                    for matrix, start in zip(expert, self._starts_of, strict=False)
                ]
                for expert in mixture
            ],
            np.int64,
        )
        program.kept.append(described)
        program.add(
            experts.expert_product_step,
            *(*both, self._counter, *records, self._columns // BLOCK, sum(matrix.tiles for matrix in one)),
            *(address(self._tiles), self._tile_nbytes, len(one), address(described), out.strides[0]),
        )
        return program.table()[first:].copy()

    def multiply(
        self, mixture: int, used: Sequence[int], counts: Sequence[int], choices: Floats
    ) -> list[Floats]:
        """Multiply the input of choices, float32 [choices, columns], by the experts `used` of a mixture, of
        which each has as many choices as `counts` says, one after another. Return for each matrix of an
        expert the products, float32 [choices, rows of the matrix], valid until the next call. Raises
        Interrupted if another thread ended the pass."""
        total = len(choices)
        self._input[:total] = choices
        self._used[: len(used)] = used
        self._starts[: len(used) + 1] = [0, *accumulate(counts)]
        self._used_of[:total] = np.repeat(np.arange(len(used)), counts)
        self._routing[router.FIRST], self._routing[router.LAST] = 0, len(used)
        self._program.counters[:] = 0
        self._pool.run(address(self._tables[mixture]), 0, 2)
        end_if_interrupted()
        return [
            self._output[:total, start : start + rows]
            for start, rows in zip(self._starts_of, self._rows, strict=False)
        ]
