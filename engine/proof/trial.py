"""One way of one kernel, tried on a card: what is asked of the process that tries it, and its answer."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal, Protocol

from msgspec import Struct

from engine.protocol import KernelFault

_LONGEST = 200  # characters of a problem that are kept

Outcome = Literal["right", KernelFault, "unchecked", "unreachable"]

# What each fault means, in a sentence of the terminal after the kernel's task.
WORDS: dict[KernelFault, str] = {
    "wrong": "gives wrong numbers on this graphics card",
    "slow": "is slow on this graphics card",
    "failed": "does not work on this graphics card",
    "hung": "does not end on this graphics card",
    "crashed": "ends the program on this graphics card",
    "suspected": "may have stopped the graphics card",
}


class Trial(Struct, frozen=True):
    """A request to try one way of a kernel. taken: the ways of the kernels that were tried before, by kernel,
    where they are not the fastest."""

    kernel: str
    way: str
    taken: dict[str, str] = {}


class TriedWay(Struct, frozen=True):
    """The result of trying a way of a kernel.

    problem: what went wrong, in words that name no file and no user; "". rate, possible: how fast it is, and
    the most that the card's memory or link allows, both in `unit`; None if that was not measured. remark:
    under which conditions, or "". launch_s: seconds of the processor for launching a product of one piece;
    None if that was not measured.

    Outcomes: "slow": it is right, but a safer way takes less time; "suspected": it was right when it was
    tried, but the card stopped later; "unchecked": it could not be tried, as memory or space on the disk was
    missing; "unreachable": the card cannot be used now, whatever the kernel.
    """

    kernel: str
    way: str
    outcome: Outcome
    problem: str = ""
    rate: float | None = None
    possible: float | None = None
    unit: str = ""
    remark: str = ""
    launch_s: float | None = None

    @property
    def fault(self) -> KernelFault:
        """How the way has failed. Raises ValueError if it has not."""
        match self.outcome:
            case "wrong" | "slow" | "failed" | "hung" | "crashed" | "suspected" as fault:
                return fault
        raise ValueError(f"{self.kernel} has not failed in the way {self.way}: {self.outcome}")


STARTED = b'"started"\n'  # written by the process that tries ways before it connects to the card


class Connection(Struct, frozen=True):
    """What the process that tries ways writes once it has tried to connect to the card: `outcome`, "right",
    "unchecked" or "unreachable", and `problem`, as in a `TriedWay`."""

    outcome: Outcome = "right"
    problem: str = ""


class Tester(Protocol):
    """Tries ways of kernels. Tests substitute a fake."""

    def test(self, trial: Trial, waiting: Callable[[], object]) -> TriedWay:
        """Try a way. waiting: called again and again meanwhile; may end the trial by raising."""

    def close(self) -> None: ...


def problem_of(error: Exception) -> str:
    """Return the first line of an error without folders and names of users, for a report that is shown to
    others."""
    text = f"{type(error).__name__}: {error}".strip().splitlines()[0]
    if len(name := Path.home().name) > 2:
        text = re.sub(rf"\b{re.escape(name)}\b", "user", text)
    return re.sub(r"(?:[A-Za-z]:)?(?:[\\/~][^\s'\"\\/:]*)+[\\/]", "…/", text)[:_LONGEST]
