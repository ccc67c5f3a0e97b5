"""The registry of drafters by name. A new method needs one new file and one line here."""

from collections.abc import Callable
from dataclasses import dataclass

from engine.drafting.assistant import AssistantDrafter
from engine.drafting.block import BlockDrafter
from engine.drafting.eagle import EagleDrafter
from engine.drafting.lookahead import LookaheadDrafter
from engine.drafting.medusa import MedusaDrafter
from engine.drafting.merged import MergedDrafter
from engine.drafting.none import NoDrafter
from engine.drafting.pld import PromptLookupDrafter
from engine.drafting.protocol import Drafter, Drawing, Drawn, Feedback, Lanes, Needs, TreeLimits, TreeProposal
from engine.drafting.recycling import RecyclingDrafter
from engine.drafting.specexec import SpecExecDrafter
from engine.drafting.specinfer import SpecInferDrafter
from engine.drafting.sps import SpsDrafter
from engine.errors import BadOption
from engine.heads import AssistantHead, BlockHead, EagleHead, Heads, MedusaHeads
from engine.model.sequence import Sequence

__all__ = [
    "Drafter",
    "DrafterParts",
    "Drawing",
    "Drawn",
    "Feedback",
    "Lanes",
    "Needs",
    "TreeLimits",
    "TreeProposal",
    "available",
    "check_drafter",
    "default_drafter",
    "make_drafter",
]


@dataclass(frozen=True, slots=True)
class DrafterParts:
    """The parts a drafter is built from. vocabulary: number of token ids that draft and target share. target:
    the target's rows, which assistants read."""

    vocabulary: int
    draft: Sequence | None = None
    heads: Heads | None = None
    target: Sequence | None = None


@dataclass(frozen=True, slots=True)
class _Method:
    make: Callable[[DrafterParts], Drafter]
    needs_draft: bool = False
    heads: str | None = None  # the kind of heads it needs, by the name of their method
    mergeable: bool = True
    offered: bool = True  # False: unlisted, for measurements only


_REGISTRY = {
    "specexec": _Method(
        lambda parts: SpecExecDrafter(_draft(parts.draft), parts.vocabulary), needs_draft=True
    ),
    "specexec-uncoupled": _Method(  # grows as in the paper
        lambda parts: SpecExecDrafter(_draft(parts.draft), parts.vocabulary, coupled=False),
        needs_draft=True,
        mergeable=False,
        offered=False,
    ),
    "specinfer": _Method(
        lambda parts: SpecInferDrafter(_draft(parts.draft), parts.vocabulary),
        needs_draft=True,
        mergeable=False,
    ),
    "sps": _Method(
        lambda parts: SpsDrafter(_draft(parts.draft), parts.vocabulary), needs_draft=True, mergeable=False
    ),
    "eagle": _Method(lambda parts: EagleDrafter(_eagle(parts.heads)), heads="eagle"),
    "medusa": _Method(lambda parts: MedusaDrafter(_medusa(parts.heads)), heads="medusa"),
    "p-eagle": _Method(lambda parts: BlockDrafter(_block(parts.heads)), heads="p-eagle"),
    "dflash": _Method(lambda parts: BlockDrafter(_block(parts.heads)), heads="dflash"),
    "assistant": _Method(
        lambda parts: AssistantDrafter(_assistant(parts.heads), _target(parts.target)), heads="assistant"
    ),
    "recycling": _Method(lambda parts: RecyclingDrafter(parts.vocabulary)),
    "pld": _Method(lambda parts: PromptLookupDrafter()),
    "lookahead": _Method(lambda parts: LookaheadDrafter()),
    "none": _Method(lambda parts: NoDrafter(), mergeable=False),
}


_MERGEABLE = {name for name, method in _REGISTRY.items() if method.mergeable}

