"""A matrix in tiles: packed once from a file's bytes, read by products, and row by row as an embedding."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.checkpoints.storage import BLOCKS
from engine.compiled.instructions import LANES
from engine.compiled.layout import BLOCK, LAYOUTS, SUPER
from engine.quantization import FORMATS
from engine.quantization.blocks import BlockFormat
from engine.quantization.jit import half, kernel, spread

ALIGNMENT = 64  # bytes, a cache line


def aligned(nbytes: int) -> NDArray[np.uint8]:
    """Return zeroed memory that starts at a multiple of ALIGNMENT."""
    room = np.zeros(nbytes + ALIGNMENT, np.uint8)
    start = -room.ctypes.data % ALIGNMENT
    return room[start : start + nbytes]


@dataclass(frozen=True, slots=True)
class TiledMatrix:
    """A matrix [rows, columns] in tiles. Attributes: `layout`, a name in LAYOUTS; `data`, uint8 [tiles *
    bytes of a tile]."""

    layout: str
    shape: tuple[int, int]
    data: NDArray[np.uint8]

    @property
    def tiles(self) -> int:
        return -(-self.shape[0] // LANES)

    @property
    def tile_nbytes(self) -> int:
        return LAYOUTS[self.layout].tile_nbytes(self.shape[1])

    @property
    def nbytes(self) -> int:
        return self.data.nbytes

    def rows(self, which: NDArray[np.int64], out: NDArray[np.float32]) -> None:
        """Unpack the rows `which` into `out`, float32 [rows, columns]."""
        _reader(self.layout)(self.data, self.shape[1], self.tile_nbytes, which, out)


def can_tile(layout: str, shape: tuple[int, int]) -> bool:
    """Return whether a matrix of this format and shape can be multiplied in tiles."""
    if layout not in LAYOUTS:
        return False
    return not shape[1] % (SUPER if LAYOUTS[layout].supers else BLOCK)


def tiled(layout: str, shape: tuple[int, int], stored: NDArray[np.uint8]) -> TiledMatrix:
    """Pack a matrix into tiles. stored: its bytes as a file holds them, in the format called `layout`."""
    matrix = TiledMatrix(
        layout, shape, aligned(-(-shape[0] // LANES) * LAYOUTS[layout].tile_nbytes(shape[1]))
    )
    pack = _packer(layout)
    spread(
        matrix.tiles,
        lambda start, stop: pack(stored, matrix.data, *shape, matrix.tile_nbytes, start, stop),
        max(1, (1 << 20) // (LANES * shape[1])),
    )
    return matrix


def quantized(numbers: NDArray[np.float32]) -> TiledMatrix:
    """Round a matrix, float32 [rows, columns], to Q8_0, and pack it into tiles."""
    blocks = numbers.reshape(-1, BLOCK)
    scales = (np.abs(blocks).max(axis=1, keepdims=True) / 127).astype(np.float16)
    divisors = np.where(scales == 0, 1, scales).astype(np.float32)
    quants = np.rint(blocks / divisors).clip(-127, 127).astype(np.int8)
    stored = np.concatenate([scales.view(np.uint8), quants.view(np.uint8)], axis=1)
    return tiled("Q8_0", numbers.shape, stored.reshape(-1))


@cache
def _packer(layout: str) -> Any:
    """Return a kernel (stored uint8, tiles uint8, rows, columns, bytes of a tile, first tile, tile after the
    last)."""
    return _plain_packer(layout) if LAYOUTS[layout].number else _block_packer(layout)


def _named(function: Any, layout: str) -> Any:
    """Give a function that is made for a layout a name of its own: the compiler's cache goes by the name."""
    function.__name__ = function.__qualname__ = f"{function.__name__}_{layout}"
    return kernel(function)


