"""Best-first growth of a token tree: selects the nodes to expand next and the nodes to keep. Independent of
how probabilities are estimated.

This is Algorithm 1 of SpecExec (arXiv 2406.02532; parallel single-source shortest paths). A node's score is
the sum of log(decay) + log q over its path, so a child always scores below its parent, and the best `budget`
nodes among all that were seen always form a connected subtree.
"""

import math

import numpy as np
from numpy.typing import NDArray

from engine.constraint.masks import Masks
from engine.tree import GROWN_AHEAD, ROOT, Children, TokenTree, children_of

# The log of the chance of the usual spelling of a text that the masks force; assumed, not measured.
GUESSED = math.log(0.9)


class BestFirst:
    """A tree while it grows: the nodes seen so far. Nodes are only ever appended, so the node behind an id
    changes only in `reroot`. A node that can no longer enter the best `budget` nodes is added only if the
    growth is `lasting`: then the tree can live on below one of its nodes.

    Attributes: `budget`, the number of nodes to keep; `depth`, the greatest depth of a node; `worth`, the
    probability that the nodes of a round must add to the tree for the round to be worth its time; `tokens`,
    `parents` and `depths`, lists with one entry per node id; `lasting`, whether the growth is.
    """

    def __init__(
        self,
        budget: int,
        depth: int,
        decay: float,
        source: int,
        worth: float = 0.0,
        masks: Masks | None = None,
        lasting: bool = False,
    ) -> None:
        """masks: which tokens may follow which path; None: any, or only such tokens are proposed anyway."""
        assert 0 < decay < 1, "a child must score below its parent, or the kept nodes may not be connected"
        self.budget = budget
        self.depth = depth
        self.worth = worth
        self.tokens: list[int] = []
        self.parents: list[int] = []
        self.depths: list[int] = []  # 1 for children of the root
        self._masks = masks
        self.lasting = lasting
        self._log_decay = math.log(decay)
        self._source = source
        self._log_probs: list[float] = []
        self._scores: NDArray[np.float64] = np.empty(0)
        self._expanded = np.empty(0, dtype=np.bool_)
        self._kept: NDArray[np.int64] = np.empty(0, np.int64)  # ids of the best `budget`, ascending
        self._root_expanded = False
        self._survivors = 0  # the first nodes, which were there before the root was

    def __len__(self) -> int:
        """Return the number of nodes kept."""
        return len(self._kept)

    def limit(self, budget: int, depth: int, worth: float = 0.0) -> None:
        """Change the limits. Which nodes are kept is chosen anew, of all nodes seen if growth is lasting."""
        self.budget, self.depth, self.worth = budget, depth, worth
        seen = np.arange(len(self.tokens)) if self.lasting else self._kept
        seen = seen[np.asarray(self.depths, np.int64)[seen] <= depth]
        self._kept = np.sort(self._best(seen, budget))

    def reroot(self, root: int) -> dict[int, int]:
        """Make `root`, a node that was expanded, the root, and drop all nodes that are not below it. Scores
        and depths are then counted from it. Return the new ids of the nodes that stay, by their old ones.

        A score is a log chance, so that of a node given its root is the difference of the two.
        """
        assert self.lasting
        assert self._expanded[root]
        number = {root: ROOT}
        chosen: list[int] = []
        for node, parent in enumerate(self.parents):  # a parent's id is smaller than its children's
            if parent in number:
                number[node] = len(chosen)
                chosen.append(node)
        depth, score = self.depths[root], self._scores[root]
        self.tokens = [self.tokens[node] for node in chosen]
        self.parents = [number[self.parents[node]] for node in chosen]
        self.depths = [self.depths[node] - depth for node in chosen]
        self._log_probs = [self._log_probs[node] for node in chosen]
        self._scores = self._scores[chosen] - score
        self._expanded = self._expanded[chosen]
        self._kept = np.arange(len(chosen))
        self._survivors = len(chosen)
        self.limit(self.budget, self.depth, self.worth)
        del number[root]
        return number

    @property
    def is_rooted(self) -> bool:
        """Whether the root was expanded."""
        return self._root_expanded

    @property
    def scores(self) -> NDArray[np.float64]:
        """Scores by node id."""
        return self._scores

    @property
    def expanded(self) -> NDArray[np.bool_]:
        """Whether a node was expanded, by node id."""
        return self._expanded

    def is_expanded(self, node: int) -> bool:
        return bool(self._expanded[node])

    def graft(self, tree: TokenTree) -> list[int]:
        """Return the ids of the nodes of `tree`, which has the same root. Those that were not seen are added,
        with their scores."""
        assert self.lasting
        children = self.children()
        number = {ROOT: ROOT}
        added: list[float] = []
        columns = (tree.tokens, tree.parents, tree.log_probs, tree.scores)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for node, (token, parent, log_prob, score) in enumerate(rows):
            place = number[parent], token
            if place not in children:
                children[place] = len(self.tokens)
                self.tokens.append(token)
                self.parents.append(number[parent])
                self.depths.append(1 if number[parent] == ROOT else self.depths[number[parent]] + 1)
                self._log_probs.append(log_prob)
                added.append(score)
            number[node] = children[place]
        self._scores = np.concatenate([self._scores, np.asarray(added, np.float64)])
        self._expanded = np.concatenate([self._expanded, np.zeros(len(added), np.bool_)])
        del number[ROOT]
        return list(number.values())

    def frontier(self, beams: int) -> list[int]:
        """Return the nodes to expand next, best first: at most `beams` unexpanded nodes (or ROOT) whose
        children might still enter the best `budget`. Return none if together they are not worth a round.
        Their children have at most their probability, and displace the worst nodes of a full tree."""
        if self.depth <= 0 or self.budget <= 0:
            return []
        if not self._root_expanded:
            return [ROOT]
        kept = self._kept
        depths = np.asarray(self.depths, dtype=np.int64)
        open_nodes = kept[~self._expanded[kept] & (depths[kept] < self.depth)]
        displaced = -math.inf
        if len(kept) >= self.budget:
            # The best possible child (q = 1) must beat the worst node kept.
            displaced = self._scores[kept].min()
            open_nodes = open_nodes[self._scores[open_nodes] + self._log_decay > displaced]
        best = self._best(open_nodes, beams)
        if float((np.exp(self._scores[best]) - math.exp(displaced)).sum()) < self.worth:
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
        """Add the children of each of `nodes`.

        tokens: [nodes, branch], distinct within a row. log_probs: [nodes, branch], log q(token | path of the
        node). log_chances: [nodes, branch], ranks the children in place of log q; -inf: there is no such
        child.
        """
        log_chances = log_probs if log_chances is None else log_chances
        if self._masks:
            tokens, log_probs, log_chances = self._restricted(nodes, tokens, log_probs, log_chances)
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
        entering = np.arange(len(rows)) if self.lasting else best[best >= first] - first
        for row, column in zip(rows[entering].tolist(), columns[entering].tolist(), strict=True):
            self.tokens.append(int(tokens[row, column]))
            self.parents.append(nodes[row])
            self.depths.append(parent_depths[row] + 1)
            self._log_probs.append(float(log_probs[row, column]))
        self._scores = np.concatenate([self._scores, all_scores[first + entering]])
        self._expanded = np.concatenate([self._expanded, np.zeros(len(entering), np.bool_)])
        # Without the others, those that enter are numbered among themselves.
        new = best[best >= first] if self.lasting else np.arange(first, first + len(entering))
        self._kept = np.concatenate([best[best < first], new])

    def _restricted(
        self,
        nodes: list[int],
        tokens: NDArray[np.int64],
        log_probs: NDArray[np.float32],
        log_chances: NDArray[np.float32],
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.float32]]:
        """Return the children of each node without those that the masks forbid. Where a single token may
        follow, it is certain; where a single text may, the token that usually spells it is likely."""
        assert self._masks
        tokens = np.pad(tokens, ((0, 0), (0, 1)))  # a column for a token that is not proposed
        log_probs = np.pad(log_probs, ((0, 0), (0, 1)))
        log_chances = np.pad(log_chances, ((0, 0), (0, 1)), constant_values=-np.inf)
        for row, node in enumerate(nodes):
            path = self.path(node)
            forced = self._masks.forced(path)
            guess = self._masks.guess(path) if forced is None else forced
            possible = self._masks.among(path, tokens[row]) & (tokens[row] != guess)
            log_chances[row, ~possible] = -np.inf
            if guess is not None:
                chance = GUESSED if forced is None else 0.0
                tokens[row, -1], log_probs[row, -1], log_chances[row, -1] = guess, chance, chance
        return tokens, log_probs, log_chances

    def path(self, node: int) -> list[int]:
        """Return the tokens from a child of the root down to `node`."""
        tokens = []
        while node != ROOT:
            tokens.append(self.tokens[node])
            node = self.parents[node]
        return tokens[::-1]

    def snapshot(self, budget: int) -> TokenTree:
        """Return the best `budget` nodes seen so far as a separate tree, with new ids, parents first."""
        chosen = np.sort(self._best(self._kept, budget))
        number = {node: index for index, node in enumerate(chosen.tolist())} | {ROOT: ROOT}
        parents = [number[self.parents[node]] for node in chosen.tolist()]
        return TokenTree(
            tokens=np.asarray([self.tokens[node] for node in chosen], dtype=np.int64),
            parents=np.asarray(parents, dtype=np.int64),
            depths=np.asarray([self.depths[node] for node in chosen], dtype=np.int64),
            log_probs=np.asarray([self._log_probs[node] for node in chosen], dtype=np.float32),
            scores=self._scores[chosen].astype(np.float32),
            sources=np.where(chosen < self._survivors, self._source | GROWN_AHEAD, self._source).astype(
                np.uint8
            ),
        )

    def children(self) -> Children:
        return children_of(self.parents, self.tokens)

    def _best(self, nodes: NDArray[np.int64], count: int) -> NDArray[np.int64]:
        return self._best_of(nodes, self._scores, count)

    @staticmethod
    def _best_of(nodes: NDArray[np.int64], scores: NDArray[np.float64], count: int) -> NDArray[np.int64]:
        """Return the best `count` nodes, best first; of equal scores the smaller id comes first."""
        order = np.lexsort((nodes, -scores[nodes]))
        return nodes[order[:count]]
