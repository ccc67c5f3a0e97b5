"""How much of the target's probability the draft's best k tokens hold, on the target's own answers: what the
best tree of one draft could have accepted (SpecExec, arXiv 2406.02532, figure 2).

Both models read an answer at once, in one pass; the target's distribution is the one it samples from, after
all processors.
"""

from collections.abc import Callable, Iterator, Sequence

import msgspec
from torch import Tensor

from engine.bench.intervals import Estimate, mean
from engine.bench.plots import Curve
from engine.model import Model, Rows
from engine.sampling import History, Sampler

KS = (1, 2, 4, 8, 16, 32, 64, 128)


class Coverage(msgspec.Struct, frozen=True):
    """Of `prompts` answers: the share of the target's probability held by the draft's best `k` tokens, and by
    as many of its own."""

    k: int
    prompts: int
    draft: Estimate
    target: Estimate


def measure(
    target: Model,
    draft: Model,
    texts: Sequence[tuple[Sequence[int], Sequence[int]]],
    sampler: Sampler,
    say: Callable[[str], None],
) -> list[Coverage]:
    """texts: (prompt, answer), token ids; every token of an answer counts, each answer as one prompt.

    Raises what a pass raises.
    """
    held: list[tuple[Tensor, Tensor]] = []
    for number, (prompt, answer) in enumerate(texts, start=1):
        say(f"answer {number} of {len(texts)}")
        history = History(prompt, [answer[:place] for place in range(len(answer))])
        probs = sampler.probabilities(_logits(target, prompt, answer), history)
        guessed = _logits(draft, prompt, answer)[:, : probs.shape[1]]
        best = guessed.topk(max(KS)).indices
        held.append((_held(probs, best), _held(probs, probs.topk(max(KS)).indices)))
    return [
        Coverage(
            k,
            len(held),
            mean([float(by_draft[k - 1]) for by_draft, _ in held]),
            mean([float(by_target[k - 1]) for _, by_target in held]),
        )
        for k in KS
    ]


def table(found: Sequence[Coverage]) -> Iterator[str]:
    """Markdown."""
    yield "| k | held by the draft's best k | by the target's own |"
    yield "|---:|---:|---:|"
    for each in found:
        draft, own = each.draft, each.target
        interval = "" if draft.low is None else f" ({draft.low:.3f}–{draft.high:.3f})"
        yield f"| {each.k} | {draft.value:.3f}{interval} | {own.value:.3f} |"


def curves(found: Sequence[Coverage]) -> list[Curve]:
    return [
        Curve("the draft's best k", {float(each.k): each.draft for each in found}),
        Curve("the target's own", {float(each.k): each.target for each in found}),
    ]


def _logits(model: Model, prompt: Sequence[int], answer: Sequence[int]) -> Tensor:
    """Of the distribution that each token of the answer came from, [answer, vocabulary]."""
    tokens = [*prompt, *answer[:-1]]
    rows = slice(len(prompt) - 1, None)
    return model.forward(Rows.text(tokens, 0), model.new_cache(len(tokens)), logits_for=rows).logits


def _held(probs: Tensor, best: Tensor) -> Tensor:
    """Means over rows of what the first 1, 2, … of `best` [rows, most] hold of `probs`, [most]."""
    return probs.gather(-1, best.to(probs.device)).cumsum(-1).mean(0)
