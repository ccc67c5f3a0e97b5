"""Matrices that are multiplied in tiles: packed once from a file's bytes, or whenever the bytes come."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.compiled.instructions import LANES, call_on_tile
from engine.compiled.layout import ALIGNMENT, BLOCK, TILES
from engine.compiled.parts_packer import packer_of
from engine.formats.format import Parts
from engine.formats.jit import half, helper, kernel, spread

_PIECE_NBYTES = 1 << 20  # what a thread packs at a time
_PLACES = 4  # the addresses of a matrix's parts, of which there are three at most, and a number


def aligned(nbytes: int) -> NDArray[np.uint8]:
    """Return zeroed memory that starts at a multiple of ALIGNMENT."""
    room = np.zeros(nbytes + ALIGNMENT, np.uint8)
    start = -room.ctypes.data % ALIGNMENT
    return room[start : start + nbytes]


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix [rows, columns] that is multiplied in tiles. Attribute: `layout`, a name in TILES."""

    layout: str
    shape: tuple[int, int]

    @property
    def tiles(self) -> int:
        return -(-self.shape[0] // LANES)

    @property
    def tile_nbytes(self) -> int:
        return TILES[self.layout].tile_nbytes(self.shape[1])


@dataclass(frozen=True, slots=True, eq=False)
class CachedMatrix(Matrix):
    """A matrix whose tiles are in memory at times. Attribute: `place`, int64 [1], their address then."""

    place: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class StreamedMatrix(Matrix):
    """A matrix whose bytes, as a file stores them, are in memory for a part of each pass only; its tiles are
    packed when they are multiplied. Attributes: `chunk`, the number of the chunk with which the bytes come;
    `place`, where they are while they are there (`locate`); for one part, int64 [1], its address, is enough;
    `stored`: the format of the file, if it is not that of the tiles."""

    chunk: int
    place: NDArray[np.int64]
    stored: str = ""


def by_chunk(matrices: Sequence[Matrix]) -> list[list[Matrix]]:
    """Divide matrices into groups of neighbours that need one chunk at most."""
    groups: list[list[Matrix]] = []
    chunk: int | None = None
    for matrix in matrices:
        own = matrix.chunk if isinstance(matrix, StreamedMatrix) else None
        if not groups or (own is not None and chunk not in (None, own)):
            groups.append([])
            chunk = None
        chunk = chunk if own is None else own
        groups[-1].append(matrix)
    return groups


@dataclass(frozen=True, slots=True, eq=False)
class TiledMatrix(Matrix):
    """A matrix in tiles that stay in memory. Attribute: `data`, uint8 [tiles * bytes of a tile]."""

    data: NDArray[np.uint8]

    @property
    def nbytes(self) -> int:
        return self.data.nbytes

    def rows(self, which: NDArray[np.int64], out: NDArray[np.float32]) -> None:
        """Unpack the rows `which` into `out`, float32 [rows, columns]."""
        _reader(self.layout)(self.data, self.shape[1], self.tile_nbytes, which, out)


def can_tile(layout: str, shape: tuple[int, int]) -> bool:
    """Return whether a matrix of this format and shape can be multiplied in tiles."""
    if layout not in TILES:
        return False
    return not shape[1] % TILES[layout].step


def new_place() -> NDArray[np.int64]:
    """Return room for what `locate` writes."""
    return np.zeros(_PLACES, np.int64)


def locate(place: NDArray[np.int64], parts: Parts, rows: int) -> None:
    """Write to `place` what packers ask for: the addresses of a matrix's parts, and how many bytes of the
    second one a row has, if there are as many. rows: of the matrix."""
    place[:] = 0  # nothing of a matrix that was here before
    for number, part in enumerate(parts):
        place[number] = part.ctypes.data
    place[-1] = len(parts[1]) // rows if len(parts) > 1 else 0


def tiled(layout: str, shape: tuple[int, int], *parts: NDArray[np.uint8], stored: str = "") -> TiledMatrix:
    """Pack a matrix into tiles. parts: its bytes as a file holds them; stored: their format, if that is not
    `layout`."""
    matrix = TiledMatrix(layout, shape, aligned(-(-shape[0] // LANES) * TILES[layout].tile_nbytes(shape[1])))
    piece = max(1, _PIECE_NBYTES // matrix.tile_nbytes)
    packer, place = packer_of(stored or layout), new_place()
    locate(place, parts, shape[0])

    def work(start: int, stop: int) -> None:
        _pack(packer, place.ctypes.data, *shape, matrix.data.ctypes.data, matrix.tile_nbytes, start, stop)

    spread(matrix.tiles, work, piece)
    return matrix


def pack(matrix: Matrix, stored: str, parts: Parts, into: NDArray[np.uint8]) -> None:
    """Pack all tiles of a matrix on this thread. stored: the format of the parts, which are as a file holds
    them; into: memory of all its tiles."""
    place = new_place()
    locate(place, parts, matrix.shape[0])
    source = packer_of(stored), place.ctypes.data, *matrix.shape
    _pack(*source, into.ctypes.data, matrix.tile_nbytes, 0, matrix.tiles)


def quantized(numbers: NDArray[np.float32]) -> TiledMatrix:
    """Round a matrix, float32 [rows, columns], to Q8_0, and pack it into tiles."""
    blocks = numbers.reshape(-1, BLOCK)
    scales = (np.abs(blocks).max(axis=1, keepdims=True) / 127).astype(np.float16)
    divisors = np.where(scales == 0, 1, scales).astype(np.float32)
    quants = np.rint(blocks / divisors).clip(-127, 127).astype(np.int8)
    stored = np.concatenate([scales.view(np.uint8), quants.view(np.uint8)], axis=1)
    return tiled("Q8_0", numbers.shape, stored.reshape(-1))


@kernel
def _pack(packer, places, rows, columns, out, tile_nbytes, first, last):  # type: ignore[no-untyped-def]
    """Pack the tiles first..last of a matrix. packer, places, out: addresses."""
    for tile in range(first, last):
        start = tile * LANES
        call_on_tile(packer, places, start, min(LANES, rows - start), columns, out + tile * tile_nbytes)


def _named(function: Any, layout: str) -> Any:
    """Give a function that is made for a layout a name of its own: the compiler's cache goes by the name."""
    function.__name__ = function.__qualname__ = f"{function.__name__}_{layout}"
    return kernel(function)


@cache
def _reader(layout: str) -> Any:
    """Return a kernel (tiles uint8, columns, bytes of a tile, rows int64 [n], out float32 [n, columns])."""
    chosen = TILES[layout]
    if chosen.scaled:
        return _scaled_reader(layout)
    if chosen.number:
        return _plain_reader(layout)
    number = half if chosen.scale == "F16" else _bfloat16
    planes, minima, supers, signed = chosen.planes, chosen.minima, chosen.supers, chosen.signed
    offset, factor, group = chosen.offset, np.float32(chosen.factor), chosen.group
    scales_nbytes, block_nbytes = chosen.scales_nbytes, chosen.block_nbytes
    kinds = 2 if minima else 1
    unit, lead, row_factors = chosen.unit, chosen.lead_nbytes, chosen.row_factors
    levels = np.array(chosen.levels or range(1 << chosen.bits), np.int32)

    def read_blocks(tiles, columns, tile_nbytes, which, out):  # type: ignore[no-untyped-def]
        head_nbytes = (columns // unit * scales_nbytes + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        for index in range(len(which)):
            row = which[index]
            start, lane = row // LANES * tile_nbytes + lead, row % LANES
            body, whole = start + head_nbytes, np.float32(1.0)
            if row_factors:
                whole = tiles[start - lead :].view(np.float32)[lane]
            for column in range(columns):
                scales = start + column // unit * scales_nbytes
                if not supers:
                    scales += kinds * 2 * LANES * (column % unit // group)
                scale, minimum = factor * number(tiles, scales + 2 * lane), np.float32(0.0)
                if minima:
                    minimum = number(tiles, scales + 2 * LANES + 2 * lane)
                if supers:
                    small = scales + kinds * LANES * (2 + column % unit // group) + lane
                    byte = tiles[small]
                    scale *= np.float32(np.int8(byte)) if signed else np.float32(byte)
                    if minima:
                        minimum *= np.float32(tiles[small + LANES])
                place = body + column // 32 * block_nbytes + 4 * lane + column % 4
                quad, quant = column % 32 // 4, 0
                for bits, shift in planes:
                    per = 8 // bits
                    byte = tiles[place + quad // per * 4 * LANES]
                    quant |= (byte >> bits * (quad % per) & (1 << bits) - 1) << shift
                    place += bits * 4 * LANES
                out[index, column] = whole * (scale * np.float32(levels[quant] - offset) - minimum)

    return _named(read_blocks, layout)


@helper
def _bfloat16(data, at):  # type: ignore[no-untyped-def]
    """Return the little-endian bfloat16 at data[at] (uint8) as float32."""
    high = np.uint32(np.uint32(data[at + 1]) << np.uint32(24))
    return np.uint32(np.uint32(np.uint32(data[at]) << np.uint32(16)) | high).view(np.float32)


def _scaled_reader(layout: str) -> Any:
    chosen = TILES[layout]
    unit, scales_nbytes, factor = chosen.unit, chosen.scales_nbytes, np.float32(chosen.factor)

    def read_scaled(tiles, columns, tile_nbytes, which, out):  # type: ignore[no-untyped-def]
        head_nbytes = (-(-columns // unit) * scales_nbytes + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        bits = np.empty(2, np.uint8)
        for index in range(len(which)):
            start, lane = which[index] // LANES * tile_nbytes, which[index] % LANES
            scales = tiles[start : start + head_nbytes].view(np.float32)
            for column in range(columns):
                byte = tiles[start + head_nbytes + column * LANES + lane]
                bits[0], bits[1] = (byte & 1) << 7, byte & 128 | (byte & 127) >> 1
                scale = factor * scales[column // unit * LANES + lane]
                out[index, column] = half(bits, 0) * scale

    return _named(read_scaled, layout)


def _plain_reader(layout: str) -> Any:
    number = np.uint32 if layout == "F32" else np.uint16

    def read_plain(tiles, columns, tile_nbytes, which, out):  # type: ignore[no-untyped-def]
        numbers = tiles.view(number)
        for i in range(len(which)):
            start = which[i] // LANES * (tile_nbytes // numbers.itemsize) + which[i] % LANES
            for column in range(columns):
                bits = numbers[start + column * LANES]
                if layout == "F16":
                    out[i, column] = half(tiles, 2 * (start + column * LANES))
                elif layout == "BF16":
                    out[i, column] = np.uint32(np.uint32(bits) << np.uint32(16)).view(np.float32)
                else:
                    out[i, column] = np.uint32(bits).view(np.float32)

    return _named(read_plain, layout)
