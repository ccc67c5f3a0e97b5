"""Decoding in iterations. Each one drafts a tree, verifies it, keeps what was accepted, and reports.

`decode` is a generator of events; closing it at any point leaves the sequences usable. It works on token ids
only, so it needs neither text nor a tokenizer.
"""

import time
from collections.abc import Callable, Collection, Generator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from engine.decoding.judgement import Judgement
from engine.decoding.pass_thread import Whole
from engine.decoding.verdict import LogProbs, PassEnded, Pending, Verdict, Verifier
from engine.drafting import Drafter, Feedback, TreeLimits
from engine.model.interface import Progress
from engine.sampling import Sampler
from engine.tree import TokenTree

Phase = Literal["draft", "target", "other"]


@dataclass(frozen=True, slots=True)
class Prefilled:
    """The event that the prompt has been read. Reading it also gives the answer's first token, `token`.

    limits: those of the trees that have grown meanwhile, with their `rounds`. `ahead` is 0 if the drafter has
    not read the prompt meanwhile. reused: how many of the prompt's tokens were not read anew.
    """

    token: int
    log_probs: list[LogProbs]
    limits: TreeLimits
    reused: int


@dataclass(frozen=True, slots=True)
class Grown:
    """The event that the tree of the current iteration has grown. To see the tree, call `snapshot` before
    requesting the next event."""

    snapshot: Callable[[], TokenTree]


@dataclass(frozen=True, slots=True, kw_only=True)
class Iterated:
    """The event that an iteration is complete.

    tokens: the committed tokens: the accepted ones, then the bonus token, up to where the answer ends.
    draft_s, target_s, other_s: the seconds spent in each phase.
    """

    limits: TreeLimits  # as the rule chose them
    limited: TreeLimits  # the same, as far as answer and context had room for them
    tree: TokenTree
    accepted: list[int]  # ids of the accepted nodes whose tokens are committed, from the root down
    tokens: list[int]
    draft_s: float
    target_s: float
    other_s: float
    rounds: int  # number of rounds in which the tree grew
    log_probs: list[LogProbs]  # of `tokens`, if requested
    judgement: Judgement | None = None  # of the tree, if requested
    survivors: int = 0  # number of nodes that the tree had from the start, since the last one grew ahead
    expanded: int = 0  # number of nodes that `rounds` expanded, if trees may grow ahead
    ahead: int = 0  # number of nodes that the drafter has found beyond the tree while it was verified
    ahead_s: float = 0.0  # seconds of `target_s` in which it computed; 0 if no round was worth its time
    rounds_ahead: int = 0  # number of rounds that were not cut off when the pass ended
    rounds_ahead_s: float = 0.0  # seconds of `ahead_s` that these took

    @property
    def grown(self) -> TreeLimits:
        """The limits, with the number of rounds that there was time for."""
        return replace(self.limits, rounds=self.rounds_ahead)