def _plain_packer(layout: str) -> Any:
    number = np.uint32 if layout == "F32" else np.uint16

    def pack_plain(stored, out, rows, columns, tile_nbytes, first, last):  # type: ignore[no-untyped-def]
        source, numbers = stored.view(number), out.view(number)
        for tile in range(first, last):
            start = tile * (tile_nbytes // numbers.itemsize)
            for lane in range(min(LANES, rows - tile * LANES)):
                row = source[(tile * LANES + lane) * columns :][:columns]
                for column in range(columns):
                    numbers[start + column * LANES + lane] = row[column]

    return _named(pack_plain, layout)


def _block_packer(layout: str) -> Any:
    chosen, storage = LAYOUTS[layout], FORMATS[layout]
    assert isinstance(storage, BlockFormat)
    split: Any = storage.split
    values, nbytes = BLOCKS[layout]
    planes, minima, scales_nbytes = chosen.planes, chosen.minima, chosen.scales_nbytes
    small_count = scales_nbytes // LANES - (4 if minima else 2)
    small_start = LANES * (4 if minima else 2)
    blocks_of_32, words_of_block = values // BLOCK, chosen.block_nbytes // 4

    def pack_blocks(stored, out, rows, columns, tile_nbytes, first, last):  # type: ignore[no-untyped-def]
        quants, small = np.empty(values, np.uint8), np.empty(64, np.uint8)
        quads, words, halves = quants.view(np.uint32), out.view(np.uint32), out.view(np.uint16)
        in_row = columns // values
        for tile in range(first, last):
            start = tile * tile_nbytes
            body = (start + in_row * scales_nbytes) // 4
            for lane in range(min(LANES, rows - tile * LANES)):
                for block in range(in_row):
                    at = ((tile * LANES + lane) * in_row + block) * nbytes
                    scale, minimum = split(stored, at, quants, small)
                    scales = start + block * scales_nbytes
                    halves[scales // 2 + lane] = scale
                    if minima:
                        halves[scales // 2 + LANES + lane] = minimum
                    for i in range(small_count):
                        out[scales + small_start + i * LANES + lane] = small[i]
                    for part in range(blocks_of_32):
                        place = body + (block * blocks_of_32 + part) * words_of_block + lane
                        for bits, shift in planes:
                            mask = np.uint32(((1 << bits) - 1) * 0x01010101)
                            for vector in range(bits):  # eight quads of `bits` bits fill this many vectors
                                word = np.uint32(0)
                                for k in range(8 // bits):
                                    quad = quads[part * 8 + vector * (8 // bits) + k]
                                    taken = np.uint32(np.uint32(quad >> np.uint32(shift)) & mask)
                                    word = np.uint32(word | np.uint32(taken << np.uint32(bits * k)))
                                words[place + vector * LANES] = word
                            place += bits * LANES

    return _named(pack_blocks, layout)


@cache
def _reader(layout: str) -> Any:
    """Return a kernel (tiles uint8, columns, bytes of a tile, rows int64 [n], out float32 [n, columns])."""
    chosen = LAYOUTS[layout]
    if chosen.number:
        return _plain_reader(layout)
    planes, minima, supers, signed = chosen.planes, chosen.minima, chosen.supers, chosen.signed
    offset, group, scales_nbytes, block_nbytes = (
        chosen.offset,
        chosen.group,
        chosen.scales_nbytes,
        chosen.block_nbytes,
    )
    kinds = 2 if minima else 1
    unit = SUPER if supers else BLOCK

    def read_blocks(tiles, columns, tile_nbytes, which, out):  # type: ignore[no-untyped-def]
        for number in range(len(which)):
            row = which[number]
            start, lane = row // LANES * tile_nbytes, row % LANES
            body = start + columns // unit * scales_nbytes
            for column in range(columns):
                scales = start + column // unit * scales_nbytes
                scale, minimum = half(tiles, scales + 2 * lane), np.float32(0.0)
                if minima:
                    minimum = half(tiles, scales + 2 * LANES + 2 * lane)
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
                out[number, column] = scale * np.float32(quant - offset) - minimum

    return _named(read_blocks, layout)


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
