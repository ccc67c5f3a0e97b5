"""The product of each row and the parts of a matrix that the row has chosen: clusters of its rows, which lie
side by side."""

from engine.compiled.instructions import LANES, call_on_tile, ints_at
from engine.compiled.steps import ROWS, write_block


def clusters_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Multiply rows by the clusters that they have chosen.

    Arguments: state; activations, float32 [rows, width]; width; room for the records of a row of each thread;
    bytes of them; clusters that are chosen, int64 [rows, number]; their number; tiles of the matrix; bytes of
    a tile; tiles of a cluster; address of the product of a tile and one row; results, float32 [rows, number *
    rows of a cluster].
    """
    a = ints_at(arguments)
    rows, width, number, tiles = ints_at(a[0])[ROWS], a[2], a[6], a[9]
    records, chosen, blocks, last = a[3] + me * a[4], ints_at(a[5]), width // 32, -1
    for item in range(rows * number * me // threads, rows * number * (me + 1) // threads):
        row = item // number
        if row != last:
            for block in range(blocks):
                write_block(a[1] + 4 * (row * width + 32 * block), block, blocks, 1, 0, records, 0)
            last = row
        for tile in range(tiles):
            weights = a[7] + (chosen[item] * tiles + tile) * a[8]
            call_on_tile(a[10], weights, records, blocks, a[11] + (item * tiles + tile) * 4 * LANES, 0)
