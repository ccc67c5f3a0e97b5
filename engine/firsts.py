"""Counts what is done once and for all while a model works: a kernel compiled or read from its cache, a pass
recorded. The time of work in which that happened does not tell how long the next will take."""

import numpy as np

_done = np.zeros(1, np.int64)


def note() -> None:
    """Note that such a thing was done."""
    _done[0] += 1


def count() -> int:
    """Return how many were done since the program started."""
    return int(_done[0])
