"""Rows that come back from the prompt cache: the longest prefix, bit for bit, within the budget."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.model.kv_cache import HostCache
from engine.prompt_cache import BLOCK, KnownRows, PromptCache

CAPACITY = 6 * BLOCK
MODEL, OTHER = b"model", b"another model"


def rows_of(ids):
    """What a model that reads each token's prefix would compute, as bytes: 8 of each token."""
    made, state = np.empty((len(ids), 8), np.uint8), 7
    for place, token in enumerate(ids):
        state = (state * 31 + token + 1) % (1 << 61)
        made[place] = np.frombuffer(state.to_bytes(8, "little"), np.uint8)
    return made


class Reader:
    """A KV cache and what it holds, as `Sequence` keeps them; counts the rows that had to be computed."""

    def __init__(self, cache, model=MODEL):
        self.cache = HostCache([(1, 4)], CAPACITY)  # keys and values: 8 bytes
        self.known = KnownRows(cache, model)
        self.ids = []
        self.computed = 0

    def read(self, ids):
        shared = next((i for i, (a, b) in enumerate(zip(ids, self.ids, strict=False)) if a != b), None)
        shared = min(len(ids), len(self.ids)) if shared is None else shared
        if shared < len(self.ids):
            self.known.put(self.ids, shared, self.cache)
        self.cache.truncate(shared)
        found = self.known.restore(ids, shared, self.cache)
        self.cache.adopt(found - shared)
        for place, row in enumerate(rows_of(ids)[found:], found):
            self.cache.layers[0][:, 0, place] = row.reshape(2, 4)
        self.cache.adopt(len(ids) - found)
        self.computed += len(ids) - found
        self.ids = list(ids)
        return found

    @property
    def rows(self):
        return self.cache.layers[0][:, 0, : len(self.ids)].transpose(1, 0, 2).reshape(-1, 8)


def text(seed, length):
    return np.random.default_rng(seed).integers(0, 1000, length).tolist()


def test_a_conversation_that_was_interrupted_is_not_read_again():
    reader = Reader(PromptCache(1 << 20))
    first, second = text(1, 3 * BLOCK + 10), text(2, 2 * BLOCK)
    reader.read(first)
    reader.read(second)
    assert reader.read([*first, 5, 6]) == 3 * BLOCK
    np.testing.assert_array_equal(reader.rows, rows_of([*first, 5, 6]))
    assert reader.read([*second, 7]) == 2 * BLOCK


def test_conversations_with_the_same_beginning_share_it():
    cache = PromptCache(1 << 20)
    reader = Reader(cache)
    system = text(3, 2 * BLOCK)
    for seed in range(4, 8):
        reader.read([*system, *text(seed, BLOCK)])
    reader.read([1])
    assert cache.nbytes == (2 + 4) * BLOCK * 8


def test_another_model_finds_nothing():
    cache = PromptCache(1 << 20)
    first, second = Reader(cache), Reader(cache, OTHER)
    first.read(text(1, BLOCK))
    first.read([1])
    assert second.read(text(1, BLOCK)) == 0
    assert first.read(text(1, BLOCK)) == BLOCK


def test_the_end_of_a_text_gives_way_before_its_beginning_and_old_texts_before_new_ones():
    cache = PromptCache(4 * BLOCK * 8)
    reader = Reader(cache)
    old, new = text(1, 3 * BLOCK), text(2, 3 * BLOCK)
    reader.read(old)
    reader.read(new)
    reader.read([1])  # both do not fit
    assert reader.read(new) == 3 * BLOCK
    reader.read([1])
    assert reader.read(old) == BLOCK
    assert cache.nbytes <= 4 * BLOCK * 8


def test_a_budget_of_nothing_keeps_nothing():
    cache = PromptCache(0)
    reader = Reader(cache)
    reader.read(text(1, 3 * BLOCK))
    reader.read([1])
    assert reader.read(text(1, 3 * BLOCK)) == 0
    assert cache.nbytes == 0


def test_a_forgotten_conversation_is_gone_and_what_others_share_with_it_stays():
    reader = Reader(PromptCache(1 << 20))
    system = text(3, BLOCK)
    for owner, seed in (("a", 1), ("b", 2)):
        reader.known.owner = owner
        reader.read([*system, *text(seed, BLOCK)])
        assert reader.known.reader == owner
        reader.known.owner = "c"
        reader.read([1])
    reader.known._cache.forget("a")
    assert reader.read([*system, *text(1, BLOCK)]) == BLOCK
    reader.read([1])
    assert reader.read([*system, *text(2, BLOCK)]) == 2 * BLOCK


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, CAPACITY - 1)), min_size=1, max_size=25),
    st.integers(0, 30),
)
def test_rows_are_those_of_the_text_whatever_was_read_before(turns, blocks):
    """Texts branch off each other: text n shares n blocks and a half with text 0."""
    base = text(0, CAPACITY)
    cache = PromptCache(blocks * BLOCK * 8)
    reader = Reader(cache)
    for number, length in turns:
        shared = number * BLOCK + BLOCK // 2 if number else CAPACITY
        ids = [*base[:shared], *text(number, CAPACITY)][:length]
        reader.read(ids)
        np.testing.assert_array_equal(reader.rows, rows_of(ids))
        assert cache.nbytes <= blocks * BLOCK * 8
