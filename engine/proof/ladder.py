"""Chooses the way that each kernel takes from the results of trying the ways. Pure functions."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from engine import ways
from engine.proof.trial import WORDS, Outcome, Tester, Trial, TriedWay
from engine.protocol import SaferWay

# Kinds of kernels in the order in which they are suspected when a card has stopped: first what is the most
# intricate and the cheapest to replace.
SUSPECTS = (
    *("graphs", "product", "streams", "copies", "unpack", "attention", "scores", "states", "noise", "halves"),
    "dense",
)


def prove(
    kernels: Sequence[str],
    tried: Iterable[TriedWay],
    tester: Tester,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[TriedWay]:
    """Try the ways of each kernel, from the fastest on, until one is right. Return everything tried.

    The proof ends where the card cannot be reached. tried: what is known already; it is not tried again.
    progress: called with the number of kernels done and in total, again and again while a way is tried; may
    end the proof by raising.
    """
    known = list(tried)
    for done, kernel in enumerate(kernels):
        waiting = partial(progress, done, len(kernels))
        waiting()
        while (way := chosen(kernel, known)) is not None and found(kernel, way, known) is None:
            shown = tester.test(Trial(kernel, way, choices(kernels, known)), waiting)
            if shown.outcome == "unchecked":
                break
            known.append(shown)
            if shown.outcome == "unreachable":
                return known
    progress(len(kernels), len(kernels))
    return known


def found(kernel: str, way: str, tried: Iterable[TriedWay]) -> TriedWay | None:
    return next((each for each in tried if (each.kernel, each.way) == (kernel, way)), None)


def chosen(kernel: str, tried: Sequence[TriedWay]) -> str | None:
    """Return the fastest way of a kernel that has not failed; one that is right but slow if all others have
    failed; None if all have failed."""
    slow = None
    for way in _ways(kernel):
        shown = found(kernel, way, tried)
        if shown is None or shown.outcome in ("right", "unreachable"):
            return way
        if shown.outcome == "slow":
            slow = slow or way
    return slow


def choices(kernels: Iterable[str], tried: Sequence[TriedWay]) -> dict[str, str]:
    """Return the chosen way of each kernel that does not take the fastest one."""
    chosen_ways = {kernel: chosen(kernel, tried) for kernel in kernels}
    return {kernel: way for kernel, way in chosen_ways.items() if way and way != _ways(kernel)[0]}


def refused(kernels: Iterable[str], tried: Sequence[TriedWay]) -> TriedWay | None:
    """Return the result because of which the card cannot be used: it cannot be reached, or a kernel's last
    way has failed, as all before it."""
    if (lost := next((each for each in tried if each.outcome == "unreachable"), None)) is not None:
        return lost
    for kernel in kernels:
        if chosen(kernel, tried) is None:
            return found(kernel, _ways(kernel)[-1], tried)
    return None


def step_back(
    kernels: Sequence[str], tried: Sequence[TriedWay], problem: str, outcome: Outcome = "suspected"
) -> list[TriedWay]:
    """Return `tried` with another outcome of one way: the one that the first of `kernels`, in the order of
    suspicion, takes now. Which kernel has failed, a card that has stopped does not tell. Nothing changes if
    none has a safer way."""
    for kind in SUSPECTS:
        for kernel in kernels:
            way = chosen(kernel, tried) if ways.kind_of(kernel) == kind else None
            if way is not None and (way != _ways(kernel)[-1] or kind == SUSPECTS[-1]):
                others = [each for each in tried if (each.kernel, each.way) != (kernel, way)]
                return [*others, TriedWay(kernel, way, outcome, problem)]
    return list(tried)


def safer_ways(kernels: Iterable[str], tried: Sequence[TriedWay]) -> list[SaferWay]:
    """Return what there is to remark about each kernel that does not take its fastest way."""
    return [_safer_way(kernel, way, tried) for kernel, way in choices(kernels, tried).items()]


def _safer_way(kernel: str, way: str, tried: Sequence[TriedWay]) -> SaferWay:
    before = found(kernel, _ways(kernel)[_ways(kernel).index(way) - 1], tried)
    assert before is not None
    return SaferWay(kernel=kernel, failed=before.way, fault=before.fault, way=way)


def described(shown: TriedWay) -> str:
    """Return what is wrong with a way, as a clause: "Unpacking weights (Q4_K, bfloat16; triton) …", or with
    the card."""
    if shown.outcome == "unreachable":
        return "The graphics card cannot be used now"
    subject = ", ".join(shown.kernel.split()[1:])
    inside = "; ".join(filter(None, [subject, shown.way]))
    return f"{ways.LADDERS[ways.kind_of(shown.kernel)].task} ({inside}) {WORDS[shown.fault]}"


def _ways(kernel: str) -> list[str]:
    return [way.name for way in ways.LADDERS[ways.kind_of(kernel)].ways]
