"""Steps that multiply rows by the experts that they chose (`engine.compiled.router`).

An expert's products are those of any matrix, with the same bits whichever other rows chose it. A row's
results are added up in the order of its own choice, the likeliest expert first.
"""

from engine.compiled.activations import PLAIN_NBYTES, RECORD_NBYTES
from engine.compiled.instructions import fetch_add, floats_at, ints_at
from engine.compiled.router import CHOSEN, FIRST, LAST, PLACES, ROW_OF, SHARES, STARTS, USED, USED_OF
from engine.compiled.steps import (
    PRODUCT_MATRIX,
    ROWS,
    STOP,
    F,
    as_float,
    chunk_of,
    exp,
    gate_block,
    multiply,
    share,
    sigmoid,
    square_block,
    write_block,
)
from engine.formats.jit import helper


@helper
def add_block(x, y):  # type: ignore[no-untyped-def]
    """Add 32 float32 at the address y to those at x."""
    values, others = floats_at(x), floats_at(y)
    for i in range(32):
        values[i] += others[i]


@helper
def bounded_gate_block(gate, up, bound, factor):  # type: ignore[no-untyped-def]
    """Multiply the activation of 32 gates (address) by one more than the up projections (address); the
    products replace the gates. Gates are bounded above, up projections on both sides; an activation is
    x sigmoid(factor x), as in gpt-oss."""
    gates, ups = floats_at(gate), floats_at(up)
    for i in range(32):
        x, y = min(gates[i], bound), min(max(ups[i], -bound), bound)
        x = gates[i] if gates[i] != gates[i] else x  # NaN stays NaN
        y = ups[i] if ups[i] != ups[i] else y
        gates[i] = x / (F(1.0) + exp(-factor * x)) * (y + F(1.0))


@helper
def copied(source, target, words):  # type: ignore[no-untyped-def]
    """Copy so many words of eight bytes between addresses."""
    read, written = ints_at(source), ints_at(target)
    for i in range(words):
        written[i] = read[i]


def gather_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Copy the records of each row to the places of its choices.

    Arguments: state; routing; k; blocks of a row; records and plain records of the rows; the same of the
    choices, or 0 where no expert reads them.
    """
    a = ints_at(arguments)
    rows, routing, blocks = ints_at(a[0])[ROWS], ints_at(a[1]), a[3]
    row_of, used_of, starts = ints_at(routing[ROW_OF]), ints_at(routing[USED_OF]), ints_at(routing[STARTS])
    for place in range(me, rows * a[2], threads):
        row, first, last = row_of[place], starts[used_of[place]], starts[used_of[place] + 1]
        begin, size = chunk_of(rows, row)
        source, step = begin * blocks + row - begin, size
        begin, size = chunk_of(last - first, place - first)
        target = (first + begin) * blocks + place - first - begin
        for block in range(blocks):
            at, to = source + block * step, target + block * size
            if a[6]:
                copied(a[4] + at * RECORD_NBYTES, a[6] + to * RECORD_NBYTES, RECORD_NBYTES // 8)
            if a[7]:
                copied(a[5] + at * PLAIN_NBYTES, a[7] + to * PLAIN_NBYTES, PLAIN_NBYTES // 8)


def expert_product_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Multiply the records of choices by the matrices of the experts from FIRST to LAST.

    Arguments: state; routing; counter; records and plain records of the choices; blocks of 32 columns; tiles
    of an expert; room for a tile of each thread; bytes of a tile in it; matrices of each expert; address of
    their arguments (see `product_step`), int64 [experts, matrices, PRODUCT_MATRIX], in which the address of
    the results is that of the first choice; bytes of a choice's results.
    """
    a = ints_at(arguments)
    state, routing, blocks, tiles = ints_at(a[0]), ints_at(a[1]), a[5], a[6]
    used, starts, begin = ints_at(routing[USED]), ints_at(routing[STARTS]), routing[FIRST]
    total = (routing[LAST] - begin) * tiles
    while True:
        tile, stop = share(fetch_add(a[2], 1), total, threads)
        if tile >= total or ints_at(state[STOP])[0]:
            return
        while tile < stop:
            number, here = begin + tile // tiles, tile % tiles
            end = min(tiles, here + stop - tile)
            first, rows = starts[number], starts[number + 1] - starts[number]
            packed = a[3] + first * blocks * RECORD_NBYTES
            plain = a[4] + first * blocks * PLAIN_NBYTES
            matrices = a[10] + used[number] * a[9] * PRODUCT_MATRIX * 8
            room = a[7] + me * a[8]
            multiply(here, end, matrices, first * a[11], rows, blocks, packed, plain, room, state[STOP])
            tile += end - here


