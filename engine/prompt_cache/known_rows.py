"""The part of the prompt cache that belongs to one model: keys from tokens, rows from and to its KV cache.

Where layers have states instead of rows, a text can only be taken up where its states were saved. So blocks
of states are kept beside those of rows: one for each savepoint, with the rows since the last whole block.
Rows behind a text's last savepoint are of no use, and are not kept.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.prompt_cache.blocks import BLOCK, PromptCache

KEY_NBYTES = 32

Bytes = NDArray[np.uint8]


class RowCache(Protocol):
    """What is asked of a KV cache."""

    @property
    def row_nbytes(self) -> int:
        """Bytes of one token's rows in all layers."""
        ...

    @property
    def state_nbytes(self) -> int:
        """Bytes of all layers' states behind one token, at most; 0 if all layers have rows."""
        ...

    def state_nbytes_behind(self, length: int) -> int:
        """Return the bytes of these states behind the first `length` tokens."""
        ...

    @property
    def saved_lengths(self) -> list[int]:
        """The numbers of tokens behind which states can be read."""
        ...

    def read_rows(self, first: int, count: int) -> Bytes:
        """Return a copy of the rows in `count` slots from `first` on, uint8 [count * row_nbytes]."""
        ...

    def write_rows(self, first: int, rows: Bytes) -> None:
        """Write rows that `read_rows` has returned."""
        ...

    def read_states(self, length: int) -> Bytes:
        """Return a copy of the states behind one of `saved_lengths`, uint8
        [state_nbytes_behind(length)]."""
        ...

    def write_states(self, states: Bytes) -> None:
        """Write states that `read_states` has returned."""
        ...


