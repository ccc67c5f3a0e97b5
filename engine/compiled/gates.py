"""Gates of attention's outputs (Qwen 3.5, Qwen3-Next): each head's query comes with a gate beside it."""

from engine.compiled.instructions import floats_at, ints_at
from engine.compiled.steps import ROWS, F, exp, write_block


def part_gates_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Part queries from the gates beside them.

    Arguments: state; queries with gates, keys and values, float32 [rows, (2 heads + 2 kv_heads) * width];
    room for queries, keys and values, [rows, (heads + 2 kv_heads) * width]; room for gates, [rows, heads *
    width]; heads; kv_heads; width.
    """
    a = ints_at(arguments)
    rows, heads, kv_heads, width = ints_at(a[0])[ROWS], a[4], a[5], a[6]
    every = 2 * (heads + kv_heads)
    for item in range(rows * every * me // threads, rows * every * (me + 1) // threads):
        row, part = item // every, item % every
        if part < 2 * heads and part % 2:
            target = a[3] + (row * heads + part // 2) * width * 4
        else:
            head = part // 2 if part < 2 * heads else part - heads
            target = a[2] + (row * (heads + 2 * kv_heads) + head) * width * 4
        x, y = floats_at(a[1] + item * width * 4), floats_at(target)
        for i in range(width):
            y[i] = x[i]


def output_gate_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Multiply what heads have attended to by the sigmoid of their gates, and write the products as records.

    Arguments: state; results of attention, float32 [rows, columns]; gates, of the same shape; columns;
    records; plain records.
    """
    a = ints_at(arguments)
    rows, columns = ints_at(a[0])[ROWS], a[3]
    blocks = columns // 32
    for item in range(rows * blocks * me // threads, rows * blocks * (me + 1) // threads):
        at = 128 * item
        x, gate = floats_at(a[1] + at), floats_at(a[2] + at)
        for i in range(32):
            x[i] = x[i] / (F(1.0) + exp(-gate[i]))
        write_block(a[1] + at, item % blocks, blocks, rows, item // blocks, a[4], a[5])
