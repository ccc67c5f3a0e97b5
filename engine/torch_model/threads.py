"""The threads that torch computes with."""

import torch

_ALL = torch.get_num_threads()


def share_cores(compiled: bool) -> None:
    """Give torch one thread if compiled programs run all models: after an operation torch's threads spin on
    the cores for a while."""
    torch.set_num_threads(1 if compiled else _ALL)
