"""The token tree: plain arrays, no torch. Knows nothing of models, drafters or devices.

Node ids run from 0; a parent always has a smaller id than its children. `ROOT` (-1) is the last committed
token, which is not a node: a target pass runs over root + tree, so node `i` is row `i + 1` of the pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ROOT = -1

# A node's source is a bit set: several drafters may have proposed the same node.
SOURCE_DRAFT = 1  # a draft model
SOURCE_RECYCLING = 2  # what the target said after the same token
SOURCE_NGRAM = 4  # text that stands in the context
SOURCE_LOOKAHEAD = 8  # n-grams the target made in lanes beside the tree
SOURCE_HEADS = 16  # heads that read the target's hidden states


@dataclass(frozen=True, slots=True)
class TokenTree:
    """A tree of proposed continuations.

    tokens:    int64 [nodes]    token ids
    parents:   int64 [nodes]    id of the parent node, or ROOT; always smaller than the node's own id
    depths:    int64 [nodes]    1 for children of the root
    log_probs: float32 [nodes]  the drafter's own estimate of log p(token | path), unsharpened, without decay
    scores:    float32 [nodes]  what the drafter ranked by: the log of the chance that the target comes here
    sources:   uint8 [nodes]    bit set of SOURCE_*
    """

    tokens: NDArray[np.int64]
    parents: NDArray[np.int64]
    depths: NDArray[np.int64]
    log_probs: NDArray[np.float32]
    scores: NDArray[np.float32]
    sources: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.tokens)

    @staticmethod
    def empty() -> "TokenTree":
        ids, numbers = np.empty(0, np.int64), np.empty(0, np.float32)
        return TokenTree(ids, ids, ids, numbers, numbers, np.empty(0, np.uint8))

    def best(self, count: int) -> "TokenTree":
        """The `count` nodes of best score, renumbered. Scores must not rise along a path; of equal ones the
        smaller id is kept."""
        chosen = np.sort(np.lexsort((np.arange(len(self)), -self.scores))[:count])
        number = {node: index for index, node in enumerate(chosen.tolist())} | {ROOT: ROOT}
        parents = [number[parent] for parent in self.parents[chosen].tolist()]
        return TokenTree(
            self.tokens[chosen],
            np.asarray(parents, np.int64),
            self.depths[chosen],
            self.log_probs[chosen],
            self.scores[chosen],
            self.sources[chosen],
        )

    def children(self) -> dict[int, dict[int, int]]:
        """node id (or ROOT) -> {token id: child id}."""
        found: dict[int, dict[int, int]] = {}
        for node, (parent, token) in enumerate(zip(self.parents.tolist(), self.tokens.tolist(), strict=True)):
            found.setdefault(parent, {})[token] = node
        return found

    def follow(self, tokens: Sequence[int]) -> list[int]:
        """Node ids along the path that spells `tokens` from the root, as far as it goes."""
        children = self.children()
        path: list[int] = []
        node = ROOT
        for token in tokens:
            if token not in children.get(node, {}):
                break
            node = children[node][token]
            path.append(node)
        return path

    def path(self, node: int) -> list[int]:
        """Node ids from a child of the root down to `node`."""
        path = []
        while node != ROOT:
            path.append(node)
            node = int(self.parents[node])
        return path[::-1]

    def rows_mask(self) -> NDArray[np.bool_]:
        """bool [1 + nodes, 1 + nodes]: row r of a target pass over root + tree sees row c."""
        mask = np.eye(1 + len(self), dtype=np.bool_)
        mask[:, 0] = True
        for row, parent_row in enumerate((self.parents + 1).tolist(), start=1):
            mask[row] |= mask[parent_row]
        return mask
