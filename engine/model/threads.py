"""The number of threads that compiled programs run on. It changes nothing in what they compute."""

from engine.compiled.pool import cores, shared_pool


def use_threads(count: int | None) -> int:
    """Let the shared pool run the next programs on `count` threads, at most one for each physical core; None:
    one for each. Return their number.

    Models built before keep too little memory for more threads: call this before a model is built, and while
    none runs.
    """
    pool = shared_pool()
    pool.threads = pool.used = min(count or cores(), cores())
    return pool.threads
