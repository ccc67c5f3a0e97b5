"""Remarks about an answer in the window's words: what happened, and what the user can do.

The settings are named as on their pages. `engine.cli.remarks` has the terminal's words.
"""

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication, QLocale

from app import formatting
from engine.protocol.messages import (
    AnswerRemark,
    FewLogProbs,
    PromptsDropped,
    SmallerPlan,
    TookTurns,
    Withheld,
)


class RemarkWords(NamedTuple):
    """A remark in words. Attributes: `message`: what happened; `hint`: what to do."""

    message: str
    hint: str


def words_of(remark: AnswerRemark) -> RemarkWords:
    match remark:
        case TookTurns():
            return _about_turns(remark)
        case SmallerPlan():
            hint = _tr("Close other programs to free memory, then load the model again.")
            return RemarkWords(about_plan(remark), hint)
        case PromptsDropped():
            return RemarkWords(
                _tr("Memory ran out, so other chats are read anew when you go on with them."),
                _tr("Close other programs, or set a smaller “Other chats in RAM” in the settings."),
            )
        case Withheld():
            return RemarkWords(
                _tr("The server withheld a part of the answer."),
                _tr("Ask in other words, or choose another model."),
            )
        case FewLogProbs():
            told = formatting.number(remark.told), formatting.number(remark.tokens)
            return RemarkWords(
                _tr("The server told the probabilities of {} of {} tokens only.").format(*told),
                _tr("If you do not need them, turn “Log-probabilities” off in this chat's settings."),
            )


def in_one(remarks: Sequence[AnswerRemark]) -> RemarkWords:
    """Return the words of several remarks as those of one."""
    words = [words_of(remark) for remark in remarks]
    return RemarkWords(" ".join(each.message for each in words), " ".join(each.hint for each in words))


def about_plan(plan: SmallerPlan) -> str:
    """Return sentences that say which memory ran out, and where the model's layers are now."""
    full = _tr("Memory ran out, so the model was loaded by a smaller plan.")
    if plan.full == "vram":
        full = _tr("The graphics card's memory ran out, so the model was loaded by a smaller plan.")
    tiers = [
        _tr("{} in VRAM").format(formatting.number(plan.vram)) if plan.vram else "",
        _tr("{} in RAM").format(formatting.number(plan.ram)) if plan.ram else "",
        _tr("{} on the disk").format(formatting.number(plan.ssd)) if plan.ssd else "",
    ]
    layers = _tr("Its layers: {}. Its context: {} tokens.").format(
        QLocale().createSeparatedList(list(filter(None, tiers))), formatting.number(plan.context)
    )
    lost = {
        None: "",
        "heads": _tr("It does without its draft heads."),
        "own_layer": _tr("It does without its own layer for drafts."),
    }
    return " ".join(filter(None, [full, layers, lost[plan.without]]))


def _about_turns(turns: TookTurns) -> RemarkWords:
    same = _tr("The text is the same. There is nothing to do.")
    match turns.why:
        case "drafter":
            said = _tr("Draft and target took turns: the drafter {} keeps no tree beyond the verdict.")
            other = _tr("“Drafter” in this chat's settings offers others.")
            return RemarkWords(said.format(formatting.drafter(turns.drafter)), other)
        case "card":
            return RemarkWords(
                _tr(
                    "Draft and target took turns: the draft cannot go on while this target verifies on the "
                    "graphics card."
                ),
                same,
            )
        case "memory":
            return RemarkWords(
                _tr(
                    "Draft and target took turns: the target is wholly in memory, so that it never waits for "
                    "weights while the draft could go on."
                ),
                same,
            )


def _tr(text: str) -> str:
    return QCoreApplication.translate("remarks", text)
