"""Remarks about an answer, in the terminal's words."""

from collections.abc import Iterator

from engine.protocol import (
    Answer,
    AnswerRemark,
    FewLogProbs,
    PromptsDropped,
    SmallerPlan,
    TookTurns,
    Withheld,
)
from engine.terminal import about_hindrance

REPEATS = (
    "The answer repeats itself and was stopped. With --allow-loops it goes on; --dry-multiplier 0.8 makes "
    "repetitions less likely."
)


def about_answer(answer: Answer) -> Iterator[str]:
    """Yield a sentence or two for each remark."""
    yield from map(about_remark, answer.remarks)
    if answer.stop_reason == "repetition":
        yield REPEATS


def about_remark(remark: AnswerRemark) -> str:
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
