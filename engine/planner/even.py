"""Select from things in the order of use, spread evenly among all: what stays on a device, lies in RAM, or is
lent. The streamer places chunks by this rule, and plans predict it."""

from collections.abc import Sequence


def spread(sizes: Sequence[int], nbytes: int) -> list[bool]:
    """Select sizes with a sum of at most `nbytes`, spread evenly among all; return for each whether it is
    selected."""
    total = sum(sizes)
    share = min(1.0, nbytes / total) if total else 1.0
    stay: list[bool] = []
    seen = kept = 0
    for size in sizes:
        seen += size
        stays = kept + size <= min(share * seen, nbytes)
        kept += size if stays else 0
        stay.append(stays)
    for index, size in enumerate(sizes):  # use what rounding has left free
        if not stay[index] and kept + size <= nbytes:
            stay[index] = True
            kept += size
    return stay
