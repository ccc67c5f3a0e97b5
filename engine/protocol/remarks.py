"""Remarks about a load or an answer as plain data (msgspec): each client words them for its users.

A new remark takes one class here, with a kind in snake_case, a sentence in `engine.cli.remarks`, and one in
`app.widgets.remark_words`.
"""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from engine.protocol.requests import Hindrance

__all__ = [
    "AnswerRemark", "CardRefused", "CardUnreachable", "DamagedWeights", "DraftRemark", "FewLogProbs",
    "KernelFault", "LittleFreeRam", "LoadRemark", "OtherEnds", "OtherSplitting", "OtherTemplate",
    "PromptsDropped", "Remark", "RenamedToken", "SaferWay", "Shortage", "SmallerPlan", "SpecialInOne",
    "TextOnly", "TookTurns", "UnlistedArchitecture", "Withheld", "latest",
]  # fmt: skip

# How a way of a kernel fails on a graphics card: its numbers are wrong; it is right but slow; it raises; it
# does not end; it ends the process; it may have stopped the card.
KernelFault = Literal["wrong", "slow", "failed", "hung", "crashed", "suspected"]


class TookTurns(Struct, frozen=True, kw_only=True, tag_field="kind", tag="took_turns"):
    """Draft and target took turns although they were to overlap. `drafter`: its name."""

    why: Hindrance
    drafter: str


class SmallerPlan(Struct, frozen=True, kw_only=True, tag_field="kind", tag="smaller_plan"):
    """Memory ran out, so the models were loaded by a smaller plan."""

    full: Literal["vram", "ram"]  # the tier whose memory ran out
    vram: int  # layers of the target in VRAM
    ram: int  # in RAM
    ssd: int  # on the disk, from which they are read in each pass
    context: int  # tokens
    # what was left out: draft heads, or the target's own layer for drafts
    without: Literal["heads", "own_layer"] | None = None


class PromptsDropped(Struct, frozen=True, tag_field="kind", tag="prompts_dropped"):
    """Memory ran out, so that the rows of other conversations were dropped: their prompts are read anew."""


class Withheld(Struct, frozen=True, tag_field="kind", tag="withheld"):
    """The engine elsewhere withheld a part of the answer, which its filter of contents did not let pass."""


class FewLogProbs(Struct, frozen=True, kw_only=True, tag_field="kind", tag="few_log_probs"):
    """The engine elsewhere told the log-probabilities of `told` tokens only, out of `tokens`."""

    told: int
    tokens: int


class DamagedWeights(Struct, frozen=True, kw_only=True, tag_field="kind", tag="damaged_weights"):
    """A model's files are probably damaged: all numbers of some weights are the same."""

    model: str  # name of its file or folder
    damaged: int  # number of such weights, out of `weights`
    weights: int
    first: str  # the name of the first of them


class LittleFreeRam(Struct, frozen=True, kw_only=True, tag_field="kind", tag="little_free_ram"):
    """Less RAM is free for weights than the limit that was asked for."""

    free_nbytes: int
    limit_nbytes: int


class UnlistedArchitecture(Struct, frozen=True, kw_only=True, tag_field="kind", tag="unlisted_architecture"):
    """A model's architecture is not declared. A small random model of it has passed the proof."""

    model: str
    architecture: str


class TextOnly(Struct, frozen=True, kw_only=True, tag_field="kind", tag="text_only"):
    """The target's encoder of images or sound is not loaded."""

    model: str


class SaferWay(Struct, frozen=True, kw_only=True, tag_field="kind", tag="safer_way"):
    """A kernel takes a safer way on the graphics card, for the one before it has failed."""

    kernel: str  # this name and those of its ways are those in engine.ways
    failed: str  # the way that has failed
    fault: KernelFault  # how it has
    way: str  # the way that is taken


class CardRefused(Struct, frozen=True, kw_only=True, tag_field="kind", tag="card_refused"):
    """The processor runs the models, for all ways of a kernel have failed on the graphics card."""

    kernel: str
    failed: str  # the last way that was tried
    fault: KernelFault


class CardUnreachable(Struct, frozen=True, tag_field="kind", tag="card_unreachable"):
    """The processor runs the models, for the graphics card cannot be used now. The next load tries it."""


class OtherEnds(Struct, frozen=True, kw_only=True, tag_field="kind", tag="other_ends"):
    """Answers of target and draft end with different tokens, given as texts."""

    target: tuple[str, ...]
    draft: tuple[str, ...]


class RenamedToken(Struct, frozen=True, kw_only=True, tag_field="kind", tag="renamed_token"):
    """Special tokens of target and draft have different texts; this is the first of them."""

    token: int
    target: str
    draft: str


class SpecialInOne(Struct, frozen=True, kw_only=True, tag_field="kind", tag="special_in_one"):
    """Tokens that are special in one of target and draft only are text in the other, or missing there."""

    other: Literal["text", "missing"]
    tokens: int  # how many
    first: str  # the text of the first of them


class OtherSplitting(Struct, frozen=True, tag_field="kind", tag="other_splitting"):
    """The draft splits text into different tokens than the target."""


class OtherTemplate(Struct, frozen=True, kw_only=True, tag_field="kind", tag="other_template"):
    """The draft's chat template is not the target's."""

    lacks: Literal["target", "draft"] | None  # which of them has none


Shortage = SmallerPlan | PromptsDropped  # what was given up because memory ran out
AnswerRemark = TookTurns | Shortage | Withheld | FewLogProbs
# What makes the draft's guesses worse.
DraftRemark = OtherEnds | RenamedToken | SpecialInOne | OtherSplitting | OtherTemplate
LoadRemark = (
    DamagedWeights
    | Shortage
    | CardRefused
    | CardUnreachable
    | SaferWay
    | LittleFreeRam
    | UnlistedArchitecture
    | TextOnly
    | DraftRemark
)
Remark = AnswerRemark | LoadRemark


def latest(remarks: Iterable[AnswerRemark]) -> list[AnswerRemark]:
    """Return the last remark of each kind, in the order in which kinds came up."""
    by_kind: dict[type, AnswerRemark] = {type(remark): remark for remark in remarks}
    return list(by_kind.values())
