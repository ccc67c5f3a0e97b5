"""Several drafters at once: their trees merged into one, trimmed to the budget.

A node is a path of tokens, so the same path from two drafters is one node, with both as its sources and the
better of their scores. Where the link is the bound, the rows of more proposals cost nothing.
"""

import math
from collections.abc import Sequence as Ids
from dataclasses import replace

import numpy as np

from engine.drafting.protocol import Drafter, Lanes, Limits, Needs, Said
from engine.model import Watch
from engine.sampling import Sampler
from engine.tree import ROOT, TokenTree

# Accepted nodes that a drafter's own promises count for, beside what came of them.
PRIOR = 4.0
# A text that is copied is copied at length, and that costs no rounds of a model.
DEEPEST = 128
FADE = 0.95  # of what a past iteration counts for


class Trust:
    """How far a drafter's scores are true: accepted nodes for each one that it promised."""

    def __init__(self) -> None:
        self._accepted = self._promised = 0.0

    @property
    def log(self) -> float:
        return math.log((PRIOR + self._accepted) / (PRIOR + self._promised))

    def learn(self, promised: float, accepted: int) -> None:
        self._promised = FADE * self._promised + promised
        self._accepted = FADE * self._accepted + accepted


class MergedDrafter(Drafter):
    """Attributes: `drafters`, none of which is verified by rejection."""

    def __init__(self, name: str, drafters: Ids[Drafter]) -> None:
        self.name = name
        self.drafters = drafters
        self.needs = Needs(
            top_tokens=max(drafter.needs.top_tokens for drafter in drafters),
            hidden_layers=tuple(sorted({layer for each in drafters for layer in each.needs.hidden_layers})),
        )
        self.defaults = replace(drafters[0].defaults, depth=DEEPEST)
        self._trust = [Trust() for _ in drafters]
        self._trees = [TokenTree.empty() for _ in drafters]  # as last merged
        self._tree = TokenTree.empty()
        self._growing: list[Drafter] = []

    def covers(self, context: Ids[int]) -> int:
        return min(drafter.covers(context) for drafter in self.drafters)

    def begin(self, context: Ids[int], sampler: Sampler, watch: Watch) -> None:
        for drafter in self.drafters:
            drafter.begin(context, sampler, watch)

    def observe_prefill(self, said: Said) -> None:
        for drafter in self.drafters:
            drafter.observe_prefill(said)

    def plant(self, limits: Limits) -> None:
        for drafter in self.drafters:
            deepest = drafter.defaults.depth if drafter.runs_a_model else limits.depth
            drafter.plant(replace(limits, depth=min(limits.depth, deepest)))
        self._growing = list(self.drafters)

    def grow(self, rounds: int, watch: Watch) -> bool:
        self._growing = [drafter for drafter in self._growing if drafter.grow(rounds, watch)]
        return bool(self._growing)

    def snapshot(self, budget: int) -> TokenTree:
        self._trees = [drafter.snapshot(budget) for drafter in self.drafters]
        self._tree = merge(self._trees, [trust.log for trust in self._trust], budget)
        return self._tree

    def lanes(self) -> Lanes:
        beside = [lanes for drafter in self.drafters if len(lanes := drafter.lanes())]
        assert len(beside) <= 1, "one drafter may have lanes"
        return beside[0] if beside else Lanes.none()

    def advance(self, tokens: Ids[int], said: Said) -> None:
        for drafter, tree, trust in zip(self.drafters, self._trees, self._trust, strict=True):
            checked = _inside(tree, self._tree)
            trust.learn(float(np.exp(tree.scores[checked]).sum()), len(tree.follow(tokens)))
            drafter.advance(tokens, said)

    def rewind(self, length: int) -> None:
        for drafter in self.drafters:
            drafter.rewind(length)


def merge(trees: Ids[TokenTree], log_trusts: Ids[float], budget: int) -> TokenTree:
    """One tree of the best `budget` paths of all. Every tree's scores fall along a path, and are raised by
    its log trust."""
    children: dict[tuple[int, int], int] = {}
    tokens: list[int] = []
    parents: list[int] = []
    depths: list[int] = []
    log_probs: list[float] = []
    scores: list[float] = []
    sources: list[int] = []
    for tree, log_trust in zip(trees, log_trusts, strict=True):
        number = {ROOT: ROOT}
        columns = (tree.tokens, tree.parents, tree.depths, tree.log_probs, tree.scores, tree.sources)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for node, (token, parent, depth, log_prob, score, source) in enumerate(rows):
            place = number[parent], token
            if place not in children:
                children[place] = len(tokens)
                tokens.append(token)
                parents.append(number[parent])
                depths.append(depth)
                log_probs.append(log_prob)
                scores.append(-math.inf)
                sources.append(0)
            here = number[node] = children[place]
            sources[here] |= source
            if score + log_trust > scores[here]:
                scores[here], log_probs[here] = score + log_trust, log_prob
    merged = TokenTree(
        np.asarray(tokens, np.int64),
        np.asarray(parents, np.int64),
        np.asarray(depths, np.int64),
        np.asarray(log_probs, np.float32),
        np.asarray(scores, np.float32),
        np.asarray(sources, np.uint8),
    )
    return merged.best(budget)


def _inside(tree: TokenTree, other: TokenTree) -> list[int]:
    """Nodes of `tree` whose paths are also in `other`."""
    children = other.children()
    number = {ROOT: ROOT}
    for node, (parent, token) in enumerate(zip(tree.parents.tolist(), tree.tokens.tolist(), strict=True)):
        found = children.get(number[parent], {}).get(token) if parent in number else None
        if found is not None:
            number[node] = found
    return [node for node in number if node != ROOT]
