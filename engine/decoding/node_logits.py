"""The target's logits at the nodes of a tree, as the walk through it asks for them."""

from collections.abc import Sequence as Ids
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Array, like
from engine.model.interface import OutputHead
from engine.tree import ROOT, TokenTree

# Nodes whose logits are computed together. One alone takes as long as reading the head's weights; a few more
# take hardly longer.
BATCH = 16


class NodeLogits(Protocol):
    """Logits at nodes of a tree, and at its root, the node ROOT."""

    def at(self, nodes: Ids[int]) -> Array:
        """Return the logits at these nodes, [nodes, vocabulary], valid until the target's next pass."""

    def has(self, node: int) -> bool:
        """Return whether the logits of a node are known already."""


class PassLogits:
    """Logits that a pass has computed."""

    def __init__(self, logits: Array) -> None:
        """logits: [1 + nodes, vocabulary], row 0 the root's."""
        self._logits = logits

    def at(self, nodes: Ids[int]) -> Array:
        if len(nodes) == 1:
            return self._logits[nodes[0] + 1 : nodes[0] + 2]
        return self._logits[like(self._logits, np.array(nodes) + 1)]

    def has(self, node: int) -> bool:
        return True


class LateLogits:
    """Logits that are computed behind a pass, when they are asked for.

    The walk visits few of a tree's nodes, and the output head is a large share of a small model: 15 % of one
    with 1.5 billion parameters and a vocabulary of 152,000. A node comes with the likeliest of those below
    it, where the walk may go on.
    """

    def __init__(self, tree: TokenTree, states: Array, head: OutputHead) -> None:
        """states: [1 + nodes, width], the input of the head at the root and at each node."""
        self._tree = tree
        self._states = states
        self._head = head
        self._rows: dict[int, Array] = {}  # by node, [vocabulary]
        self._last: list[int] = []  # the last nodes of them, which the head's next call overwrites

    def at(self, nodes: Ids[int]) -> Array:
        for node in nodes:
            if node not in self._rows:
                self._compute(node)
        if len(nodes) == 1:
            return self._rows[nodes[0]][None]
        return np.stack([self._rows[node] for node in nodes])

    def has(self, node: int) -> bool:
        return node in self._rows

    def _compute(self, node: int) -> None:
        self._rows.update({each: self._rows[each].copy() for each in self._last})
        self._last = [each for each in self._batch(node) if each not in self._rows]
        logits = self._head(self._states[np.array(self._last) + 1])
        self._rows.update(zip(self._last, logits, strict=True))

    def _batch(self, node: int) -> list[int]:
        """Return a node and the likeliest below it."""
        below = np.arange(len(self._tree)) if node == ROOT else self._below(node)
        order = np.argsort(-self._tree.scores[below], kind="stable")
        return [node, *below[order[: BATCH - 1]].tolist()]

    def _below(self, node: int) -> NDArray[np.int64]:
        found = {node}
        for other, parent in enumerate(self._tree.parents.tolist()):
            if parent in found:
                found.add(other)
        return np.array(sorted(found - {node}), np.int64)
