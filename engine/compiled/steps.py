"""The steps of a decoder's pass except attention: norms, products, rotary positions, gates.

A step is compiled code that all threads run together: (me, threads, arguments), where `arguments` is the
address of int64 numbers, most of them addresses. Each step takes its share of the work by its number. The
order of sums in a row depends on the row alone, never on the other rows of the pass or on the threads.
"""

import math
from functools import cache
from typing import Any

import numba
import numpy as np

from engine.compiled.activations import PLAIN_NBYTES, RECORD_NBYTES, write_record
from engine.compiled.cache_rows import write_row
from engine.compiled.instructions import (
    LANES,
    MOST_ROWS,
    bits_as_float,
    call_on_tile,
    fetch_add,
    floats_at,
    ints_at,
)
from engine.formats.jit import cached_address, helper

F = np.float32

# The state of a pass, int64 each; `arguments[0]` of every step is its address.
# ROWS: number of rows. FIRST_SLOT: cache slot of the first row. PREFIX: address of int64 [rows], how many
# slots from the first on a row sees. LISTS, OFFSETS: addresses; the further slots that row r sees are
# lists[offsets[r]:offsets[r + 1]], in the order of their positions. ROTARY: address of cosines and sines,
# float32 [kinds, 2, rows, pairs]. ASKED_FIRST, ASKED: the first of the rows that get logits; their number.
# QUERIES: address of factors of the rows' queries, float32 [rows], or 0. STOP: address of a word; long steps
# end early while it is not 0.
ROWS, FIRST_SLOT, PREFIX, LISTS, OFFSETS, ROTARY, ASKED_FIRST, ASKED, QUERIES, STOP = range(10)
STATE = 10

# The arguments of a product step: PRODUCT_HEAD numbers, then PRODUCT_MATRIX for each matrix; of these,
# PRODUCT_OUT is the place of the address of the results.
PRODUCT_HEAD, PRODUCT_MATRIX, PRODUCT_OUT = 9, 14, 3


@helper
def exp(x):  # type: ignore[no-untyped-def]
    """e^x without branches, so that loops become vector code; relative error about 2e-7."""
    t = min(max(x, F(-87.0)), F(88.0)) * F(1.4426950408889634)
    n = np.floor(t + F(0.5))
    f = (t - n) * F(0.6931471805599453)
    p = F(1.3888889e-3)
    p = p * f + F(8.3333333e-3)
    p = p * f + F(4.1666667e-2)
    p = p * f + F(1.6666667e-1)
    p = p * f + F(0.5)
    p = p * f + F(1.0)
    p = p * f + F(1.0)
    power = p * bits_as_float(np.int32(np.int32(n) + np.int32(127)) << np.int32(23))
    return power if x == x else x  # NaN stays NaN


@helper
def sigmoid(x):  # type: ignore[no-untyped-def]
    return F(1.0) / (F(1.0) + exp(-x))


@helper
def softplus(x):  # type: ignore[no-untyped-def]
    """ln(1 + e^x); where e^x has no room, that is x."""
    return x if x > F(20.0) else F(math.log1p(math.exp(np.float64(x))))


@helper
def as_float(bits):  # type: ignore[no-untyped-def]
    """Return the float32 whose bits are the low half of an argument."""
    return bits_as_float(np.int32(bits))


@helper
def chunk_of(rows, row):  # type: ignore[no-untyped-def]
    """Return the first row and the size of the chunk (`product.chunk_sizes`) to which a row belongs."""
    start, size = 0, MOST_ROWS
    while True:
        while rows - start < size:
            size //= 2
        if row < start + size:
            return start, size
        start += size


@helper
def write_block(x, block, blocks, rows, row, records, plain):  # type: ignore[no-untyped-def]
    """Write 32 activations (address x) of a row as the records of its block. records, plain: addresses of the
    records for packed and for plain weights, or 0."""
    start, size = chunk_of(rows, row)
    place = start * blocks + block * size + row - start
    if records:
        write_record(x, records + place * RECORD_NBYTES)
    if plain:
        source, target = floats_at(x), floats_at(plain + place * PLAIN_NBYTES)
        for i in range(32):
            target[i] = source[i]


