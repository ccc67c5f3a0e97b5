"""How matrices are cut between rows: into pieces that are moved, and these into pieces that are unpacked and
multiplied at a time. Numbers only."""

# How many numbers are unpacked at a time: few enough that a large vocabulary's head is never unpacked as a
# whole, many enough that a product of this size runs at full speed.
PIECE = 1 << 24
# Pieces start at multiples of this many rows: formats pack up to 32 rows of one column in a word.
ROWS = 64


def moved_rows(row_nbytes: int, nbytes: int) -> int:
    """Return how many rows are moved at a time, in pieces of about `nbytes`."""
    return _whole(nbytes // row_nbytes)


def unpacked_rows(columns: int, numbers: int = PIECE) -> int:
    """Return how many rows are unpacked at a time, in pieces of about `numbers` numbers."""
    return _whole(numbers // columns)


def cut_rows(rows: int, step: int) -> list[int]:
    """Return how many rows each piece has if `step` rows are taken at a time."""
    return [min(step, rows - first) for first in range(0, rows, step)]


def _whole(rows: int) -> int:
    return max(ROWS, rows // ROWS * ROWS)
