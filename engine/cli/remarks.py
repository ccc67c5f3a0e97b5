"""Remarks about a load or an answer, in the terminal's words."""

from collections.abc import Iterator

from engine import ways
from engine.checkpoints.vocabulary import counted
from engine.proof import ladder
from engine.proof.trial import TriedWay
from engine.protocol import (
    Answer,
    CardRefused,
    CardUnreachable,
    DamagedWeights,
    DraftRemark,
    FewLogProbs,
    LittleFreeRam,
    Loaded,
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
from engine.terminal import about_hindrance

GIB = 2**30
REPEATS = (
    "The answer repeats itself and was stopped. With --allow-loops it goes on; --dry-multiplier 0.8 makes "
    "repetitions less likely."
)
SLOWER = "Answers stay right; more of the draft's guesses will be wrong. Another draft may be faster."


def about_load(loaded: Loaded) -> Iterator[str]:
    """Yield a sentence or two for each remark, and at the end what those about the draft mean."""
    yield from map(about_remark, loaded.remarks)
    if any(isinstance(remark, DraftRemark) for remark in loaded.remarks):
        yield SLOWER


def about_answer(answer: Answer) -> Iterator[str]:
    """Yield a sentence or two for each remark."""
    yield from map(about_remark, answer.remarks)
    if answer.stop_reason == "repetition":
        yield REPEATS


def about_remark(remark: Remark) -> str:
    match remark:
        case TookTurns():
            why = about_hindrance(remark.why, remark.drafter)
            return f"Draft and target took turns despite --overlap on. {why}"
        case SmallerPlan():
            return _about_plan(remark)
        case PromptsDropped():
            return "Memory ran out, so other chats will be read anew when you go on with them."
        case Withheld():
            return "The engine withheld a part of the answer."
        case FewLogProbs():
            return f"The engine told log-probabilities of {remark.told} of {remark.tokens} tokens only."
        case DamagedWeights():
            where = f"in {remark.damaged} of its {remark.weights} weights, such as {remark.first}"
            return (
                f"{remark.model} is probably damaged: {where}, all numbers are the same. Verify the model or "
                "download it again."
            )
        case LittleFreeRam():
            free, limit = f"{remark.free_nbytes / GIB:.1f} GiB", f"{remark.limit_nbytes / GIB:.1f} GiB"
            return f"Only {free} of RAM is free for weights, less than the limit of {limit}."
        case UnlistedArchitecture():
            return (
                f"The architecture {remark.architecture} of {remark.model} is not listed: a small random "
                "model of it was compared with transformers, and gave the same log-probabilities."
            )
        case TextOnly():
            return f"{remark.model} runs as a model of text: its encoder of images or sound is not loaded."
        case SaferWay() | CardRefused() | CardUnreachable():
            return _about_card(remark)
        case _:
            return _about_draft(remark)


def _about_plan(plan: SmallerPlan) -> str:
    tiers = {"in VRAM": plan.vram, "in RAM": plan.ram, "on the SSD": plan.ssd}
    layers = ", ".join(f"{number} {where}" for where, number in tiers.items() if number)
    full = {"vram": "on the graphics card", "ram": "in RAM"}[plan.full]
    without = {"heads": ", and without its draft heads", "own_layer": ", and without its layer for drafts"}
    lost = without[plan.without] if plan.without else ""
    return (
        f"Memory ran out {full}, so the model is loaded with {layers} of its layers and a context of "
        f"{plan.context:,} tokens{lost}."
    )


def _about_card(remark: SaferWay | CardRefused | CardUnreachable) -> str:
    match remark:
        case SaferWay():
            kind = ways.LADDERS[ways.kind_of(remark.kernel)]
            instead = next(way.words for way in kind.ways if way.name == remark.way)
            return f"{_failure(remark)}, so {instead}."
        case CardRefused():
            return (
                f"{_failure(remark)}, so the processor runs the model; specexec doctor --device cuda checks "
                "the card anew."
            )
        case CardUnreachable():
            return (
                "The graphics card cannot be used now, so the processor runs the model; the next load tries "
                "it again."
            )


def _failure(remark: SaferWay | CardRefused) -> str:
    """Return what is wrong with a kernel as a clause."""
    return ladder.described(TriedWay(remark.kernel, remark.failed, remark.fault))


def _about_draft(remark: DraftRemark) -> str:
    match remark:
        case OtherEnds():
            target, draft = (", ".join(texts) or "no token" for texts in (remark.target, remark.draft))
            return f"An answer ends with {target} in the target and {draft} in the draft."
        case RenamedToken():
            return (
                f"Special tokens differ: token {remark.token:,} is {remark.target} in the target and "
                f"{remark.draft} in the draft."
            )
        case SpecialInOne(other="text"):
            return (
                f"One model treats {counted(remark.tokens)} as special and the other as plain text; the "
                f"first is {remark.first}."
            )
        case SpecialInOne():
            named = counted(remark.tokens, "special token")
            return f"Only one model has {named}; the first is {remark.first}."
        case OtherSplitting():
            return "The draft splits text into different tokens than the target."
        case OtherTemplate(lacks="draft"):
            return "The draft has no chat template: it was not trained on conversations."
        case OtherTemplate(lacks="target"):
            return "The target has no chat template; the draft was trained with one."
        case OtherTemplate():
            return "The draft was trained with a different chat template than the target."
