"""A word in memory by which one thread ends the passes of another: compiled steps read it while they run."""

import numpy as np

_word = np.zeros(1, np.int64)

ADDRESS: int = _word.ctypes.data  # where compiled steps read it


def interrupt() -> None:
    """End the running pass, and every pass until `resume`."""
    _word[0] = 1


def resume() -> None:
    """Let passes run again."""
    _word[0] = 0


def is_interrupted() -> bool:
    return bool(_word[0])