MERGED = "merged"
# “merged” stands for the first of these that can run.
_MERGED = (
    ["specexec", "pld"],
    ["eagle", "recycling", "pld"],
    ["medusa", "recycling", "pld"],
    ["p-eagle", "recycling", "pld"],
    ["dflash", "recycling", "pld"],
    ["assistant", "recycling", "pld"],
    ["recycling", "pld"],
)


def available(has_draft: bool, heads: str | None = None) -> list[str]:
    """Return the names of the drafters that can run. Mergeable ones may also be joined: “specexec+pld”.

    has_draft: whether a draft model is loaded; heads: the method of the heads that are loaded, if any.
    """
    offered = [name for name, method in _REGISTRY.items() if method.offered]
    return [name for name in (*offered, MERGED) if not _missing(name, has_draft, heads)]


def default_drafter(has_draft: bool, heads_pay: bool = True) -> str:
    """Return the drafter that `auto` stands for. A draft model already predicts most of what lookup in the
    text would add; heads do not. heads_pay: whether heads, if there are any, are cheap beside the target."""
    if has_draft:
        return "specexec"
    return MERGED if heads_pay else "recycling+pld"


def needs_heads(name: str, heads: str) -> bool:
    """Return whether the drafter called `name` cannot run without heads of the method `heads`."""
    return heads in name.split("+")


def uses_heads(name: str, heads: str) -> bool:
    """Return whether the drafter called `name` guesses with heads, if those of the method `heads` are loaded
    in a draft's place."""
    return name == MERGED or needs_heads(name, heads)


def check_drafter(name: str, has_draft: bool, heads: str | None = None) -> None:
    """Raise BadOption for an unknown name, a drafter whose draft model or heads are missing, or a join of
    drafters that cannot be merged."""
    if name == "auto":
        return
    names = name.split("+")
    usable = f"Choose one of: auto, {', '.join(available(has_draft, heads))}."
    for part in names:
        if part not in (*_REGISTRY, MERGED):
            raise BadOption(f"There is no drafter named “{part}”.", usable)
        if missing := _missing(part, has_draft, heads):
            raise BadOption(f"The drafter “{part}” needs {missing}.", f"Add one with --draft. {usable}")
        if len(names) > 1 and (part not in _MERGEABLE or names.count(part) > 1):
            raise BadOption(
                f"The drafter “{part}” cannot be merged here.",
                f"Join different ones of these with +: {', '.join(sorted(_MERGEABLE))}.",
            )


def make_drafter(name: str, parts: DrafterParts) -> Drafter:
    """Build the drafter called `name`. Raises BadOption as `check_drafter` does."""
    loaded = parts.draft is not None, parts.heads.method if parts.heads else None
    check_drafter(name, *loaded)
    names = name.split("+")
    if name == MERGED:
        names = next(names for names in _MERGED if not _missing(names[0], *loaded))
    drafters = [_REGISTRY[part].make(parts) for part in names]
    return drafters[0] if len(drafters) == 1 else MergedDrafter(name, drafters)


def _missing(name: str, has_draft: bool, heads: str | None) -> str | None:
    """Return words for an error message that name what the drafter lacks; None if it can run."""
    if name == MERGED:
        return None
    method = _REGISTRY[name]
    if method.needs_draft and not has_draft:
        return "a draft model, and none is loaded"
    if method.heads not in (None, heads):
        return f"{method.heads} heads, and none are loaded"
    return None


def _draft(draft: Sequence | None) -> Sequence:
    assert draft is not None
    return draft


def _target(target: Sequence | None) -> Sequence:
    assert target is not None
    return target


def _assistant(heads: Heads | None) -> AssistantHead:
    assert isinstance(heads, AssistantHead)
    return heads


def _eagle(heads: Heads | None) -> EagleHead:
    assert isinstance(heads, EagleHead)
    return heads


def _block(heads: Heads | None) -> BlockHead:
    assert isinstance(heads, BlockHead)
    return heads


def _medusa(heads: Heads | None) -> MedusaHeads:
    assert isinstance(heads, MedusaHeads)
    return heads
