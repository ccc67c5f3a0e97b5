"""The paths of a pass's rows, as steps of recurrent layers follow them: from state to state.

Rows of a text advance a state one after the other, and leave it in another store. In a tree, a row starts
from its parent's state. States of nodes are never kept: threads visit the nodes depth-first, and hold those
states of one slice that a later branch needs, in buffers. A node's heaviest branch comes last and takes over
its buffer, so a tree of n nodes needs at most 1 + log2(n) buffers. Nodes of earlier passes are visited again
where rows of this one lie behind them: their records suffice for that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

# The paths of a run, int64 each, as steps read them.
# BASE: address of the store with the states at which all paths start. SOURCES: address of int64 [rows, kernel
# - 1]: where the inputs of the convolution before a row's own are, the nearest first: slot s of the tail, or
# TAIL + r for row r of this run, or -1, -2, ... for the last inputs of the base, the last but one, and so on.
# VISITS, VISITED: address of int64 [visits, 3], and their number: a row, or -1 - slot for a record; the state
# it starts from; where its state goes. A state is the address of a store, or -1 - number of a buffer.
# ENDS, ENDED: address of int64 [ends, 2], and their number: so many rows, and the store that takes the inputs
# of the convolution behind them. RECORDS: address of the records of the tail, or 0 if rows leave none, as
# those of a text. TAIL: number of slots of the tail before the first row.
BASE, SOURCES, VISITS, VISITED, ENDS, ENDED, RECORDS, TAIL = range(8)
PATHS = 8

MOST_BUFFERS = 16  # enough for trees of 32,767 nodes


@dataclass(frozen=True, slots=True)
class Paths:
    """The paths of one run of a pass; `numbers`, int64 [PATHS], are those that steps read."""

    numbers: Ints
    kept: tuple[Ints, ...]


def text_paths(
    rows: int, kernel: int, base: int, target: int, saved: Mapping[int, int] | None = None
) -> Paths:
    """Return the paths of a text. base, target: addresses of the stores before and behind it, which may be
    the same. saved: rows -> store that takes the state behind so many rows, fewer than all."""
    saved = saved or {}
    sources = np.arange(rows)[:, None] - np.arange(1, kernel)
    behind = np.array([saved.get(row + 1, target) for row in range(rows)], np.int64)
    before = np.concatenate([[base], behind[:-1]])
    visits = np.stack([np.arange(rows), before, behind], axis=1)
    ends = [*sorted(saved.items()), (rows, target)]
    return _paths(base, sources, visits, ends, 0, 0)


def tree_paths(
    parents: Sequence[int], order: Sequence[int], first: int, kernel: int, base: int, records: int
) -> Paths:
    """Return the paths of the rows in the slots of the tail from `first` on.

    parents: the parent of the node in each slot, or -1. order: a number of each node that is larger than its
    parent's. base: address of the store behind which the tree lies. records: address of its records.
    """
    slots = range(first, len(parents))
    sources = np.empty((len(slots), kernel - 1), np.int64)
    for row, slot in enumerate(slots):
        node = slot
        for back in range(kernel - 1):
            node = parents[node] if node >= 0 else node - 1
            sources[row, back] = node
    visits = [
        (slot - first if slot >= first else -1 - slot, base if source is None else -1 - source, -1 - buffer)
        for slot, source, buffer in _depth_first(parents, order, slots)
    ]
    return _paths(base, sources, np.array(visits, np.int64), [], records, first)


def _depth_first(
    parents: Sequence[int], order: Sequence[int], wanted: Sequence[int]
) -> list[tuple[int, int | None, int]]:
    """Return the wanted nodes and their ancestors, depth-first, each with the buffer of its parent's state
    and with that of its own. None stands for the base."""
    needed: set[int] = set()
    for node in wanted:
        while node >= 0 and node not in needed:
            needed.add(node)
            node = parents[node]
    children: dict[int, list[int]] = {}
    weights = dict.fromkeys(needed, 1)
    for node in sorted(needed, key=lambda each: order[each], reverse=True):
        children.setdefault(parents[node], []).append(node)
        if parents[node] >= 0:
            weights[parents[node]] += weights[node]
    visits: list[tuple[int, int | None, int]] = []
    left: list[tuple[int, int | None, int]] = [(node, None, 0) for node in children.get(-1, [])]
    while left:
        node, source, buffer = left.pop()
        assert buffer < MOST_BUFFERS
        visits.append((node, source, buffer))
        # The last one on the list comes first.
        below = sorted(children.get(node, []), key=lambda each: weights[each], reverse=True)
        left += [(child, buffer, buffer + (place > 0)) for place, child in enumerate(below)]
    return visits


def _paths(
    base: int, sources: Ints, visits: Ints, ends: Sequence[tuple[int, int]], records: int, tail: int
) -> Paths:
    sources, visits = np.ascontiguousarray(sources), np.ascontiguousarray(visits)
    listed = np.array(ends, np.int64).reshape(-1, 2)
    where = base, sources.ctypes.data, visits.ctypes.data, len(visits), listed.ctypes.data, len(listed)
    return Paths(np.array([*where, records, tail], np.int64), (sources, visits, listed))