@helper
def norm(x, width, weight, epsilon):  # type: ignore[no-untyped-def]
    """Scale a row (address x) to a root mean square of one, and multiply it by `weight` (address)."""
    values, weights = floats_at(x), floats_at(weight)
    total = F(0.0)
    for i in range(width):
        total += values[i] * values[i]
    scale = F(1.0) / F(math.sqrt(total / F(width) + epsilon))
    for i in range(width):
        values[i] = values[i] * scale * weights[i]


def norm_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Add a result to the states, and write the norm of the sum as records.

    Arguments: state; states and result, float32 [rows, width]; weight, or 0 to write sums; epsilon (bits);
    width; records; plain records; room, float32 [rows, width]; weight of a norm of the result before it is
    added, or 0; address of the address to copy the sums to, or 0; the same for the norms; whether only the
    asked rows are needed; whether there is a result to add; first block of a row's records to write, and
    number of blocks that a row has; bias of the result, or 0; factor of the result (bits); factor of the sum
    (bits).
    """
    a = ints_at(arguments)
    state = ints_at(a[0])
    width, epsilon, rows = a[5], as_float(a[4]), state[ROWS]
    sums, norms = ints_at(a[10])[0], ints_at(a[11])[0]
    first, count = 0, rows
    if a[12]:
        first, count = state[ASKED_FIRST], state[ASKED]
    begin, end = first, first + count
    if sums or norms:
        begin, end = 0, rows
    for row in range(begin + me, end, threads):
        states, x = a[1] + row * width * 4, a[8] + row * width * 4
        h, out = floats_at(states), floats_at(x)
        if a[13]:
            y = floats_at(a[2] + row * width * 4)
            if a[16]:
                bias = floats_at(a[16])
                for i in range(width):
                    y[i] += bias[i]
            if a[9]:
                norm(a[2] + row * width * 4, width, a[9], epsilon)
            factor = as_float(a[17])
            for i in range(width):
                h[i] = h[i] + factor * y[i]
            whole = as_float(a[18])
            if whole != F(1.0):
                for i in range(width):
                    h[i] = h[i] * whole
        if sums:
            copy = floats_at(sums + row * width * 4)
            for i in range(width):
                copy[i] = h[i]
        for i in range(width):
            out[i] = h[i]
        if a[3]:
            norm(x, width, a[3], epsilon)
        if norms:
            copy = floats_at(norms + row * width * 4)
            for i in range(width):
                copy[i] = out[i]
        if first <= row and row < first + count:
            for block in range(width // 32):
                write_block(x + 128 * block, a[14] + block, a[15], count, row - first, a[6], a[7])


def record_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Write the asked rows as records.

    Arguments: state; activations, float32 [rows, width]; width; records; plain records.
    """
    a = ints_at(arguments)
    rows, width = ints_at(a[0])[ASKED], a[2]
    for row in range(me, rows, threads):
        for block in range(width // 32):
            write_block(a[1] + 4 * (row * width + 32 * block), block, width // 32, rows, row, a[3], a[4])


@helper
def share(number, total, threads):  # type: ignore[no-untyped-def]
    """Return the first item of a share of the work, and the item after the last. Shares shrink: each round of
    `threads` shares takes half of what is left, so that a thread reads long stretches of memory, and all end
    at about the same time."""
    first, size = 0, total
    for _ in range(number // threads):
        size = max(1, (total - first) // (2 * threads))
        first += size * threads
    size = max(1, (total - first) // (2 * threads))
    first += number % threads * size
    return first, min(first + size, total)


@helper
def multiply(tile, stop, matrix, out, rows, blocks, packed, plain, room, stop_word):  # type: ignore[no-untyped-def]
    """Multiply the records of rows by the tiles tile..stop of matrices whose tiles are numbered one after
    another. matrix: address of the arguments of the first one (see `product_step`). out: bytes to add to the
    addresses of results. packed, plain: addresses of the records. room: address of room for a tile.
    stop_word: address of the word that ends long steps early."""
    while tile < stop:
        m = ints_at(matrix)
        if tile >= m[1]:
            tile, stop, matrix = tile - m[1], stop - m[1], matrix + 8 * PRODUCT_MATRIX
            continue
        records, nbytes = (plain, PLAIN_NBYTES) if m[5] else (packed, RECORD_NBYTES)
        end = min(stop, m[1])
        while tile < end:
            if ints_at(stop_word)[0]:
                return
            weights = (ints_at(m[12])[0] if m[12] and not m[11] else m[0]) + tile * m[2]
            if m[11]:
                weights, begin = room, tile * LANES
                call_on_tile(m[11], m[12], begin, min(LANES, m[13] - begin), 32 * blocks, weights)
            row, size, which = 0, 16, 6
            while row < rows:
                while rows - row < size or size > MOST_ROWS:
                    size, which = size // 2, which + 1
                to = m[3] + out + row * m[4] + tile * LANES * 4
                call_on_tile(m[which], weights, records + row * blocks * nbytes, blocks, to, m[4])
                row += size
            tile += 1


def product_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Multiply records by matrices.

    Arguments: state; counter; records; plain records; blocks of 32 columns; whether only the asked rows are
    multiplied; number of tiles in all matrices; room for a tile of each thread; bytes of a tile in it; then
    for each matrix: tiles; number of tiles; bytes of a tile; result, float32 [rows, ...]; bytes of a row of
    the result; whether the weights are plain; addresses of the products for 16, 8, 4, 2 and 1 rows; address
    of the packer, or 0; where the weights come and go, the address of the address of the tiles, or of those
    of the parts as stored if there is a packer, else 0; and for a packer, the number of rows.
    """
    a = ints_at(arguments)
    state = ints_at(a[0])
    rows = state[ASKED] if a[5] else state[ROWS]
    total = a[6]
    while True:
        first, stop = share(fetch_add(a[1], 1), total, threads)
        if first >= total or ints_at(state[STOP])[0]:
            return
        matrices = arguments + 8 * PRODUCT_HEAD
        multiply(first, stop, matrices, 0, rows, a[4], a[2], a[3], a[7] + me * a[8], state[STOP])


def whole_norm_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Norm the queries of all heads of a row together, and so its keys.

    Arguments: state; queries and keys, float32 [rows, ...]; bytes from one row to the next; numbers of all
    queries of a row; of all keys; weights of both norms; epsilon (bits).
    """
    a = ints_at(arguments)
    for item in range(me, 2 * ints_at(a[0])[ROWS], threads):
        at = a[1] + item // 2 * a[2]
        if item % 2:
            norm(at + 4 * a[3], a[4], a[6], as_float(a[7]))
        else:
            norm(at, a[3], a[5], as_float(a[7]))


@helper
def write_value(at, head, slot, a):  # type: ignore[no-untyped-def]
    """Norm a value (address), if values have one, and write it to the cache. a: as for `rotary_step`."""
    if a[19]:
        norm(at, a[4], a[19], as_float(a[8]))
    write_row(at, a[4], a[17], a[14] + head * a[15] + slot * a[16])


def rotary_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Add biases, norm and rotate queries and keys, scale queries, and write keys and values to the cache.

    Arguments: state; queries, keys and values of each row, float32 [rows, (heads + 2 kv_heads) * width];
    heads; kv_heads; width; bias, or 0; weights of the norms of queries and keys, or 0 each; epsilon (bits);
    scale of queries (bits); pairs of numbers to rotate; whether pairs are adjacent; kind of rotary positions;
    keys and values of the layer, 0 if it reads those of another layer: then none are given; bytes from one
    head to the next in them; bytes of a row in them; its format;
    pairs that a row of the table has; weight of a norm of values, or 0; whether values are the keys before
    their norm: then none are given.
    """
    a = ints_at(arguments)
    state = ints_at(a[0])
    rows, heads, kv_heads, width = state[ROWS], a[2], a[3], a[4]
    every = heads + 2 * kv_heads
    scale, pairs, slot = as_float(a[9]), a[10], state[FIRST_SLOT]
    stride = 4 * a[18]
    table = state[ROTARY] + a[12] * 2 * rows * stride
    for item in range(me, rows * every, threads):
        row, head = item // every, item % every
        at = a[1] + item * width * 4
        x = floats_at(at)
        if head >= heads and not a[13]:
            continue
        if a[20] and head >= heads + kv_heads:
            continue  # it is made with its key
        if a[5]:
            bias = floats_at(a[5] + head * width * 4)
            for i in range(width):
                x[i] = x[i] + bias[i]
        if a[20] and head >= heads:
            to = at + kv_heads * width * 4
            value = floats_at(to)
            for i in range(width):
                value[i] = x[i]
            write_value(to, head - heads, slot + row, a)
        if head < heads + kv_heads:
            weight = a[6] if head < heads else a[7]
            if weight:
                norm(at, width, weight, as_float(a[8]))
            cos, sin = floats_at(table + row * stride), floats_at(table + (rows + row) * stride)
            if a[11]:
                for i in range(pairs):
                    p, q = x[2 * i], x[2 * i + 1]
                    x[2 * i], x[2 * i + 1] = p * cos[i] - q * sin[i], q * cos[i] + p * sin[i]
            else:
                for i in range(pairs):
                    p, q = x[i], x[pairs + i]
                    x[i], x[pairs + i] = p * cos[i] - q * sin[i], q * cos[i] + p * sin[i]
        if head < heads:
            factor = scale
            if state[QUERIES]:
                factor = scale * floats_at(state[QUERIES])[row]
            for i in range(width):
                x[i] = x[i] * factor
            continue
        if head >= heads + kv_heads:
            write_value(at, head - heads - kv_heads, slot + row, a)
        else:
            write_row(at, width, a[17], a[13] + (head - heads) * a[15] + (slot + row) * a[16])


@helper
def gate_block(gate, up, gelu):  # type: ignore[no-untyped-def]
    """Multiply the activation of 32 gates (address) by the up projections (address); the products replace the
    gates."""
    gates, ups = floats_at(gate), floats_at(up)
    if gelu:
        for i in range(32):
            x = gates[i]
            z = F(1.5957691216057308) * (x + F(0.044715) * x * x * x)
            gates[i] = x / (F(1.0) + exp(-z)) * ups[i]
    else:
        for i in range(32):
            gates[i] = gates[i] / (F(1.0) + exp(-gates[i])) * ups[i]


def gate_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Multiply the activation of the gate by the up projection, and write the products as records.

    Arguments: state; gate and up, float32 [rows, 2 * inner]; inner; records; plain records; whether the
    activation is GELU (tanh form), not SiLU.
    """
    a = ints_at(arguments)
    rows, inner = ints_at(a[0])[ROWS], a[2]
    blocks = inner // 32
    for item in range(rows * blocks * me // threads, rows * blocks * (me + 1) // threads):
        row, block = item // blocks, item % blocks
        at = a[1] + (row * 2 * inner + 32 * block) * 4
        gate_block(at, at + inner * 4, a[5])
        write_block(at, block, blocks, rows, row, a[3], a[4])


@helper
def square_block(at):  # type: ignore[no-untyped-def]
    """Square what is positive of 32 numbers (address), and make the rest 0 (ReLU, squared: arXiv
    2109.08668)."""
    x = floats_at(at)
    for i in range(32):
        positive = F(0.0) if x[i] < F(0.0) else x[i]  # NaN stays NaN
        x[i] = positive * positive


def square_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Square what is positive, and make the rest 0; write the results as records.

    Arguments: state; numbers, float32 [rows, inner]; inner; records; plain records.
    """
    a = ints_at(arguments)
    rows, inner = ints_at(a[0])[ROWS], a[2]
    blocks = inner // 32
    for item in range(rows * blocks * me // threads, rows * blocks * (me + 1) // threads):
        square_block(a[1] + 128 * item)
        write_block(a[1] + 128 * item, item % blocks, blocks, rows, item // blocks, a[3], a[4])


@cache
def step_address(step: Any) -> int:
    """Return the address of a compiled step."""
    return cached_address(numba.void(*[numba.int64] * 3), step, reorder=True)
