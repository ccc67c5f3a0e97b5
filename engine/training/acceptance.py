"""How much of what a draft proposes its target accepts, measured with the engine's own drafter and decoder on
questions nothing was learned from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.budget import FixedLimits
from engine.checkpoints import Checkpoint, open_checkpoint
from engine.decoding import Iterated, decode
from engine.drafting import Parts, make_drafter
from engine.heads import load_heads, open_heads
from engine.heads.borrowed import with_borrowed
from engine.loading import load_model
from engine.model import Model, Watch, no_watch
from engine.sampling import Sampler
from engine.sequence import Sequence as Rows
from engine.verification import TargetVerifier

BUDGETS = (16, 64, 256)
TOKENS = 48  # of each answer
QUESTIONS = 8


@dataclass(frozen=True, slots=True)
class Measured:
    """tokens_per_pass: by budget, over `answers` greedy ones of up to TOKENS tokens."""

    tokens_per_pass: dict[int, float]
    answers: int


def load_draft(folder: Path, target: Model, target_file: Checkpoint, context: int) -> Parts:
    """What was trained, as the engine loads it."""
    if (file := open_heads(folder)) is not None:
        return Parts(target.vocabulary, heads=load_heads(file, target, context))
    checkpoint = with_borrowed(open_checkpoint(folder), target_file)
    model = load_model(checkpoint, target.dtype, target.device, no_watch, context, target.vocabulary)
    return Parts(target.vocabulary, draft=Rows(model, context))


def measure(
    parts: Parts,
    method: str,
    target: Model,
    questions: Sequence[list[int]],
    end_ids: frozenset[int],
    watch: Watch,
    budgets: Sequence[int] = BUDGETS,
) -> Measured:
    """method: the drafter's name. questions: prompts as token ids. watch: told passes as `Model.forward`
    does; ends it by raising."""
    found = {}
    rows = Rows(target, max(map(len, questions)) + TOKENS + 2 * max(budgets))
    for budget in budgets:
        drafter = make_drafter(method, parts)
        rule = FixedLimits(replace(drafter.defaults, budget=budget))
        tokens = passes = 0
        for question in questions:
            verifier = TargetVerifier(rows, Sampler())
            for event in decode(verifier, drafter, Sampler(), question, rule, end_ids, TOKENS, watch):
                if isinstance(event, Iterated):
                    tokens += len(event.tokens)
                    passes += 1
        found[budget] = tokens / max(1, passes)
    return Measured(found, len(questions))
