"""The threads that torch computes with."""

import torch

_ALL = torch.get_num_threads()


def share_cores(compiled: bool, threads: int | None) -> None:
    """Give torch one thread if compiled programs run all models: after an operation torch's threads spin on
    the cores for a while. threads: the most that torch may take otherwise; None: all."""
    torch.set_num_threads(1 if compiled else min(threads or _ALL, _ALL))
