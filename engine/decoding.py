"""The iteration: draft a tree, verify it, keep what was accepted, report. A generator of events; closing it
at any point leaves the sequences usable. Knows token ids only, no text and no tokenizer.
"""

import time
from collections.abc import Callable, Collection, Generator
from dataclasses import dataclass, replace

from engine.drafting import Drafter, Limits
from engine.model import Watch
from engine.sampling import Sampler
from engine.sequence import Sequence
from engine.tree import TokenTree
from engine.verification import choose, verify, what_was_said


@dataclass(frozen=True, slots=True)
class Prefilled:
    """Target and drafter have read the prompt, and the first token is chosen: it comes from the prefill."""

    token: int


@dataclass(frozen=True, slots=True)
class Grown:
    """The tree of the iteration under way has grown; who wants to see it calls `snapshot` before asking for
    the next event."""

    snapshot: Callable[[], TokenTree]


@dataclass(frozen=True, slots=True)
class Iterated:
    """One iteration is done.

    tokens: what it committed, accepted tokens and then the bonus token, cut where the answer ends. Times in
    seconds.
    """

    tree: TokenTree
    accepted: list[int]  # node ids, from the root down, of tokens that were committed
    tokens: list[int]
    draft_s: float
    target_s: float
    other_s: float


Event = Prefilled | Grown | Iterated


def decode(
    target: Sequence,
    drafter: Drafter,
    sampler: Sampler,
    prompt: list[int],
    limits: Limits,
    end_ids: Collection[int],
    max_new_tokens: int,
    watch: Watch,
) -> Generator[Event, None, None]:
    """Decode until a token of `end_ids` (it is committed too), `max_new_tokens`, or a full context.

    `target` may hold rows of any prefix of `prompt`: they are reused, except that the last token is always
    run.
    """
    target.align(prompt[:-1])
    logits = target.extend(prompt[len(target.ids) :], watch)
    token = choose(sampler, logits, prompt)
    context = [*prompt, token]
    end = min(len(prompt) + max_new_tokens, target.cache.capacity)
    if token in end_ids or len(context) >= end:
        yield Prefilled(token)
        return
    drafter.begin(context, watch)
    drafter.observe_prefill(what_was_said(prompt[-1:], logits[None], {}, drafter.needs))
    yield Prefilled(token)

    clock = Clock()
    other_s = 0.0
    while True:
        # The tree is never deeper than the answer may still become, nor larger than the room left in the
        # cache.
        room = target.cache.capacity - len(context)
        budget = min(limits.budget, room)
        drafter.plant(replace(limits, budget=budget, depth=min(limits.depth, end - len(context) - 1)))
        draft_s = clock.lap()
        while drafter.grow(1, watch):
            draft_s += clock.lap()
            yield Grown(lambda: drafter.snapshot(budget))  # noqa: B023 - called before the next round
            other_s += clock.lap()
        tree = drafter.snapshot(budget)
        draft_s += clock.lap()
        verdict = verify(target, context, tree, sampler, drafter.needs, watch)
        target_s = clock.lap()

        tokens = [*tree.tokens[verdict.accepted].tolist(), verdict.bonus]
        tokens = tokens[: end - len(context)]
        tokens = tokens[: next((i + 1 for i, token in enumerate(tokens) if token in end_ids), len(tokens))]
        # Rows: the root's (slot 0) and those of every committed token but the last, which is the new root.
        kept = [0, *(node + 1 for node in verdict.accepted[: len(tokens) - 1])]
        target.keep(kept, [context[-1], *tokens[:-1]])
        drafter.advance(tokens, verdict.said)
        context += tokens
        other_s += clock.lap()
        yield Iterated(tree, verdict.accepted[: len(tokens)], tokens, draft_s, target_s, other_s)
        other_s = clock.lap()
        if tokens[-1] in end_ids or len(context) >= end:
            return


class Clock:
    """Wall time between laps, in seconds."""

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def lap(self) -> float:
        now = time.perf_counter()
        elapsed, self._last = now - self._last, now
        return elapsed
