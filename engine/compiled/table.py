"""The table of a program's steps under construction, and the memory that its steps read and write."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.compiled import steps
from engine.compiled.activations import PLAIN_NBYTES, RECORD_NBYTES
from engine.compiled.layout import BLOCK, TILES
from engine.compiled.matrix import CachedMatrix, Matrix, StreamedMatrix, TiledMatrix, aligned
from engine.compiled.parts_packer import packer_of
from engine.compiled.product import ROW_COUNTS, tile_product

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

_COUNTS = (16, 8, 4, 2, 1)  # the row counts for which a product step has addresses


@dataclass(slots=True)
class StepTable:
    """A table of steps under construction. Attributes: `steps`, the addresses of each step's code and of its
    arguments; `kept`, everything that the arguments point to; `counters`, int64 [products, 8], zero at the
    start of each run: a cache line for each product; `counted`, how many of them are in use."""

    steps: list[tuple[int, int]] = field(default_factory=list)
    kept: list[Any] = field(default_factory=list)
    counters: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    counted: int = 0

    def add(self, step: Callable[..., None], *arguments: int | float) -> Ints:
        """Append a step; return its arguments. A float is passed as the bits of a float32."""
        numbers = [_bits(value) if isinstance(value, float) else value for value in arguments]
        kept = np.array(numbers, np.int64)
        self.kept.append(kept)
        self.steps.append((steps.step_address(step), kept.ctypes.data))
        return kept

    def counter(self) -> int:
        """Return the address of the next counter."""
        self.counted += 1
        return address(self.counters[self.counted - 1])

    def table(self) -> Ints:
        return np.array(self.steps, np.int64)


def address(array: NDArray[Any] | None) -> int:
    return 0 if array is None else int(array.ctypes.data)


def _bits(value: float) -> int:
    return int(np.float32(value).view(np.int32))


class Records:
    """Room for the activations that a product reads, in the forms that its matrices need."""

    def __init__(self, columns: int, matrices: Sequence[Matrix], rows: int) -> None:
        blocks = rows * (columns // BLOCK)
        plain = [bool(TILES[matrix.layout].number) for matrix in matrices]
        self._packed = None if all(plain) else aligned(blocks * RECORD_NBYTES)
        self._plain = aligned(blocks * PLAIN_NBYTES) if any(plain) else None
        self.addresses = address(self._packed), address(self._plain)


@dataclass(frozen=True, slots=True)
class ProductResult:
    """Where a product step writes. arguments: of the step; matrices: their number."""

    arguments: Ints
    matrices: int

    def move(self, nbytes: int) -> None:
        """Write the results of all matrices `nbytes` further on."""
        first = steps.PRODUCT_HEAD + steps.PRODUCT_OUT
        self.arguments[first :: steps.PRODUCT_MATRIX] += nbytes


def product_arguments(matrix: Matrix, out: int, out_nbytes: int) -> list[int]:
    """Return the arguments of a product step for a matrix. out: address of the results; out_nbytes: bytes
    from one row of results to the next."""
    products = [tile_product(matrix.layout, count) if count in ROW_COUNTS else 0 for count in _COUNTS]
    plain = int(bool(TILES[matrix.layout].number))
    packing = [0, 0, 0]
    if isinstance(matrix, CachedMatrix):
        packing[1] = address(matrix.place)
    if isinstance(matrix, StreamedMatrix):
        packing = [packer_of(matrix.stored or matrix.layout), address(matrix.place), matrix.shape[0]]
    data = address(matrix.data) if isinstance(matrix, TiledMatrix) else 0
    return [data, matrix.tiles, matrix.tile_nbytes, out, out_nbytes, plain, *products, *packing]


def room(*size: int) -> Floats:
    """Return zeros, float32, aligned."""
    return aligned(4 * math.prod(size)).view(np.float32).reshape(size)
