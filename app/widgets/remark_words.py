"""Remarks about a load or an answer in the window's words: what happened, and what the user can do.

The settings are named as on their pages. `engine.cli.remarks` has the terminal's words.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication, QLocale

from app import formatting
from app.widgets import kernel_words
from engine.protocol.messages import (
    CardRefused,
    CardUnreachable,
    DamagedWeights,
    DraftRemark,
    FewLogProbs,
    LittleFreeRam,
    OtherEnds,
    OtherSplitting,
    OtherTemplate,
    PromptsDropped,
    Remark,
    RenamedToken,
    SaferWay,
    SmallerPlan,
    SpecialInOne,
    TextOnly,
    TookTurns,
    UnlistedArchitecture,
    Withheld,
)


class RemarkWords(NamedTuple):
    """A remark in words. Attributes: `message`: what happened; `hint`: what to do."""

    message: str
    hint: str


def words_of(remark: Remark) -> RemarkWords:
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
        case DamagedWeights():
            return _about_damage(remark)
        case LittleFreeRam():
            sizes = formatting.nbytes(remark.free_nbytes), formatting.nbytes(remark.limit_nbytes)
            return RemarkWords(
                _tr("Only {} of RAM is free for weights, less than the limit of {}.").format(*sizes),
                _tr("Close other programs, or set a smaller “RAM for the target” in the settings."),
            )
        case UnlistedArchitecture() | TextOnly():
            return _about_architecture(remark)
        case SaferWay() | CardRefused() | CardUnreachable():
            return _about_card(remark)
        case _:
            hint = _tr(
                "Answers stay right, but more of the draft's guesses are wrong. Another draft may be faster."
            )
            return RemarkWords(_about_draft(remark), hint)


def in_one(remarks: Sequence[Remark]) -> RemarkWords:
    """Return the words of several remarks as those of one; nothing is said twice."""
    words = [words_of(remark) for remark in remarks]
    return RemarkWords(_joined(each.message for each in words), _joined(each.hint for each in words))


def paragraphs(remarks: Sequence[Remark]) -> list[str]:
    """Return the words of remarks as paragraphs, one for each thing to do."""
    messages: dict[str, list[str]] = {}
    for words in map(words_of, remarks):
        messages.setdefault(words.hint, []).append(words.message)
    return [_joined([*said, hint]) for hint, said in messages.items()]


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


def _about_damage(damage: DamagedWeights) -> RemarkWords:
    counts = formatting.number(damage.damaged), formatting.number(damage.weights)
    return RemarkWords(
        _tr(
            "{} is probably damaged: in {} of its {} weights, such as {}, all numbers are the same. Its "
            "answers may make no sense."
        ).format(damage.model, *counts, damage.first),
        _tr("Load another model, delete this one in the settings, then download it again."),
    )


def _about_architecture(remark: UnlistedArchitecture | TextOnly) -> RemarkWords:
    match remark:
        case UnlistedArchitecture():
            return RemarkWords(
                _tr(
                    "{} has an architecture that is not listed, {}. A small random model of it was tested, "
                    "and computes what it should."
                ).format(remark.model, remark.architecture),
                _tr("If its answers make no sense, choose another model."),
            )
        case TextOnly():
            return RemarkWords(
                _tr("{} runs as a model of text: its encoder of images or sound is not loaded.").format(
                    remark.model
                ),
                _tr("It sees no pictures and hears no sound: describe them in words."),
            )


def _about_card(remark: SaferWay | CardRefused | CardUnreachable) -> RemarkWords:
    to_processor = _tr("So the processor runs the model.")
    match remark:
        case SaferWay():
            return RemarkWords(
                _joined(
                    [
                        kernel_words.failure(remark.kernel, remark.fault),
                        kernel_words.instead(remark.kernel, remark.way),
                    ]
                ),
                _tr("Answers stay right. After an update of its driver, the graphics card is checked anew."),
            )
        case CardRefused():
            return RemarkWords(
                _joined([kernel_words.failure(remark.kernel, remark.fault), to_processor]),
                _tr("Update the driver of the graphics card: the next load then checks the card anew."),
            )
        case CardUnreachable():
            return RemarkWords(
                _joined([_tr("The graphics card cannot be used now."), to_processor]),
                _tr("The next load tries it again. If that does not help, restart the computer."),
            )


def _about_draft(remark: DraftRemark) -> str:
    match remark:
        case OtherEnds():
            none = _tr("no token")
            ends = [", ".join(texts) or none for texts in (remark.target, remark.draft)]
            return _tr("An answer of the target ends with {}, one of the draft with {}.").format(*ends)
        case RenamedToken():
            said = _tr("Special tokens differ: token {} is {} in the target and {} in the draft.")
            return said.format(formatting.number(remark.token), remark.target, remark.draft)
        case SpecialInOne():
            said = _tr("Special tokens that only one of the two models has: {}; the first is {}.")
            if remark.other == "text":
                said = _tr("Tokens that only one of the two models treats as special: {}; the first is {}.")
            return said.format(formatting.number(remark.tokens), remark.first)
        case OtherSplitting():
            return _tr("The draft splits text into different tokens than the target.")
        case OtherTemplate():
            return {
                "draft": _tr("The draft has no chat template: it was not trained on conversations."),
                "target": _tr("The target has no chat template, but the draft was trained with one."),
                None: _tr("The draft was trained with a different chat template than the target."),
            }[remark.lacks]


def _joined(sentences: Iterable[str]) -> str:
    return " ".join(dict.fromkeys(sentences))


def _tr(text: str) -> str:
    return QCoreApplication.translate("remarks", text)
