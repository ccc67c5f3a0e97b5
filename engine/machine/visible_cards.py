"""Which of several NVIDIA cards the engine computes on: the first that CUDA sees.

CUDA numbers cards from the fastest on, and the driver by their place on the bus, so the first of one list
need not be the first of the other. Here, cards are in one order for plans, checks and computing: those that
the user lets CUDA see (CUDA_VISIBLE_DEVICES), in that order, or else the one with the most memory first, of
those that torch has code for. Source: CUDA C++ Programming Guide, “CUDA Environment Variables”.
"""

import os
from collections.abc import MutableMapping, Sequence

from engine.machine.data import Gpu

# The least that torch's builds for CUDA 13 have code for (packaging/backends.toml).
_LEAST = (7, 5)
_VISIBLE, _ORDER = "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"


def in_order(gpus: Sequence[Gpu], visible: str | None) -> list[Gpu]:
    """Return the NVIDIA cards that CUDA sees, the one it computes on first.

    gpus: all of them, by their place on the bus. visible: what CUDA_VISIBLE_DEVICES says: numbers or
    beginnings of identifiers, of which those from the first unknown one on do not count; None if it is not
    set. Parts of a card (MIG) are not known here: then all cards are returned.
    """
    if visible is None:
        return sorted(gpus, key=lambda gpu: (_is_too_old(gpu), -(gpu.total_nbytes or 0)))
    if "MIG" in visible:
        return list(gpus)
    found: list[Gpu] = []
    for entry in visible.split(","):
        named = _named(gpus, entry.strip())
        if named is None or named in found:
            break
        found.append(named)
    return found


def _is_too_old(gpu: Gpu) -> bool:
    return gpu.compute_capability is not None and gpu.compute_capability < _LEAST


def _named(gpus: Sequence[Gpu], entry: str) -> Gpu | None:
    if entry.isdecimal():
        return gpus[int(entry)] if int(entry) < len(gpus) else None
    start = entry.removeprefix("GPU-")
    return next((gpu for gpu in gpus if start and gpu.uuid.startswith(start)), None)


def let_cuda_see(gpus: Sequence[Gpu], environ: MutableMapping[str, str] = os.environ) -> None:
    """Let CUDA, which must not run yet in this process, see the cards in the order of `in_order`.

    gpus: the NVIDIA cards in that order.
    """
    environ[_ORDER] = "PCI_BUS_ID"  # so that a number means the same card here and there
    if len(gpus) > 1 and _VISIBLE not in environ:
        environ[_VISIBLE] = ",".join(f"GPU-{gpu.uuid}" for gpu in gpus)
