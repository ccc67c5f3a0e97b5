"""The model card: what was made, how, from what, and every figure."""

from engine.training.acceptance import QUESTIONS, TOKENS
from engine.training.record import Record
from engine.training.student import Student

KINDS = {
    "eagle": "EAGLE-3 head",
    "medusa": "Medusa heads",
    "layers": "draft of some of the target's layers",
}


def card(record: Record, student: Student, name: str) -> str:
    """README.md of the draft."""
    order, last = record.order, record.curve[-1]
    budgets = sorted(last.tokens_per_pass)
    head = " | ".join(f"tokens per pass, budget {budget}" for budget in budgets)
    lines = [
        f"# {name}",
        "",
        f"{KINDS[order.kind]} for `{order.target}`, made by `specexec train-draft`. Load it with",
        f"`specexec chat --target {order.target} --draft FOLDER`.",
        "",
        f"- Parameters: {student.parameters:,}, stored as bfloat16. Embedding"
        + (" is" if order.kind == "eagle" else " and head are")
        + " the target's and not stored.",
        f"- Tokens told apart: {order.vocabulary:,}, those most frequent in the target's answers.",
        f"- Learned from: {record.sampled:,} tokens that the target made up itself, questions and answers, "
        f"in {record.sampling_s / 60:.1f} minutes; {last.tokens:,} tokens of answers read, repeats included, "
        f"in {last.step:,} steps and {last.seconds / 60:.1f} minutes.",
        f"- Measured on {QUESTIONS} made-up questions that nothing was learned from: greedy answers of up to "
        f"{TOKENS} tokens.",
        "",
        f"| step | tokens read | minutes | held-out loss, by tokens ahead | {head} |",
        "|" + "---:|" * (4 + len(budgets)),
    ]
    for point in record.curve:
        losses = " ".join(f"{loss:.2f}" for loss in point.losses)
        passes = [f"{point.tokens_per_pass[b]:.2f}" if b in point.tokens_per_pass else "" for b in budgets]
        cells = [f"{point.step:,}", f"{point.tokens:,}", f"{point.seconds / 60:.1f}", losses, *passes]
        lines.append("| " + " | ".join(cells) + " |")
    commands = "\n".join(record.commands)
    return "\n".join([*lines, "", "```", commands, "```", ""])
