"""Remarks about an answer as plain data (msgspec): each client words them for its users.

A new remark takes one class here, with a kind in snake_case, a sentence in `engine.cli.remarks`, and one in
`app.widgets.remark_words`.
"""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from engine.protocol.requests import Hindrance

__all__ = ["AnswerRemark", "FewLogProbs", "PromptsDropped", "SmallerPlan", "TookTurns", "Withheld", "latest"]


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


AnswerRemark = TookTurns | SmallerPlan | PromptsDropped | Withheld | FewLogProbs


def latest(remarks: Iterable[AnswerRemark]) -> list[AnswerRemark]:
    """Return the last remark of each kind, in the order in which kinds came up."""
    by_kind: dict[type, AnswerRemark] = {type(remark): remark for remark in remarks}
    return list(by_kind.values())
