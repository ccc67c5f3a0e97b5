"""Drafters by name. A new method is one new file and one line here."""

from collections.abc import Callable
from dataclasses import dataclass

from engine.drafting.eagle import EagleDrafter
from engine.drafting.lookahead import LookaheadDrafter
from engine.drafting.medusa import MedusaDrafter
from engine.drafting.merged import MergedDrafter
from engine.drafting.none import NoDrafter
from engine.drafting.pld import PromptLookupDrafter
from engine.drafting.protocol import Drafter, Drawing, Drawn, Lanes, Limits, Needs, Said
from engine.drafting.recycling import RecyclingDrafter
from engine.drafting.specexec import SpecExecDrafter
from engine.drafting.specinfer import SpecInferDrafter
from engine.drafting.sps import SpsDrafter
from engine.errors import BadOption
from engine.heads import EagleHead, Heads, MedusaHeads
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
    heads: Heads | None = None


@dataclass(frozen=True, slots=True)
class _Method:
    make: Callable[[Parts], Drafter]
    needs_draft: bool = False
    heads: str | None = None  # of this method it needs
    mergeable: bool = True
    offered: bool = True  # else it is there to be measured, for who knows its name


_REGISTRY = {
    "specexec": _Method(
        lambda parts: SpecExecDrafter(given(parts.draft), parts.vocabulary), needs_draft=True
    ),
    "specexec-uncoupled": _Method(  # the paper's growth
        lambda parts: SpecExecDrafter(given(parts.draft), parts.vocabulary, coupled=False),
        needs_draft=True,
        mergeable=False,
        offered=False,
    ),
    "specinfer": _Method(
        lambda parts: SpecInferDrafter(given(parts.draft), parts.vocabulary),
        needs_draft=True,
        mergeable=False,
    ),
    "sps": _Method(
        lambda parts: SpsDrafter(given(parts.draft), parts.vocabulary), needs_draft=True, mergeable=False
    ),
    "eagle": _Method(lambda parts: EagleDrafter(_eagle(parts.heads)), heads="eagle"),
    "medusa": _Method(lambda parts: MedusaDrafter(_medusa(parts.heads)), heads="medusa"),
    "recycling": _Method(lambda parts: RecyclingDrafter(parts.vocabulary)),
    "pld": _Method(lambda parts: PromptLookupDrafter()),
    "lookahead": _Method(lambda parts: LookaheadDrafter()),
    "none": _Method(lambda parts: NoDrafter(), mergeable=False),
}


_MERGEABLE = {name for name, method in _REGISTRY.items() if method.mergeable}

MERGED = "merged"
# What “merged” stands for: the first of these that can run.
_MERGED = (
    ["specexec", "pld"],
    ["eagle", "recycling", "pld"],
    ["medusa", "recycling", "pld"],
    ["recycling", "pld"],
)


def available(has_draft: bool, heads: str | None = None) -> list[str]:
    """Names of the drafters that can run with or without a draft model, or with heads of that method.
    Those that can be merged may also be named together: “specexec+pld”."""
    offered = [name for name, method in _REGISTRY.items() if method.offered]
    return [name for name in (*offered, MERGED) if not _missing(name, has_draft, heads)]


def default_drafter(has_draft: bool) -> str:
    """What `auto` stands for. A draft model foresees nearly all that the text tells, heads do not."""
    return "specexec" if has_draft else MERGED


def check_drafter(name: str, has_draft: bool, heads: str | None = None) -> None:
    """Raises BadOption for an unknown name, one that needs a draft model or heads where there are none, or
    names together that cannot be merged."""
    if name == "auto":
        return
    names = name.split("+")
    usable = f"Choose one of: auto, {', '.join(available(has_draft, heads))}."
    for each in names:
        if each not in (*_REGISTRY, MERGED):
            raise BadOption(f"There is no drafter called “{each}”.", usable)
        if missing := _missing(each, has_draft, heads):
            raise BadOption(f"The drafter “{each}” needs {missing}.", f"Name one with --draft. {usable}")
        if len(names) > 1 and (each not in _MERGEABLE or names.count(each) > 1):
            raise BadOption(
                f"The drafter “{each}” cannot be merged here.",
                f"Join different ones of these by +: {', '.join(sorted(_MERGEABLE))}.",
            )


def make_drafter(name: str, parts: Parts) -> Drafter:
    """Raises BadOption as `check_drafter`."""
    has = parts.draft is not None, parts.heads.method if parts.heads else None
    check_drafter(name, *has)
    names = name.split("+")
    if name == MERGED:
        names = next(names for names in _MERGED if not _missing(names[0], *has))
    drafters = [_REGISTRY[each].make(parts) for each in names]
    return drafters[0] if len(drafters) == 1 else MergedDrafter(name, drafters)


def _missing(name: str, has_draft: bool, heads: str | None) -> str | None:
    """What a drafter needs that is not loaded, in words."""
    if name == MERGED:
        return None
    method = _REGISTRY[name]
    if method.needs_draft and not has_draft:
        return "a draft model, and none is loaded"
    if method.heads not in (None, heads):
        return f"{method.heads} heads, and none are loaded"
    return None


def given(draft: Sequence | None) -> Sequence:
    assert draft is not None
    return draft


def _eagle(heads: Heads | None) -> EagleHead:
    assert isinstance(heads, EagleHead)
    return heads


def _medusa(heads: Heads | None) -> MedusaHeads:
    assert isinstance(heads, MedusaHeads)
    return heads
