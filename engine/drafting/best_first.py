"""Best-first growth of a token tree: which nodes to expand next, which to keep. Knows nothing of what
estimates them.

SpecExec (arXiv 2406.02532), Algorithm 1 (parallel single-source shortest paths): a node's score is the sum of
log(decay) + log q over its path, so a child always scores below its parent and the best `budget` nodes of
everything seen are always a connected subtree.
"""

import math

import numpy as np
from numpy.typing import NDArray

from engine.tree import ROOT, TokenTree


class BestFirst:
    """Nodes seen so far, append-only: an id never changes its meaning. A node that can no longer enter the
    best `budget` is never added.

    Attributes: `budget`, `depth` (deepest node allowed), `worth` (the chance that the nodes expanded together
    must have), `tokens`, `parents`, `depths` (lists, one entry per node id).
    """

    def __init__(self, budget: int, depth: int, decay: float, source: int, worth: float = 0.0) -> None:
        assert 0 < decay < 1, "a child must score below its parent, or the kept set may fall apart"
        self.budget = budget
        self.depth = depth
        self.worth = worth
        self.tokens: list[int] = []
        self.parents: list[int] = []
        self.depths: list[int] = []  # 1 for children of the root
        self._log_decay = math.log(decay)
        self._source = source
        self._log_probs: list[float] = []
        self._scores: NDArray[np.float64] = np.empty(0)
        self._expanded = np.empty(0, dtype=np.bool_)
        self._kept: NDArray[np.int64] = np.empty(0, np.int64)  # ids of the best `budget`, ascending
        self._root_expanded = False

    def frontier(self, beams: int) -> list[int]:
        """The best unexpanded nodes (or ROOT) whose children might still enter the best `budget`, at most
        `beams`, best first; none where all of them are not worth a round."""
        if not self._root_expanded:
            return [ROOT] if self.depth > 0 and self.budget > 0 else []
        kept = self._kept
        depths = np.asarray(self.depths, dtype=np.int64)
        open_nodes = kept[~self._expanded[kept] & (depths[kept] < self.depth)]
        if len(kept) >= self.budget:
            # The best child there can be (q = 1) must beat the worst node kept.
            open_nodes = open_nodes[self._scores[open_nodes] + self._log_decay > self._scores[kept].min()]
        best = self._best(open_nodes, beams)
        if float(np.exp(self._scores[best]).sum()) < self.worth:
            return []
        nodes: list[int] = best.tolist()
        return nodes

    def expand(
        self,
        nodes: list[int],
        tokens: NDArray[np.int64],
        log_probs: NDArray[np.float32],
        log_chances: NDArray[np.float32] | None = None,
    ) -> None:
        """Give each of `nodes` its children.

        tokens, log_probs: [nodes, branch], log q(token | path of the node); tokens of one row differ.
        log_chances: what children are ranked by, where that is not log q; -inf: no child.
        """
        log_chances = log_probs if log_chances is None else log_chances
        if nodes == [ROOT]:
            self._root_expanded = True
            parent_scores, parent_depths = np.zeros(1), [0]
        else:
            self._expanded[nodes] = True
            parent_scores, parent_depths = self._scores[nodes], [self.depths[node] for node in nodes]
        scores = parent_scores[:, None] + self._log_decay + log_chances.astype(np.float64)
        rows, columns = np.nonzero(np.isfinite(scores))

        first = len(self.tokens)
        all_scores = np.concatenate([self._scores, scores[rows, columns]])
        candidates = np.concatenate([self._kept, np.arange(first, len(all_scores))])
        best = np.sort(self._best_of(candidates, all_scores, self.budget))
        entering = best[best >= first] - first
        for row, column in zip(rows[entering].tolist(), columns[entering].tolist(), strict=True):
            self.tokens.append(int(tokens[row, column]))
            self.parents.append(nodes[row])
            self.depths.append(parent_depths[row] + 1)
            self._log_probs.append(float(log_probs[row, column]))
        self._scores = np.concatenate([self._scores, all_scores[first + entering]])
        self._expanded = np.concatenate([self._expanded, np.zeros(len(entering), np.bool_)])
        old = best[best < first]
        self._kept = np.concatenate([old, np.arange(first, first + len(entering))])

    def path(self, node: int) -> list[int]:
        """Tokens from a child of the root down to `node`."""
        tokens = []
        while node != ROOT:
            tokens.append(self.tokens[node])
            node = self.parents[node]
        return tokens[::-1]

    def snapshot(self, budget: int) -> TokenTree:
        """The best `budget` nodes seen so far as a tree of their own, renumbered, parents first."""
        chosen = np.sort(self._best(self._kept, budget))
        number = {node: index for index, node in enumerate(chosen.tolist())} | {ROOT: ROOT}
        parents = [number[self.parents[node]] for node in chosen.tolist()]
        return TokenTree(
            tokens=np.asarray([self.tokens[node] for node in chosen], dtype=np.int64),
            parents=np.asarray(parents, dtype=np.int64),
            depths=np.asarray([self.depths[node] for node in chosen], dtype=np.int64),
            log_probs=np.asarray([self._log_probs[node] for node in chosen], dtype=np.float32),
            scores=self._scores[chosen].astype(np.float32),
            sources=np.full(len(chosen), self._source, dtype=np.uint8),
        )

    def follow(self, tokens: list[int]) -> list[int]:
        """Node ids along the path that spells `tokens` from the root, as far as it goes."""
        children = {
            (parent, token): node
            for node, (parent, token) in enumerate(zip(self.parents, self.tokens, strict=True))
        }
        path: list[int] = []
        node = ROOT
        for token in tokens:
            if (node, token) not in children:
                break
            node = children[node, token]
            path.append(node)
        return path

    def _best(self, nodes: NDArray[np.int64], count: int) -> NDArray[np.int64]:
        return self._best_of(nodes, self._scores, count)

    @staticmethod
    def _best_of(nodes: NDArray[np.int64], scores: NDArray[np.float64], count: int) -> NDArray[np.int64]:
        """Best first; of equal scores the smaller id."""
        order = np.lexsort((nodes, -scores[nodes]))
        return nodes[order[:count]]