class Rule(Protocol):
    """Sets the limits of each tree, possibly from the results of earlier ones."""

    def choose(self) -> TreeLimits: ...

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
    progress: Progress,
) -> Generator[Event, None, None]:
    """Decode an answer to `prompt`. The answer ends at a token of `end_ids` (which is committed too), after
    `max_new_tokens` tokens, or when the context is full.

    Raises DeadEnd where a constraint allows no token, and the errors of verifier and drafter."""
    end = min(len(prompt) + max_new_tokens, verifier.capacity)
    pending = verifier.read(prompt, drafter, progress)
    try:
        limits = rule.choose()
        begun = begin_ahead(drafter, pending, prompt, sampler, limits, end)
        verdict = pending.verdict()
    finally:
        pending.cancel()
    tokens = [verdict.bonus]
    commit(sampler, tokens)
    context = [*prompt, *tokens]
    is_ended = tokens[-1] in end_ids or len(context) >= end
    if not is_ended:
        start(drafter, begun is not None, context, verdict.feedback, sampler, progress)
    yield Prefilled(verdict.bonus, verdict.log_probs, grown_meanwhile(limits, begun), verdict.reused)

    clock = PhaseClock()
    while not is_ended:
        limits = rule.choose()
        left = end - len(context)
        limited = within(limits, left - 1, verifier.capacity - len(context))
        drafted = yield from draft(drafter, limited, progress, clock)

        pending = verifier.launch(context, drafter.proposal(drafted.tree), progress)
        try:
            ahead = draft_ahead(drafter, pending, drafted.tree, left - 1, limits.rounds)
            verdict = pending.verdict()
        finally:
            pending.cancel()
        clock.lap("target")

        tokens = committed(drafted.tree, verdict, left, end_ids)
        commit(sampler, tokens)
        # Keep a row for every committed token except the last, which is the new root.
        verifier.commit(verdict.accepted[: len(tokens) - 1], [context[-1], *tokens[:-1]])
        drafter.advance(tokens, verdict.feedback)
        context += tokens
        clock.lap("other")

        iteration = report(limits, limited, drafted, ahead, verdict, tokens, clock)
        rule.observe(iteration)
        yield iteration
        clock.restart()
        is_ended = tokens[-1] in end_ids or len(context) >= end


def start(
    drafter: Drafter,
    has_begun: bool,
    context: list[int],
    feedback: Feedback,
    sampler: Sampler,
    progress: Progress,
) -> None:
    """Start the drafter at the end of `context`, behind the answer's first token. has_begun: whether it has
    read the prompt while the target did."""
    if has_begun:
        drafter.advance(context[-1:], feedback)
    else:
        drafter.begin(context, sampler, progress)
        drafter.observe_prefill(feedback)


def within(limits: TreeLimits, depth: int, rows: int) -> TreeLimits:
    """Return limits for a tree that is never deeper than the rest of the answer, nor larger than the space in
    the context, which has `rows` left."""
    return replace(limits, budget=min(limits.budget, rows), depth=min(limits.depth, depth))


@dataclass(frozen=True, slots=True)
class Drafted:
    """A tree that has grown. rounds: in how many rounds; survivors: how many nodes it had from the start;
    expanded: how many the rounds expanded, as far as the drafter says it."""

    tree: TokenTree
    rounds: int = 0
    survivors: int = 0
    expanded: int = 0


def draft(
    drafter: Drafter, limits: TreeLimits, progress: Progress, clock: "PhaseClock"
) -> Generator[Grown, None, Drafted]:
    """Grow a tree. Yields an event after each round except the last."""
    drafter.plant(limits)
    if not limits.budget:
        return Drafted(drafter.snapshot(0))
    survivors, expanded = drafter.size, drafter.expanded
    rounds = 0
    grows = not survivors or drafter.grow(0, progress)
    while grows:
        grows = drafter.grow(1, progress)
        rounds += 1
        if grows:
            clock.lap("draft")
            yield Grown(lambda: drafter.snapshot(limits.budget))
            clock.lap("other")
    tree = drafter.snapshot(limits.budget)
    clock.lap("draft")
    return Drafted(tree, rounds, survivors, drafter.expanded - expanded)


@dataclass(frozen=True, slots=True)
class Ahead:
    """What a drafter did while a tree was verified: the nodes that it has found, the seconds in which it
    computed, and the number of rounds that were not cut off, with their seconds."""

    nodes: int = 0
    seconds: float = 0.0
    rounds: int = 0
    rounds_s: float = 0.0


def begin_ahead(
    drafter: Drafter, pending: Pending, prompt: list[int], sampler: Sampler, limits: TreeLimits, end: int
) -> Ahead | None:
    """Start the drafter with a prompt while the target reads it, and grow trees below the tokens that may
    follow. Return None if the drafter has not read the prompt: then it must begin anew. end: length of the
    text at which the answer ends."""
    if not limits.ahead or not drafter.drafts_ahead or (limits.rounds is None and pending.ready):
        return None
    if drafter.follows or drafter.needs.hidden_layers:  # both are there once the target has read the prompt
        return None
    try:
        drafter.begin(prompt, sampler, Whole(pending.beside))
    except PassEnded:
        return None
    drafter.plant(limits)
    return draft_ahead(drafter, pending, drafter.snapshot(0), end - len(prompt) - 1, limits.rounds)


