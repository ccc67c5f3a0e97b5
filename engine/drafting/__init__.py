"""Drafters by name. A new method is one new file and one line here."""

from collections.abc import Callable

from engine.drafting.none import NoDrafter
from engine.drafting.protocol import Drafter, Limits, Needs, Said
from engine.drafting.recycling import RecyclingDrafter
from engine.drafting.specexec import SpecExecDrafter
from engine.errors import BadOption
from engine.sequence import Sequence

__all__ = [
    "Drafter",
    "Limits",
    "Needs",
    "Said",
    "available",
    "check_drafter",
    "default_drafter",
    "make_drafter",
]

# name -> (needs a draft model, maker from the draft's sequence (or None) and the shared vocabulary's size)
_REGISTRY: dict[str, tuple[bool, Callable[[Sequence | None, int], Drafter]]] = {
    "specexec": (True, lambda draft, vocabulary: SpecExecDrafter(_given(draft), vocabulary)),
    "recycling": (False, lambda draft, vocabulary: RecyclingDrafter(vocabulary)),
    "none": (False, lambda draft, vocabulary: NoDrafter()),
}


def available(has_draft: bool) -> list[str]:
    """Names of the drafters that can run with or without a draft model."""
    return [name for name, (needs_draft, _) in _REGISTRY.items() if has_draft or not needs_draft]


def default_drafter(has_draft: bool) -> str:
    """What `auto` stands for."""
    return available(has_draft)[0]


def check_drafter(name: str, has_draft: bool) -> None:
    """Raises BadOption for an unknown name, or one that needs a draft model where there is none."""
    if name == "auto":
        return
    if name not in _REGISTRY:
        raise BadOption(
            f"There is no drafter called “{name}”.", f"Choose one of: auto, {', '.join(_REGISTRY)}."
        )
    if name not in available(has_draft):
        raise BadOption(
            f"The drafter “{name}” needs a draft model, and none is loaded.",
            f"Name one with --draft, or choose one of: auto, {', '.join(available(False))}.",
        )


def make_drafter(name: str, draft: Sequence | None, vocabulary: int) -> Drafter:
    """Raises BadOption as `check_drafter`."""
    check_drafter(name, has_draft=draft is not None)
    _, make = _REGISTRY[name]
    return make(draft, vocabulary)


def _given(draft: Sequence | None) -> Sequence:
    assert draft is not None
    return draft
