"""GPTQ and AWQ matrices written as ggml's blocks of 32 columns, without rounding.

scale * (quant - zero point) is a block format's scale * (quant - offset): the scale of a group of columns is
repeated in each of its blocks. Which format has room for quant - zero point follows from the zero points.
"""

import numpy as np
from numpy.typing import NDArray

from engine.checkpoints import Groups
from engine.formats.format import Parts
from engine.formats.grouped import AWQ_PLACES, GroupedFormat
from engine.formats.jit import helper, kernel, spread

BLOCK = 32  # columns of a block
# name: (values of quant - zero point from -n to n - 1, 16-bit words of a block, offset of stored quants)
_TARGETS = {"Q4_0": (8, 9, 8), "Q5_0": (16, 11, 16), "Q8_0": (128, 17, 0)}
_STRIP = 64  # rows written together: few enough that their quants stay in the cache
_PIECE = 1 << 18  # how many numbers a thread writes at a time
_SHIFTS = np.array([4 * place for place in AWQ_PLACES], np.uint32)


def targets(bits: int) -> tuple[str, ...]:
    """Return the formats that matrices of so many bits may be written in."""
    return {2: ("Q4_0",), 3: ("Q4_0",), 4: ("Q4_0", "Q5_0"), 8: ("Q8_0",)}[bits]


def prepare_kernel() -> None:
    """Compile the kernel, or read it from the cache."""
    table = np.empty((0, 0), np.uint16), np.empty((0, 0), np.uint32)
    _write(np.empty(0, np.uint8), *table, False, 4, 0, 0, BLOCK, 9, 0, 0, np.empty(0, np.uint16))