@helper
def write_choice(at, item, blocks, used_of, starts, packed, plain):  # type: ignore[no-untyped-def]
    """Write 32 float32 (address) as records of a choice. item: the place of the choice times `blocks`, those
    of a choice, and the number of this one; packed, plain: addresses of the records of all choices, or 0."""
    place, block = item // blocks, item % blocks
    first, last = starts[used_of[place]], starts[used_of[place] + 1]
    packed = packed + first * blocks * RECORD_NBYTES if packed else 0
    plain = plain + first * blocks * PLAIN_NBYTES if plain else 0
    write_block(at, block, blocks, last - first, place - first, packed, plain)


def choice_record_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Write each choice's numbers as records.

    Arguments: state; routing; numbers, float32 [choices, width]; width; records and plain records of the
    choices.
    """
    a = ints_at(arguments)
    routing, blocks = ints_at(a[1]), a[3] // 32
    used_of, starts = ints_at(routing[USED_OF]), ints_at(routing[STARTS])
    begin = starts[routing[FIRST]] * blocks
    items = starts[routing[LAST]] * blocks - begin
    for item in range(begin + items * me // threads, begin + items * (me + 1) // threads):
        write_choice(a[2] + 128 * item, item, blocks, used_of, starts, a[4], a[5])


def expert_gate_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Multiply the activation of each choice's gate by its up projection, and write the products as records.

    Arguments: state; routing; gate and up, float32 [choices, 2 * inner]; inner; records and plain records of
    the choices; whether the activation is GELU (tanh form), not SiLU; address of the experts' biases of gate
    and up, float32 [experts, 2 * inner], or 0; bound of gate and up, and factor in the activation (bits), or
    0 if nothing is bounded.
    """
    a = ints_at(arguments)
    routing, inner = ints_at(a[1]), a[3]
    used = ints_at(routing[USED])
    used_of, starts, blocks = ints_at(routing[USED_OF]), ints_at(routing[STARTS]), inner // 32
    begin = starts[routing[FIRST]] * blocks
    items = starts[routing[LAST]] * blocks - begin
    for item in range(begin + items * me // threads, begin + items * (me + 1) // threads):
        place, block = item // blocks, item % blocks
        at = a[2] + (place * 2 * inner + 32 * block) * 4
        if a[7]:
            bias = a[7] + (used[used_of[place]] * 2 * inner + 32 * block) * 4
            add_block(at, bias)
            add_block(at + inner * 4, bias + inner * 4)
        if a[8]:
            bounded_gate_block(at, at + inner * 4, as_float(a[8]), as_float(a[9]))
        else:
            gate_block(at, at + inner * 4, a[6])
        write_choice(at, item, blocks, used_of, starts, a[4], a[5])


def expert_square_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Square what is positive of each choice's numbers, make the rest 0, and write the results as records.

    Arguments: state; routing; numbers, float32 [choices, inner]; inner; records and plain records of the
    choices.
    """
    a = ints_at(arguments)
    routing, blocks = ints_at(a[1]), a[3] // 32
    used_of, starts = ints_at(routing[USED_OF]), ints_at(routing[STARTS])
    begin = starts[routing[FIRST]] * blocks
    items = starts[routing[LAST]] * blocks - begin
    for item in range(begin + items * me // threads, begin + items * (me + 1) // threads):
        at = a[2] + 128 * item
        square_block(at)
        write_choice(at, item, blocks, used_of, starts, a[4], a[5])


def sum_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Add up the results of each row's choices, each times its share, in the order of the choice, and then
    those of the shared expert.

    Arguments: state; routing; k; width; results of the choices, float32 [choices, width]; sums, float32
    [rows, width]; address of the experts' biases of the results, float32 [experts, width], or 0; address of
    the shared expert's results, float32 [rows, width], or 0; address of the score whose sigmoid is its share,
    or 0 if that is 1; bytes to that of the next row.
    """
    a = ints_at(arguments)
    rows, routing, k, width = ints_at(a[0])[ROWS], ints_at(a[1]), a[2], a[3]
    places, shares, blocks = ints_at(routing[PLACES]), floats_at(routing[SHARES]), width // 32
    chosen = ints_at(routing[CHOSEN])
    for item in range(rows * blocks * me // threads, rows * blocks * (me + 1) // threads):
        row, block = item // blocks, item % blocks
        out = floats_at(a[5] + item * 128)
        for i in range(32):
            out[i] = 0
        for choice in range(row * k, row * k + k):
            one, part = floats_at(a[4] + (places[choice] * width + 32 * block) * 4), shares[choice]
            if a[6]:
                bias = floats_at(a[6] + (chosen[choice] * width + 32 * block) * 4)
                for i in range(32):
                    out[i] += part * bias[i]
            for i in range(32):
                out[i] += part * one[i]
        if a[7]:
            one, part = floats_at(a[7] + item * 128), F(1.0)
            if a[8]:
                part = sigmoid(floats_at(a[8] + row * a[9])[0])
            for i in range(32):
                out[i] += part * one[i]
