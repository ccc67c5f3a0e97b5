"""Measurement of a draft's acceptance: how many tokens its target commits per pass, with the engine's own
drafter and decoder, on held-out questions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.checkpoints import Checkpoint, open_checkpoint
from engine.decoding.budget import FixedLimits
from engine.decoding.iteration import Iterated, decode
from engine.decoding.verification import TargetVerifier
from engine.drafting import DrafterParts, make_drafter
from engine.heads import open_heads
from engine.heads.target_parts import with_borrowed
from engine.model.interface import Progress, no_progress
from engine.model.sequence import Sequence as Rows
from engine.sampling import Sampler
from engine.torch_model.forward import TorchModel
from engine.torch_model.heads import load_heads
from engine.torch_model.loader import load_model

BUDGETS = (16, 64, 256)
TOKENS = 48  # maximum per answer
QUESTIONS = 8


@dataclass(frozen=True, slots=True)
class Measured:
    """A measured acceptance. tokens_per_pass: one figure for each budget, from `answers` greedy answers of up
    to TOKENS tokens."""

    tokens_per_pass: dict[int, float]
    answers: int


def load_draft(folder: Path, target: TorchModel, target_file: Checkpoint, context: int) -> DrafterParts:
    """Load the trained draft or heads in `folder` as the engine does."""
    if (file := open_heads(folder)) is not None:
        return DrafterParts(target.vocabulary, heads=load_heads(file, target, context))
    checkpoint = with_borrowed(open_checkpoint(folder), target_file)
    model = load_model(checkpoint, target.products, target.device, no_progress, context, target.vocabulary)
    return DrafterParts(target.vocabulary, draft=Rows(model, context))


def measure(
    parts: DrafterParts,
    method: str,
    target: TorchModel,
    questions: Sequence[list[int]],
    end_ids: frozenset[int],
    progress: Progress,
    budgets: Sequence[int] = BUDGETS,
) -> Measured:
    """Answer `questions` with every budget, and measure the tokens per pass.

    method: the drafter's name. questions: prompts as token ids. progress: as in `Model.forward`; it may raise
    to end the measurement."""
    per_pass = {}
    rows = Rows(target, max(map(len, questions)) + TOKENS + 2 * max(budgets))
    for budget in budgets:
        drafter = make_drafter(method, parts)
        rule = FixedLimits(replace(drafter.defaults, budget=budget))
        tokens = passes = 0
        for question in questions:
            verifier = TargetVerifier(rows, Sampler())
            for event in decode(verifier, drafter, Sampler(), question, rule, end_ids, TOKENS, progress):
                if isinstance(event, Iterated):
                    tokens += len(event.tokens)
                    passes += 1
        per_pass[budget] = tokens / max(1, passes)
    return Measured(per_pass, len(questions))
