"""A draft's rows of a text and of the token tree at its end. Does not know how the tree is grown.

Rows of expanded nodes stay in the draft's cache; those on the accepted path are gathered, never computed
again.
"""

from collections.abc import Sequence as Ids
from typing import Protocol

import torch
from torch import Tensor

from engine.model import Watch
from engine.sequence import Sequence
from engine.tree import ROOT


class Nodes(Protocol):
    """The nodes of a tree so far, one entry per node id."""

    tokens: list[int]
    parents: list[int]
    depths: list[int]  # 1 for children of the root


class DraftRows:
    """Attributes: `sequence` (the draft and its rows), `context` (committed tokens, the last of which is the
    root)."""

    def __init__(self, sequence: Sequence) -> None:
        self.sequence = sequence
        self.context: list[int] = []
        self._slots: dict[int, int] = {}  # expanded node -> its row in the draft cache's tail
        self._visible = torch.empty(0, 0, dtype=torch.bool)  # [tail, tail] ancestor mask of these rows

    def begin(self, context: Ids[int], watch: Watch) -> None:
        self.context = list(context)
        # The root's own row is computed when the tree is planted: its logits are the root's children.
        self.sequence.align(self.context[:-1])
        unseen = self.context[len(self.sequence.ids) : -1]
        if unseen:
            self.sequence.extend(unseen, watch)

    def plant(self) -> None:
        """Forget the nodes of the last tree."""
        self._slots = {}
        self._visible = torch.empty(0, 0, dtype=torch.bool)

    @property
    def room(self) -> int:
        """Nodes that may still be expanded: each keeps a row until `advance`, also if the tree drops it."""
        cache = self.sequence.cache
        return cache.capacity - cache.length - cache.tail

    def run(self, nodes: list[int], tree: Nodes, watch: Watch) -> Tensor:
        """Logits [nodes, vocabulary]; of [ROOT] first, then of nodes whose parents have been run."""
        if nodes == [ROOT]:
            # With it come accepted nodes that were never expanded.
            return self.sequence.extend(self.context[len(self.sequence.ids) :], watch)[None]
        before, after = len(self._slots), len(self._slots) + len(nodes)
        visible = torch.zeros(after, after, dtype=torch.bool)
        visible[:before, :before] = self._visible
        slots = dict(zip(nodes, range(before, after), strict=True))
        for node, row in slots.items():
            parent = tree.parents[node]
            if parent != ROOT:
                visible[row] = visible[self._slots[parent]]
            visible[row, row] = True
        tokens = [tree.tokens[node] for node in nodes]
        positions = [len(self.context) - 1 + tree.depths[node] for node in nodes]
        logits = self.sequence.consider(tokens, positions, visible[before:], watch=watch).logits
        self._slots |= slots
        self._visible = visible
        return logits

    def advance(self, tokens: Ids[int], path: Ids[int]) -> None:
        """`tokens` were committed behind the root; the nodes of `path` spell all but the last of them, as far
        as the tree went."""
        # The new root is left out: its row comes with the next tree, which needs its logits.
        expanded = [
            (self._slots[node], token)
            for node, token in zip(path, tokens, strict=False)
            if node in self._slots
        ]
        self.sequence.keep([slot for slot, _ in expanded], [token for _, token in expanded])
        self._slots = {}
        self.context.extend(tokens)

    def rewind(self, length: int) -> None:
        del self.context[length:]
        self.sequence.rewind(length)
