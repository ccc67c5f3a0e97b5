"""The part of the prompt cache that belongs to one model: keys from tokens, rows from and to its KV cache."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.prompt_cache.blocks import BLOCK, PromptCache

KEY_NBYTES = 32


class RowCache(Protocol):
    """What is asked of a KV cache."""

    @property
    def row_nbytes(self) -> int:
        """Bytes of one token's rows in all layers."""
        ...

    def read_rows(self, first: int, count: int) -> NDArray[np.uint8]:
        """Return a copy of the rows in `count` slots from `first` on, uint8 [count * row_nbytes]."""
        ...

    def write_rows(self, first: int, rows: NDArray[np.uint8]) -> None:
        """Write rows that `read_rows` has returned."""
        ...


class KnownRows:
    """The rows that one model has computed for texts which are not in its KV cache now.

    Attribute: `owner`, the conversation that the model reads from the next `restore` on.
    """

    def __init__(self, cache: PromptCache, model: bytes) -> None:
        """model: a digest of all that rows depend on besides the tokens: weights, arithmetic, format of the
        cache, positions."""
        self.owner = ""
        self._cache = cache
        self._model = model
        self._read_for = ""  # the owner of what is in the model's KV cache

    @property
    def reader(self) -> str:
        """The conversation whose rows are in the model's KV cache."""
        return self._read_for

    def put(self, ids: Sequence[int], start: int, rows: RowCache) -> None:
        """Keep the rows of `ids` from token `start` on, before they are dropped; only whole blocks."""
        keys = list(self._keys(ids))
        self._cache.touch(keys, self._read_for)
        most = self._cache.budget_nbytes // (BLOCK * rows.row_nbytes)
        for number in reversed(range(start // BLOCK, min(len(keys), most))):
            if keys[number] not in self._cache:
                block = rows.read_rows(number * BLOCK, BLOCK)
                self._cache.put(keys[number], block, self._read_for)
        self._cache.touch(keys, self._read_for)

    def save(self, ids: Sequence[int], rows: RowCache) -> None:
        """Write the rows of `ids` to the disk, if the prompt cache has a place there."""
        files = self._cache.files
        if files is None:
            return
        for number, key in enumerate(self._keys(ids)):
            if key not in files:
                files.write(key, rows.read_rows(number * BLOCK, BLOCK), {self._read_for})

    def restore(self, ids: Sequence[int], known: int, rows: RowCache) -> int:
        """Write what is known of the rows of `ids` into a KV cache that holds the first `known` of them.
        Return how many it holds then."""
        self._read_for = self.owner
        keys = list(self._keys(ids))
        nbytes = BLOCK * rows.row_nbytes
        for number in range(known // BLOCK, len(keys)):
            block = self._cache.find(keys[number], nbytes, self.owner)
            if block is None:
                break
            rows.write_rows(number * BLOCK, block)
            known = (number + 1) * BLOCK
        self._cache.touch(keys, self.owner)
        return known

    def _keys(self, ids: Sequence[int]) -> Iterator[bytes]:
        """Yield the key of each whole block."""
        tokens = np.asarray(ids, np.int64)
        key = self._model
        for stop in range(BLOCK, len(ids) + 1, BLOCK):
            block = tokens[stop - BLOCK : stop].tobytes()
            key = hashlib.blake2b(key + block, digest_size=KEY_NBYTES).digest()
            yield key