class _Part(NamedTuple):
    """A block of a text. stop: the number of tokens up to its end; nbytes: its size; read: reads it from the
    KV cache."""

    key: bytes
    stop: int
    nbytes: int
    read: Callable[[], Bytes]


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
        """Keep the rows of `ids` from token `start` on, before they are dropped; only whole blocks, and with
        states those up to a savepoint. The end of a conversation that goes on otherwise, such as a thought
        that its template leaves out, is not worth the room of its states, which others' would lose."""
        if rows.state_nbytes and self._read_for and self._read_for == self.owner:
            return
        parts = sorted(self._parts(ids, rows, self._cache.budget_nbytes), key=lambda part: part.stop)
        keys = [part.key for part in parts]
        self._cache.touch(keys, self._read_for)
        for part in reversed(parts):
            if part.stop > start and part.key not in self._cache:
                self._cache.put(part.key, part.read(), self._read_for)
        self._cache.touch(keys, self._read_for)

    def save(self, ids: Sequence[int], rows: RowCache) -> None:
        """Write the rows of `ids` to the disk, if the prompt cache has a place there."""
        files = self._cache.files
        if files is None:
            return
        for part in self._parts(ids, rows, files.budget_nbytes):
            if part.key not in files and files.takes(part.key, part.nbytes):
                files.write(part.key, part.read(), {self._read_for})

    def restore(self, ids: Sequence[int], known: int, rows: RowCache) -> int:
        """Write what is known of the rows of `ids` into a KV cache that holds the first `known` of them.
        Return how many it holds then: all whole blocks, or with states those up to the last savepoint."""
        self._read_for = self.owner
        keys = list(self._keys(ids))
        if rows.state_nbytes:
            return self._restore_to_savepoint(ids, keys, known, rows)
        for number in range(known // BLOCK, len(keys)):
            block = self._cache.find(keys[number], BLOCK * rows.row_nbytes, self.owner)
            if block is None:
                break
            rows.write_rows(number * BLOCK, block)
            known = (number + 1) * BLOCK
        self._cache.touch(keys, self.owner)
        return known

    def shared(self, ids: Sequence[int], known: int) -> int:
        """Return how many of `ids` begin a text of which rows are kept, in whole blocks; the KV cache holds
        the first `known` of them."""
        return self._held(list(self._keys(ids)), known // BLOCK) * BLOCK

    # -- texts -----------------------------------------------------------------------------------------------

    def _parts(self, ids: Sequence[int], rows: RowCache, room: int) -> Iterator[_Part]:
        """Yield the blocks of a text that fit in `room` bytes: of rows, first to last, and of states, last to
        first. With states, rows are kept up to the last savepoint that fits with them."""
        keys = list(self._keys(ids))
        lengths: list[int] = []
        blocks = min(len(keys), room // max(1, BLOCK * rows.row_nbytes))
        if rows.state_nbytes:
            for length in sorted(rows.saved_lengths, reverse=True):
                needed = _states_nbytes(rows, length)
                needed += 0 if lengths else length // BLOCK * BLOCK * rows.row_nbytes
                if needed <= room:
                    lengths.append(length)
                    room -= needed
            blocks = lengths[0] // BLOCK if lengths else 0
        for number in range(blocks):
            read = partial(rows.read_rows, number * BLOCK, BLOCK)
            yield _Part(keys[number], (number + 1) * BLOCK, BLOCK * rows.row_nbytes, read)
        for length in lengths:
            key = self._state_key(ids, keys, length)
            yield _Part(key, length, _states_nbytes(rows, length), partial(_read_states, rows, length))

    def _restore_to_savepoint(
        self, ids: Sequence[int], keys: Sequence[bytes], known: int, rows: RowCache
    ) -> int:
        """Write the states of the last savepoint behind `known` that can be read with all rows before it, and
        these rows. Return its number of tokens; `known` if there is none."""
        first = known // BLOCK
        held = self._held(keys, first)
        for length in range(min(len(ids), held * BLOCK + BLOCK - 1), known, -1):
            whole, behind = divmod(length, BLOCK)
            key = self._state_key(ids, keys, length)
            if not self._cache.holds(key):
                continue
            needed = [(each, BLOCK * rows.row_nbytes) for each in keys[first:whole]]
            needed.append((key, _states_nbytes(rows, length)))
            found: list[Bytes] = []
            for each, nbytes in reversed(needed):
                block = self._cache.find(each, nbytes, self.owner)
                if block is None:  # damaged
                    break
                found.append(block)
            if len(found) < len(needed):
                continue
            last, *blocks = found
            state_nbytes = rows.state_nbytes_behind(length)
            for number, block in zip(range(whole - 1, first - 1, -1), blocks, strict=True):
                rows.write_rows(number * BLOCK, block)
            if behind:
                rows.write_rows(whole * BLOCK, last[state_nbytes:])
            rows.write_states(last[:state_nbytes])
            self._cache.touch([*keys[:whole], key], self.owner)
            return length
        self._cache.touch(keys[:first], self.owner)
        return known

    def _held(self, keys: Sequence[bytes], first: int) -> int:
        """Return the number of blocks of rows from the beginning of a text up to one that is not kept; the
        KV cache holds the rows of the first ones."""
        return next((n for n in range(first, len(keys)) if not self._cache.holds(keys[n])), len(keys))

    def _keys(self, ids: Sequence[int]) -> Iterator[bytes]:
        """Yield the key of each whole block."""
        tokens = np.asarray(ids, np.int64)
        key = self._model
        for stop in range(BLOCK, len(ids) + 1, BLOCK):
            key = _digest(key, tokens[stop - BLOCK : stop].tobytes())
            yield key

    def _state_key(self, ids: Sequence[int], keys: Sequence[bytes], length: int) -> bytes:
        """Return the key of the states behind the first `length` tokens. keys: those of the whole blocks."""
        whole = length // BLOCK
        behind = np.asarray(ids[whole * BLOCK : length], np.int64).tobytes()
        return _digest(keys[whole - 1] if whole else self._model, b"states" + behind)


def _states_nbytes(rows: RowCache, length: int) -> int:
    """Return the bytes of what `_read_states` returns."""
    return rows.state_nbytes_behind(length) + length % BLOCK * rows.row_nbytes


def _read_states(rows: RowCache, length: int) -> Bytes:
    """Return the states behind the first `length` tokens, then the rows since the last whole block."""
    behind = length % BLOCK
    return np.concatenate([rows.read_states(length), rows.read_rows(length - behind, behind)])


def _digest(key: bytes, data: bytes) -> bytes:
    return hashlib.blake2b(key + data, digest_size=KEY_NBYTES).digest()
