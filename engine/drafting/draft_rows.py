"""A draft model's cache rows for a text and for the token tree at the end of the text. Independent of how the
tree is grown.

Rows of expanded nodes stay in the draft's cache until the target has chosen; then the rows on the accepted
path are kept, and those below it if the tree lives on there, so they are never recomputed. Where layers have
states, these advance past the accepted path instead, along what each row has left of itself: a record.
"""

from collections.abc import Callable
from collections.abc import Sequence as Ids
from typing import Protocol, TypeVar

import numpy as np

from engine.arrays import Array, is_on_card
from engine.drafting.protocol import TreeLimits
from engine.model.interface import Progress
from engine.model.rows import Output
from engine.model.sequence import Sequence
from engine.planner.run_rows import AHEAD_RECORDS_NBYTES, DROPPED_RECORDS
from engine.tree import ROOT

# Nodes whose logits are computed, and looked at, at a time. With Qwen2.5-Coder 0.5B, these take one to two
# times as long as a layer of 64 nodes. By row, the product with the output head is as fast as that of more
# rows; that of fewer is slower, for it reads all weights of the head.
LOGITS_ROWS = 16

T = TypeVar("T")


class Nodes(Protocol):
    """The nodes of a growing tree, one entry per node id."""

    tokens: list[int]
    parents: list[int]
    depths: list[int]  # 1 for children of the root


class DraftRows:
    """Runs a draft model and keeps its rows. Attributes: `sequence`, the draft and its rows; `context`, the
    committed tokens, ending with the root."""

    def __init__(self, sequence: Sequence) -> None:
        self.sequence = sequence
        self.context: list[int] = []
        self._slots: dict[int, int] = {}  # expanded node -> its row in the draft cache's tail
        self._visible = np.empty((0, 0), np.bool_)  # [tail, tail] ancestor mask of these rows

    def begin(self, context: Ids[int], progress: Progress) -> None:
        self.context = list(context)
        # The root's row is computed when the tree starts to grow: its logits give the root's children.
        self.sequence.align(self.context[:-1])
        unseen = self.context[len(self.sequence.ids) : -1]
        if unseen:
            self.sequence.extend(unseen, progress)

    def plant(self) -> None:
        """Forget the nodes of the last tree."""
        self.sequence.rewind(len(self.context) - 1)  # the root's row gives the logits of its children
        self._slots = {}
        self._visible = np.empty((0, 0), np.bool_)

    def free_rows(self, limits: TreeLimits) -> int:
        """Return how many nodes can still be expanded for trees with these limits. An expanded node keeps its
        row until `advance`, even if the tree drops the node; where layers have states, it keeps a record."""
        cache = self.sequence.cache
        if not cache.record_nbytes:
            return cache.free
        ahead = AHEAD_RECORDS_NBYTES // cache.record_nbytes if limits.ahead else 0
        return min(cache.free, max(0, limits.budget + DROPPED_RECORDS + ahead - cache.tail))

    def run(self, nodes: list[int], tree: Nodes, progress: Progress) -> Array:
        """Run nodes; return their logits [nodes, vocabulary]. The first nodes of a tree are [ROOT]; later,
        the parents of all nodes must have been run."""
        if nodes == [ROOT]:
            # This pass also covers accepted nodes that were never expanded.
            return self.sequence.extend(self.context[len(self.sequence.ids) :], progress)[None]
        return self._consider(nodes, tree, progress).logits

    def each(
        self,
        nodes: list[int],
        tree: Nodes,
        choose: Callable[[list[int], Array], T],
        progress: Progress,
    ) -> list[T]:
        """Run nodes as `run` does; return what `choose` makes of some nodes and their logits, for a few nodes
        at a time. `progress` is asked before each of these steps, too: all of them take as long as several
        layers. If it ends the pass there, the rows are dropped."""
        if nodes == [ROOT]:
            return [choose(nodes, self.run(nodes, tree, progress))]
        model, slots, visible = self.sequence.model, self._slots, self._visible
        head = model.late_head
        output = self._consider(nodes, tree, progress, late=head is not None)
        logits, found = output.logits, []
        step = len(nodes) if is_on_card(logits) else LOGITS_ROWS
        try:
            for start in range(0, len(nodes), step):
                progress(model.layers, model.layers)
                piece = slice(start, start + step)
                here = head(output.hidden[model.layers][piece]) if head else logits[piece]
                found.append(choose(nodes[piece], here))
        except BaseException:
            self._slots, self._visible = slots, visible
            self.sequence.keep([], [], range(len(visible)))  # commits nothing, so it may run beside a pass
            raise
        return found

    def _consider(self, nodes: list[int], tree: Nodes, progress: Progress, late: bool = False) -> Output:
        """Run nodes below the root. late: whether to end with the states that the output head reads, without
        logits."""
        before, after = len(self._slots), len(self._slots) + len(nodes)
        visible = np.zeros((after, after), np.bool_)
        visible[:before, :before] = self._visible
        slots = dict(zip(nodes, range(before, after), strict=True))
        for node, row in slots.items():
            parent = tree.parents[node]
            if parent != ROOT:
                visible[row] = visible[self._slots[parent]]
            visible[row, row] = True
        tokens = [tree.tokens[node] for node in nodes]
        positions = [len(self.context) - 1 + tree.depths[node] for node in nodes]
        hidden = (self.sequence.model.layers,) if late else ()
        seen = visible[before:]
        output = self.sequence.consider(tokens, positions, seen, hidden, progress, logits=not late)
        self._slots = self._slots | slots
        self._visible = visible
        return output

    def advance(self, tokens: Ids[int], path: Ids[int]) -> None:
        """Commit `tokens`, which follow the root. path: the nodes of `tokens[:-1]`, in order; it ends early
        if the tree has no node for a token."""
        # The new root is left out: its row is computed with the next tree, which needs its logits.
        expanded = [
            (self._slots[node], token)
            for node, token in zip(path, tokens, strict=False)
            if node in self._slots
        ]
        self.sequence.keep([slot for slot, _ in expanded], [token for _, token in expanded])
        self._slots = {}
        self.context.extend(tokens)

    def reroot(self, tokens: Ids[int], path: Ids[int], numbers: dict[int, int]) -> None:
        """Commit `tokens`, whose nodes are `path`, all expanded. The tree lives on below the last of them.
        numbers: the new ids of the nodes there, by their old ones."""
        survivors = [(slot, numbers[node]) for node, slot in self._slots.items() if node in numbers]
        slots = [slot for slot, _ in survivors]
        self.sequence.keep([self._slots[node] for node in path], tokens, slots)
        self._slots = {node: row for row, (_, node) in enumerate(survivors)}
        self._visible = self._visible[np.ix_(slots, slots)]
        self.context.extend(tokens)

    def rewind(self, length: int) -> None:
        del self.context[length:]
        self.sequence.rewind(length)
