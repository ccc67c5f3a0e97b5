"""Drafters by name. A new method is one new file and one line here."""

from collections.abc import Callable
from dataclasses import dataclass

from engine.drafting.none import NoDrafter
from engine.drafting.protocol import Drafter, Drawing, Drawn, Lanes, Limits, Needs, Said
from engine.drafting.recycling import RecyclingDrafter
from engine.drafting.specexec import SpecExecDrafter
from engine.errors import BadOption
from engine.sequence import Sequence

__all__ = [
    "Drafter",
    "Drawing",
    "Drawn",
    "Lanes",
    "Limits",
    "Needs",
    "Parts",
    "Said",
    "available",
    "check_drafter",
    "default_drafter",
    "make_drafter",
]


@dataclass(frozen=True, slots=True)
class Parts:
    """What drafters are made of. vocabulary: token ids that draft and target share."""

    vocabulary: int
    draft: Sequence | None = None


@dataclass(frozen=True, slots=True)
class _Method:
    make: Callable[[Parts], Drafter]
    needs_draft: bool = False


_REGISTRY = {
    "specexec": _Method(
        lambda parts: SpecExecDrafter(given(parts.draft), parts.vocabulary), needs_draft=True
    ),
    "recycling": _Method(lambda parts: RecyclingDrafter(parts.vocabulary)),
    "none": _Method(lambda parts: NoDrafter()),
}


def available(has_draft: bool) -> list[str]:
    """Names of the drafters that can run with or without a draft model."""
    return [name for name, method in _REGISTRY.items() if has_draft or not method.needs_draft]


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


def make_drafter(name: str, parts: Parts) -> Drafter:
    """Raises BadOption as `check_drafter`."""
    check_drafter(name, has_draft=parts.draft is not None)
    return _REGISTRY[name].make(parts)


def given(draft: Sequence | None) -> Sequence:
    assert draft is not None
    return draft
