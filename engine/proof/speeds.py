"""The speeds of a card as its checks have measured them, for plans."""

from collections.abc import Iterable

from engine import machine, ways
from engine.proof.trial import TriedWay


def speed_of(tried: Iterable[TriedWay]) -> tuple[machine.CardSpeed | None, machine.LinkSpeed | None]:
    """Return the measured speed of a card, None if a part of it was not measured, and that of its link, None
    if that was not measured."""
    right = [each for each in tried if each.outcome == "right" and each.rate]
    rates = {each.kernel: each.rate or 0.0 for each in right}
    # Those in float32 are checked beside those in float16, but models multiply in 16 bits if they can.
    exact = rates.pop(ways.name_of("dense", "float32"), None)
    dense = [rate for kernel, rate in rates.items() if ways.kind_of(kernel) in ("dense", "halves")]
    flops = max(dense, default=exact)
    unpack: dict[str, float] = {}
    for kernel, rate in rates.items():
        if ways.kind_of(kernel) == "unpack":
            name = _format(kernel)
            unpack[name] = min(rate, unpack.get(name, rate))
    products = [each for each in right if ways.kind_of(each.kernel) == "product"]
    fused = {_format(each.kernel) for each in products}
    fused -= {_format(each.kernel) for each in products if each.way != "triton"}
    # As the weights are copied in the way that is taken.
    links = [each for each in right if each.kernel == "streams"]
    link = machine.LinkSpeed(rates["streams"] / 1e9, machine.now(), links[-1].way == "one") if links else None
    if flops is None or "memory" not in rates:
        return None, link
    launch_s: dict[str, float] = {}
    for each in right:
        if each.launch_s:
            name = _format(each.kernel)
            launch_s[name] = max(each.launch_s, launch_s.get(name, 0.0))
    figures = flops, rates["memory"] / 1e9, unpack, tuple(sorted(fused))
    return machine.CardSpeed(*figures, machine.now(), launch_s), link


def _format(kernel: str) -> str:
    """Return the name of the format that a kernel unpacks or multiplies."""
    return kernel.split()[1].partition("-")[0]
