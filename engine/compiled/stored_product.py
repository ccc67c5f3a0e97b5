"""Products of rows and matrices as a file stores them, one at a time, outside of any pass."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from engine import interruption
from engine.compiled import steps
from engine.compiled.instructions import LANES
from engine.compiled.layout import BLOCK
from engine.compiled.matrix import StreamedMatrix, aligned
from engine.compiled.pool import ComputePool
from engine.compiled.table import Floats, Ints, Records, StepTable, address, product_arguments, room
from engine.streaming.disk_watch import end_if_interrupted


class StoredProducts:
    """A program of two steps for each matrix: rows become records, which are multiplied.

    Attribute: `matrices`. Their products share one input and one output.
    """

    def __init__(
        self,
        matrices: Sequence[StreamedMatrix],
        pool: ComputePool,
        rows: int,
        allocate: Callable[[int], NDArray[np.uint8]] = aligned,
    ) -> None:
        """rows: the most that are multiplied at a time. allocate: makes the memory of the input, aligned
        uint8 [bytes]."""
        self.matrices = matrices
        self._pool = pool
        self._state = aligned(8 * steps.STATE).view(np.int64)
        self._state[steps.STOP] = interruption.ADDRESS
        outputs = max(LANES * matrix.tiles for matrix in matrices)
        columns = max(matrix.shape[1] for matrix in matrices)
        self._input = allocate(4 * rows * columns).view(np.float32)
        self._output = room(rows * outputs)
        self._records = Records(columns, matrices, rows)
        tile_nbytes = max(matrix.tile_nbytes for matrix in matrices)
        tiles = aligned(pool.threads * tile_nbytes)
        self._program = StepTable(kept=[tiles], counters=aligned(64).view(np.int64).reshape(1, 8))
        self._counter = self._program.counter()
        self._tables: list[Ints] = [self._table(matrix, tiles, tile_nbytes) for matrix in matrices]

    def _table(self, matrix: StreamedMatrix, tiles: NDArray[np.uint8], tile_nbytes: int) -> Ints:
        program, columns = self._program, matrix.shape[1]
        first = len(program.steps)
        state, records = address(self._state), self._records.addresses
        program.add(steps.record_step, state, address(self._input), columns, *records)
        described = product_arguments(matrix, address(self._output), 4 * LANES * matrix.tiles)
        program.add(
            steps.product_step,
            *(state, self._counter, *records, columns // BLOCK, 0, matrix.tiles),
            *(address(tiles), tile_nbytes, *described),
        )
        return program.table()[first:].copy()

    def input(self, rows: int, columns: int) -> Floats:
        """Return the input of the next products, float32 [rows, columns], to be filled."""
        return self._input[: rows * columns].reshape(rows, columns)

    def multiply(self, number: int, rows: int) -> Floats:
        """Return the product of the input's rows and matrix number `number`, whose bytes are in place:
        float32 [rows, rows of the matrix], valid until the next call. Raises Interrupted if another thread
        ended the pass."""
        matrix = self.matrices[number]
        self._state[steps.ROWS] = self._state[steps.ASKED] = rows
        self._program.counters[:] = 0
        self._pool.run(address(self._tables[number]), 0, 2)
        end_if_interrupted()
        stride = LANES * matrix.tiles
        return self._output[: rows * stride].reshape(rows, stride)[:, : matrix.shape[0]]