def transcoded(
    form: GroupedFormat, parts: Parts, shape: tuple[int, int], groups: Groups
) -> tuple[str, NDArray[np.uint8]] | None:
    """Write a matrix in a block format; return its name and the bytes, row by row. Return None if no block
    format has room: with 8 bits, where a zero point is not 128.

    parts: quants, zero points, and float16 scales; columns are in the order of their groups. Columns, and
    those of a group, are multiples of BLOCK.
    """
    rows, columns = shape
    scales = np.frombuffer(parts[2], np.uint16).reshape(-1, rows)
    words = np.frombuffer(parts[1], np.int32).reshape(len(scales), -1)
    zeros = form.zeros(words.T, groups)[:rows].T
    least, most = -int(zeros.max()), (1 << groups.bits) - 1 - int(zeros.min())
    fitting = (name for name, (room, _, _) in _TARGETS.items() if -room <= least and most < room)
    name = next(fitting, None)
    if name is None:
        return None
    _, halves, offset = _TARGETS[name]
    plus = np.ascontiguousarray(offset - zeros).view(np.uint32)
    out = np.empty(rows * (columns // BLOCK) * halves, np.uint16)

    def work(start: int, stop: int) -> None:
        place = start * _STRIP, min(rows, stop * _STRIP)
        _write(parts[0], scales, plus, form.awq, groups.bits, rows, columns, groups.size, halves, *place, out)

    spread(-(-rows // _STRIP), work, max(1, _PIECE // (_STRIP * columns)))
    return name, out.view(np.uint8)


@kernel
def _write(data, scales, plus, awq, bits, rows, columns, size, halves, first, last, out):  # type: ignore[no-untyped-def]
    """Write the rows first..last of a matrix as blocks of Q4_0, Q5_0 or Q8_0.

    data: the words of the quants, uint8 at any address. scales: the bits of float16, uint16 [groups, rows].
    plus: what is added to quants, uint32 [groups, rows], modulo 2^32. size: columns of a group. halves:
    16-bit words of a block, which tell the format. out: uint16 [rows * columns / 32 * halves].
    """
    # The words may be unaligned; x86 and ARM can read them at any address.
    words, blocks = data.view(np.uint32), columns // BLOCK
    quants = np.empty((BLOCK, _STRIP), np.uint32)
    packed = np.empty((17, _STRIP), np.uint16)  # the words of one block of each row
    for left in range(first, last, _STRIP):
        width = min(_STRIP, last - left)
        for block in range(blocks):
            group = block * BLOCK // size
            more = plus[group, left : left + width]
            if awq:
                _read_awq(words, rows, left, block, more, quants)
            else:
                _read_gptq(words, bits, rows, left, block, more, quants)
            packed[0, :width] = scales[group, left : left + width]
            if halves == 17:
                _pack_bytes(quants, width, packed)
            else:
                _pack_nibbles(quants, width, packed, halves - 8)
            if halves == 11:
                _pack_fifths(quants, width, packed)
            for n in range(width):
                start = ((left + n) * blocks + block) * halves
                stored = out[start : start + halves]
                for i in range(halves):
                    stored[i] = packed[i, n]


@helper
def _read_gptq(words, bits, rows, left, block, more, quants):  # type: ignore[no-untyped-def]
    """Unpack a block of the rows from `left` on, and add `more`, to quants, uint32 [32, rows]."""
    width, mask = len(more), np.uint32((1 << bits) - 1)
    for i in range(BLOCK):
        values = quants[i, :width]
        shift = np.uint32(i * bits % 32)
        at = (block * bits + i * bits // 32) * rows + left
        low = words[at : at + width]
        if i * bits % 32 + bits <= 32:
            for n in range(width):
                values[n] = np.uint32(np.uint32(np.uint32(low[n] >> shift) & mask) + more[n])
        else:
            high = words[at + rows : at + rows + width]
            rest = np.uint32(32 - shift)
            for n in range(width):
                both = np.uint32(np.uint32(low[n] >> shift) | np.uint32(high[n] << rest))
                values[n] = np.uint32(np.uint32(both & mask) + more[n])


@helper
def _read_awq(words, rows, left, block, more, quants):  # type: ignore[no-untyped-def]
    """See `_read_gptq`."""
    for i in range(BLOCK):
        values = quants[i, : len(more)]
        at = ((block * BLOCK + i) * rows + left) // 8
        row = words[at : at + len(more) // 8]
        for n in range(len(row)):
            for k in range(8):
                quant = np.uint32(np.uint32(row[n] >> _SHIFTS[k]) & np.uint32(15))
                values[8 * n + k] = np.uint32(quant + more[8 * n + k])


@helper
def _pack_bytes(quants, width, packed):  # type: ignore[no-untyped-def]
    """Pack quants in bytes, in the order of the columns."""
    for i in range(16):
        place, a, b = packed[1 + i, :width], quants[2 * i, :width], quants[2 * i + 1, :width]
        for n in range(width):
            low = np.uint32(a[n] & np.uint32(255))
            place[n] = np.uint16(np.uint32(low | np.uint32(b[n] << np.uint32(8))))


@helper
def _pack_nibbles(quants, width, packed, start):  # type: ignore[no-untyped-def]
    """Pack the low four bits of quants, those of columns 0..15 in the low halves of the bytes."""
    for i in range(8):
        place, a, b = packed[start + i, :width], quants[2 * i, :width], quants[2 * i + 1, :width]
        c, d = quants[2 * i + 16, :width], quants[2 * i + 17, :width]
        for n in range(width):
            low = np.uint32((a[n] & np.uint32(15)) | np.uint32((b[n] & np.uint32(15)) << np.uint32(8)))
            high = np.uint32((c[n] & np.uint32(15)) | np.uint32((d[n] & np.uint32(15)) << np.uint32(8)))
            place[n] = np.uint16(np.uint32(low | np.uint32(high << np.uint32(4))))


@helper
def _pack_fifths(quants, width, packed):  # type: ignore[no-untyped-def]
    """Pack the fifth bits of quants; that of column i is bit i of two words."""
    packed[1:3, :width] = 0
    for i in range(BLOCK):
        place, a, at = packed[1 + i // 16, :width], quants[i, :width], np.uint32(i % 16)
        for n in range(width):
            place[n] = np.uint16(place[n] | np.uint16(np.uint32(np.uint32(a[n] >> np.uint32(4)) << at)))
