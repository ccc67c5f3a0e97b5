"""The iteration: draft a tree, verify it, keep what was accepted, report. A generator of events; closing it
at any point leaves the sequences usable. Knows token ids only, no text and no tokenizer.
"""

import time
from collections.abc import Callable, Collection, Generator
from dataclasses import dataclass, replace
from typing import Protocol

from engine.drafting import Drafter, Limits
from engine.judging import Judgement
from engine.model import Watch
from engine.sampling import Sampler
from engine.tree import TokenTree
from engine.verification import LogProbs, Verifier


@dataclass(frozen=True, slots=True)
class Prefilled:
    """Target and drafter have read the prompt, and the first token is chosen: it comes from the prefill."""

    token: int
    log_probs: list[LogProbs]


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

    limits: Limits  # as the rule chose them
    tree: TokenTree
    accepted: list[int]  # node ids, from the root down, of tokens that were committed
    tokens: list[int]
    draft_s: float
    target_s: float
    other_s: float
    rounds: int  # in which the tree grew
    log_probs: list[LogProbs]  # of `tokens`, where they were asked for
    judgement: Judgement | None = None  # of the tree, where it was asked for


class Rule(Protocol):
    """Sets the limits of each tree, perhaps by what came of those before."""

    def choose(self) -> Limits: ...

    def observe(self, iteration: Iterated) -> None: ...


Event = Prefilled | Grown | Iterated


def decode(
    verifier: Verifier,
    drafter: Drafter,
    sampler: Sampler,
    prompt: list[int],
    rule: Rule,
    end_ids: Collection[int],
    max_new_tokens: int,
    watch: Watch,
) -> Generator[Event, None, None]:
    """Decode until a token of `end_ids` (it is committed too), `max_new_tokens`, or a full context."""
    verdict = verifier.read(prompt, drafter, watch)
    context = [*prompt, verdict.bonus]
    end = min(len(prompt) + max_new_tokens, verifier.room)
    if verdict.bonus in end_ids or len(context) >= end:
        yield Prefilled(verdict.bonus, verdict.log_probs)
        return
    drafter.begin(context, sampler, watch)
    drafter.observe_prefill(verdict.said)
    yield Prefilled(verdict.bonus, verdict.log_probs)

    clock = Clock()
    other_s = 0.0
    while True:
        # The tree is never deeper than the answer may still become, nor larger than the room left.
        limits = rule.choose()
        budget = min(limits.budget, verifier.room - len(context))
        drafter.plant(replace(limits, budget=budget, depth=min(limits.depth, end - len(context) - 1)))
        draft_s = clock.lap()
        rounds = 1
        while drafter.grow(1, watch):
            rounds += 1
            draft_s += clock.lap()
            yield Grown(lambda: drafter.snapshot(budget))  # noqa: B023 - called before the next round
            other_s += clock.lap()
        tree = drafter.snapshot(budget)
        draft_s += clock.lap()
        verdict = verifier.verify(context, tree, drafter, watch)
        target_s = clock.lap()

        tokens = [*tree.tokens[verdict.accepted].tolist(), verdict.bonus]
        tokens = tokens[: end - len(context)]
        tokens = tokens[: next((i + 1 for i, token in enumerate(tokens) if token in end_ids), len(tokens))]
        # A row for every committed token but the last, which is the new root.
        verifier.commit(verdict.accepted[: len(tokens) - 1], [context[-1], *tokens[:-1]])
        drafter.advance(tokens, verdict.said)
        context += tokens
        other_s += clock.lap()
        accepted, log_probs = verdict.accepted[: len(tokens)], verdict.log_probs[: len(tokens)]
        iteration = Iterated(
            limits,
            tree,
            accepted,
            tokens,
            draft_s,
            target_s,
            other_s,
            rounds,
            log_probs,
            verdict.judgement,
        )
        rule.observe(iteration)
        yield iteration
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
