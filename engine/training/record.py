"""The record of one training, which contains its order and its measurements. It is kept in a JSON file beside
the checkpoint, and becomes the draft's model card."""

from pathlib import Path

import msgspec

from engine.documents import read_json
from engine.errors import BadCheckpoint
from engine.files import write_whole
from engine.training.acceptance import QUESTIONS, TOKENS
from engine.training.student import Student

KINDS = {
    "eagle": "EAGLE-3 head",
    "medusa": "Medusa heads",
    "layers": "draft of some of the target's layers",
}


class Order(msgspec.Struct, frozen=True):
    """What draft to make. kind: "layers" (a draft made of `layers` of the target's layers), "eagle" or
    "medusa"; vocabulary: number of tokens among which the draft learns to choose; tokens: number of tokens
    that the target generates; length: maximum number of tokens of one text; dtype: number type of the target
    and of matrix products."""

    target: str
    kind: str
    layers: int = 0
    vocabulary: int = 8192
    tokens: int = 1_000_000
    length: int = 384
    dtype: str = "bfloat16"
    seed: int = 0


class Point(msgspec.Struct, frozen=True):
    """One measurement, made after `step` steps. tokens: number of tokens learned from so far, including
    repeats; seconds: time of learning so far; losses: on held-out text, in nats, one for each token ahead;
    tokens_per_pass: by budget."""

    step: int
    tokens: int
    seconds: float
    losses: list[float]
    tokens_per_pass: dict[int, float]


class TrainingRecord(msgspec.Struct):
    """The record of one training. order: the draft to make; commands: the command lines, one per start;
    sampling_s: seconds spent on generating texts; sampled: number of tokens generated; counted: number of
    shards whose tokens were counted to choose the vocabulary, or 0 if it has not been chosen yet; curve: the
    measurements."""

    order: Order
    commands: list[str] = []
    sampling_s: float = 0.0
    sampled: int = 0
    counted: int = 0
    curve: list[Point] = []

    def save(self, file: Path) -> None:
        write_whole(file, msgspec.json.format(msgspec.json.encode(self), indent=2), single_writer=True)


def read_record(file: Path) -> TrainingRecord:
    """Read the record in `file`. Raises BadCheckpoint if it cannot be read."""
    try:
        return read_json(file, TrainingRecord)
    except (OSError, ValueError) as error:
        raise BadCheckpoint(
            f"{file} is not a training record: {str(error)[:200]}", "Choose another folder and start over."
        ) from error


def card(record: TrainingRecord, student: Student, name: str) -> str:
    """Return the draft's README.md: what it is, how it was made, and every measurement."""
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
        f"- Training vocabulary: {order.vocabulary:,} tokens, those most frequent in the target's answers.",
        f"- Learned from: {record.sampled:,} tokens of questions and answers that the target generated, in "
        f"{record.sampling_s / 60:.1f} minutes; {last.tokens:,} tokens of answers, including repeats, in "
        f"{last.step:,} steps and {last.seconds / 60:.1f} minutes.",
        f"- Measured on {QUESTIONS} generated questions held out from training: greedy answers of up to "
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