def grown_meanwhile(limits: TreeLimits, begun: Ahead | None) -> TreeLimits:
    """Return the limits of trees that have grown while the prompt was read, as in `Prefilled`."""
    if begun is None:
        return replace(limits, ahead=0, rounds=0)
    return replace(limits, rounds=begun.rounds)


def draft_ahead(
    drafter: Drafter, pending: Pending, tree: TokenTree, depth: int, rounds: int | None = None
) -> Ahead:
    """Let the drafter grow further while `tree` is verified, to at most `depth`. rounds: in how many rounds,
    as in `TreeLimits`."""
    if not drafter.widen(tree, depth):
        return Ahead()
    before, done, rounds_s, grows = drafter.size, 0, 0.0, True
    started = time.perf_counter()
    with suppress(PassEnded):
        while done != rounds and not (rounds is None and pending.ready):
            grows = drafter.grow(1, pending.beside)
            if not grows:
                break
            done, rounds_s = done + 1, computed_s(started, pending)
    seconds = computed_s(started, pending) if grows else rounds_s
    return Ahead(drafter.size - before, seconds, done, rounds_s)


def computed_s(started: float, pending: Pending) -> float:
    """Return the seconds since `started` for which the pass has not held up the drafter beside it."""
    return max(0.0, time.perf_counter() - started - pending.held_s)


def committed(tree: TokenTree, verdict: Verdict, most: int, end_ids: Collection[int]) -> list[int]:
    """Return the accepted tokens and the bonus token: at most `most` tokens, and none after an end token."""
    tokens = [*tree.tokens[verdict.accepted].tolist(), verdict.bonus][:most]
    return tokens[: next((i + 1 for i, token in enumerate(tokens) if token in end_ids), len(tokens))]


def commit(sampler: Sampler, tokens: list[int]) -> None:
    """Move the masks, if there are any, past the committed tokens."""
    if sampler.masks:
        sampler.masks.commit(tokens)


def report(
    limits: TreeLimits,
    limited: TreeLimits,
    drafted: Drafted,
    ahead: Ahead,
    verdict: Verdict,
    tokens: list[int],
    clock: "PhaseClock",
) -> Iterated:
    return Iterated(
        limits=limits,
        limited=limited,
        tree=drafted.tree,
        accepted=verdict.accepted[: len(tokens)],
        tokens=tokens,
        draft_s=clock.seconds["draft"],
        target_s=clock.seconds["target"],
        other_s=clock.seconds["other"],
        rounds=drafted.rounds,
        log_probs=verdict.log_probs[: len(tokens)],
        judgement=verdict.judgement,
        survivors=drafted.survivors,
        expanded=drafted.expanded,
        ahead=ahead.nodes,
        ahead_s=ahead.seconds,
        rounds_ahead=ahead.rounds,
        rounds_ahead_s=ahead.rounds_s,
    )


class PhaseClock:
    """Measures how long the phases of an iteration take. Attribute: `seconds`, the wall time by phase."""

    def __init__(self) -> None:
        self._last = time.perf_counter()
        self.seconds: dict[Phase, float] = {"draft": 0.0, "target": 0.0, "other": 0.0}

    def lap(self, phase: Phase) -> None:
        """Add the time since the last lap to `phase`."""
        now = time.perf_counter()
        self.seconds[phase] += now - self._last
        self._last = now

    def restart(self) -> None:
        """Start the next iteration. The time since the last lap counts as phase `other` of that iteration."""
        self.seconds = {"draft": 0.0, "target": 0.0, "other": 0.0}
        self.lap("other")
