"""Blocks of rows in RAM, and behind them on the disk; the least recently used ones give way.

A block holds the rows of BLOCK tokens as a KV cache stores them. Its key is a digest of the model and of all
tokens up to the block's end. So conversations that begin alike share blocks, and a text's rows are found
block by block from its beginning. Of a model whose layers have states, there are blocks of states, too: see
`engine.prompt_cache.known_rows`.
"""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engine.prompt_cache.files import BlockFiles

BLOCK = 64  # tokens


@dataclass(slots=True)
class CachedBlock:
    """The rows, or states, of a block. owners: the conversations to which its text belongs; "" is one that is
    never deleted."""

    rows: NDArray[np.uint8]
    owners: set[str] = field(default_factory=set)


class PromptCache:
    """The blocks of all models and conversations, within a budget of RAM.

    Attributes: `nbytes`, the RAM that blocks take; `files`, the blocks on the disk, or None.
    """

    def __init__(self, budget_nbytes: int, files: BlockFiles | None = None) -> None:
        self.files = files
        self.nbytes = 0
        self._budget = budget_nbytes
        self._blocks: OrderedDict[bytes, CachedBlock] = OrderedDict()  # the least recently used first

    @property
    def budget_nbytes(self) -> int:
        return self._budget

    def __contains__(self, key: bytes) -> bool:
        return key in self._blocks

    def holds(self, key: bytes) -> bool:
        """Return whether a block is in RAM or on the disk, where it may turn out to be damaged."""
        return key in self._blocks or (self.files is not None and key in self.files)

    def find(self, key: bytes, nbytes: int, owner: str) -> NDArray[np.uint8] | None:
        """Return a block's rows, or None if it is not here. nbytes: size that it must have. owner: the
        conversation that uses it."""
        if key in self._blocks:
            return self._blocks[key].rows
        stored = self.files.read(key, nbytes) if self.files else None
        if stored is None:
            return None
        owners, rows = stored
        if self.files and owner not in owners:
            self.files.write(key, rows, owners | {owner})
        self._put(key, CachedBlock(rows, owners | {owner}))
        return rows

    def put(self, key: bytes, rows: NDArray[np.uint8], owner: str) -> None:
        """Keep a block, which is not copied, as the most recently used one."""
        self._put(key, CachedBlock(rows, {owner}))

    def touch(self, keys: Iterable[bytes], owner: str) -> None:
        """Note that a conversation uses these blocks of its text, first to last: the end of a text gives way
        before its beginning."""
        for key in reversed(list(keys)):
            if key in self._blocks:
                self._blocks[key].owners.add(owner)
                self._blocks.move_to_end(key)

    def forget(self, owner: str) -> None:
        """Drop the blocks that belong to this conversation alone, also from the disk."""
        for key, block in list(self._blocks.items()):
            block.owners.discard(owner)
            if not block.owners:
                self._drop(key)
        if self.files:
            self.files.forget(owner)

    def clear(self) -> tuple[int, int]:
        """Drop all blocks. Return the bytes of RAM and of the disk that this has freed."""
        ram, self.nbytes = self.nbytes, 0
        self._blocks.clear()
        return ram, self.files.clear() if self.files else 0

    def shrink(self, budget_nbytes: int) -> int:
        """Set the budget. Return the number of bytes of RAM that this has freed."""
        before = self.nbytes
        self._budget = budget_nbytes
        self._make_room(0)
        return before - self.nbytes

    def close(self) -> None:
        """Finish writing to the disk."""
        if self.files:
            self.files.close()

    def _put(self, key: bytes, block: CachedBlock) -> None:
        if key in self._blocks:
            self._blocks[key].owners |= block.owners
            self._blocks.move_to_end(key)
        elif block.rows.nbytes <= self._budget:
            self._make_room(block.rows.nbytes)
            self._blocks[key] = block
            self.nbytes += block.rows.nbytes

    def _make_room(self, nbytes: int) -> None:
        while self._blocks and self.nbytes + nbytes > self._budget:
            self._drop(next(iter(self._blocks)))

    def _drop(self, key: bytes) -> None:
        self.nbytes -= self._blocks.pop(key).rows.nbytes
