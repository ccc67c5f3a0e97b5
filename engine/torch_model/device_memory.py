"""Memory of a graphics card as torch's allocators keep it: given back when models are unloaded, and bounded
where the driver would not refuse what does not fit."""

import logging
import sys

import torch

_log = logging.getLogger(__name__)


def release() -> None:
    """Give freed memory, of the card and pinned, back to the system: torch keeps both for itself, so that the
    next plan would see too little."""
    if not torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return
    try:
        torch.cuda.empty_cache()
        torch.accelerator.empty_host_cache()
    except RuntimeError as error:  # after an error of the card, every call fails with it
        _log.warning("Memory of the graphics card cannot be released: %s", error)


def bound(system: str = sys.platform) -> None:
    """On Windows, let torch allocate no more of the card than is free now.

    There, the driver moves what does not fit into system memory, which is tens of times slower, and reports
    no error by which a smaller plan would be taken.
    """
    if system != "win32":
        return
    free, total = torch.cuda.mem_get_info()
    own = torch.cuda.memory_reserved()
    torch.cuda.set_per_process_memory_fraction(min(1.0, (free + own) / total))
