"""Several drafters at once: their trees are merged into one and trimmed to the budget.

A node is a path of tokens, so the same path from two drafters is one node, with both drafters as its sources
and the better of their scores. Additional rows cost nothing while the link is the bottleneck.
"""

import math
from collections.abc import Sequence as Ids
from dataclasses import replace

import numpy as np

from engine.drafting.protocol import Drafter, Feedback, Lanes, Needs, TreeLimits
from engine.model.interface import Progress
from engine.prompt_cache import KnownRows
from engine.sampling import Sampler
from engine.tree import ROOT, Children, TokenTree, follow

# At first a drafter's scores are believed: as if they had promised this number of nodes, and all of these
# had been accepted.
PRIOR = 4.0
# Depth to which lookup drafters may follow a quotation: quotations are long, and no model has to run.
MAX_DEPTH = 128
FADE = 0.95  # factor by which the weight of an iteration falls with each later one


class Trust:
    """The reliability of a drafter's scores: how many nodes are accepted per node that the scores promise."""

    def __init__(self) -> None:
        self._accepted = self._promised = 0.0

    @property
    def log(self) -> float:
        return math.log((PRIOR + self._accepted) / (PRIOR + self._promised))

    def learn(self, promised: float, accepted: int) -> None:
        self._promised = FADE * self._promised + promised
        self._accepted = FADE * self._accepted + accepted


class MergedDrafter(Drafter):
    """Merges the trees of several drafters. Attribute: `drafters`, none of which may need verification by
    rejection."""

    def __init__(self, name: str, drafters: Ids[Drafter]) -> None:
        self.name = name
        self.drafters = drafters
        self.needs = Needs(
            top_tokens=max(drafter.needs.top_tokens for drafter in drafters),
            hidden_layers=tuple(sorted({layer for each in drafters for layer in each.needs.hidden_layers})),
        )
        self.defaults = replace(drafters[0].defaults, depth=MAX_DEPTH)
        self.drafts_ahead = any(drafter.drafts_ahead for drafter in drafters)
        self.follows = any(drafter.follows for drafter in drafters)
        self._trust = [Trust() for _ in drafters]
        self._trees = [TokenTree.empty() for _ in drafters]  # as last merged
        self._tree = TokenTree.empty()
        self._growing: list[Drafter] = []

    def covers(self, context: Ids[int]) -> int:
        return min(drafter.covers(context) for drafter in self.drafters)

    def begin(self, context: Ids[int], sampler: Sampler, progress: Progress) -> None:
        for drafter in self.drafters:
            drafter.begin(context, sampler, progress)

    def observe_prefill(self, feedback: Feedback) -> None:
        for drafter in self.drafters:
            drafter.observe_prefill(feedback)

    def plant(self, limits: TreeLimits) -> None:
        for drafter in self.drafters:
            deepest = drafter.defaults.depth if drafter.runs_a_model else limits.depth
            drafter.plant(replace(limits, depth=min(limits.depth, deepest)))
        self._growing = list(self.drafters)

    def grow(self, rounds: int, progress: Progress) -> bool:
        self._growing = [drafter for drafter in self._growing if drafter.grow(rounds, progress)]
        return bool(self._growing)

    def snapshot(self, budget: int) -> TokenTree:
        self._trees = [drafter.snapshot(budget) for drafter in self.drafters]
        self._tree = merge(self._trees, [trust.log for trust in self._trust], budget)
        return self._tree

    @property
    def size(self) -> int:
        return sum(drafter.size for drafter in self.drafters)

    @property
    def expanded(self) -> int:
        return sum(drafter.expanded for drafter in self.drafters)

    def widen(self, tree: TokenTree, depth: int) -> bool:
        self._growing = [drafter for drafter in self.drafters if drafter.widen(tree, depth)]
        return bool(self._growing)

    def lanes(self) -> Lanes:
        found = [lanes for drafter in self.drafters if len(lanes := drafter.lanes())]
        assert len(found) <= 1, "at most one drafter may have lanes"
        return found[0] if found else Lanes.none()

    def advance(self, tokens: Ids[int], feedback: Feedback) -> None:
        for drafter, tree, trust in zip(self.drafters, self._trees, self._trust, strict=True):
            verified = _shared_nodes(tree, self._tree)
            trust.learn(float(np.exp(tree.scores[verified]).sum()), len(follow(tree.children(), tokens)))
            drafter.advance(tokens, feedback)

    def rewind(self, length: int) -> None:
        for drafter in self.drafters:
            drafter.rewind(length)

    def save(self) -> None:
        for drafter in self.drafters:
            drafter.save()

    @property
    def known_rows(self) -> list[KnownRows]:
        return [known for drafter in self.drafters for known in drafter.known_rows]


def merge(trees: Ids[TokenTree], log_trusts: Ids[float], budget: int) -> TokenTree:
    """Merge trees into one tree with the best `budget` nodes. Each tree's scores, which must fall along a
    path, are shifted by the log of the trust in its drafter."""
    children: Children = {}
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


def _shared_nodes(tree: TokenTree, other: TokenTree) -> list[int]:
    """Return the nodes of `tree` whose paths are also in `other`."""
    children = other.children()
    number = {ROOT: ROOT}
    for node, (parent, token) in enumerate(zip(tree.parents.tolist(), tree.tokens.tolist(), strict=True)):
        twin = children.get((number[parent], token)) if parent in number else None
        if twin is not None:
            number[node] = twin
    return [node for node in number if node != ROOT]
