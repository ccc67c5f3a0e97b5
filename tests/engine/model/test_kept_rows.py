"""What each cache keeps of a tail: the rows on the path to the new root, and those of a tree that lives."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.model.kv_cache import HostCache
from engine.torch_model.tensor_cache import TensorCache
from tests.engine.decoding.paths import PathCache

CAPACITY, BESIDE, COMMITTED = 24, 12, 5
CACHES = {
    "compiled": lambda: HostCache([(2, 12), (1, 6)], CAPACITY, BESIDE),
    "torch": lambda: TensorCache([(2, 3), None, (1, 5), (2, 3)], CAPACITY, torch.bfloat16, "cpu"),
    "of the tests": lambda: PathCache(CAPACITY, BESIDE),
}
tails = st.integers(1, BESIDE).flatmap(
    lambda count: st.tuples(
        st.just(count), st.sets(st.integers(0, count - 1)), st.sets(st.integers(0, count - 1))
    )
)


def filled(cache, first, count, seed):
    """Write random rows; return them, [count, bytes of a row], as `read_rows` gives each alone."""
    # Numbers of any format: small positive ones, none of them a NaN
    rows = np.random.default_rng(seed).integers(0, 60, count * cache.row_nbytes).astype(np.uint8)
    cache.write_rows(first, rows)
    return rows_of(cache, first, count)


def rows_of(cache, first, count):
    return [cache.read_rows(slot, 1).tobytes() for slot in range(first, first + count)]


@pytest.mark.parametrize("kind", CACHES)
@settings(max_examples=40, deadline=None)
@given(tails)
def test_path_and_survivors_are_kept_in_order(kind, tail):
    count, chosen, others = tail
    path, survivors = sorted(chosen), sorted(others - chosen)
    cache = CACHES[kind]()
    text = filled(cache, 0, COMMITTED, 1)
    cache.adopt(COMMITTED)
    cache.reserve(count)
    rows = filled(cache, COMMITTED, count, 2)
    cache.extend_tail(count)
    cache.keep(path, survivors)
    assert (cache.length, cache.tail) == (COMMITTED + len(path), len(survivors))
    kept = [rows[slot] for slot in (*path, *survivors)]
    assert rows_of(cache, 0, cache.length + cache.tail) == text + kept
    cache.keep(range(len(survivors)))
    assert (cache.length, cache.tail) == (COMMITTED + len(kept), 0)
    assert rows_of(cache, 0, cache.length) == text + kept


@pytest.mark.parametrize("kind", ["compiled", "of the tests"])
@settings(max_examples=40, deadline=None)
@given(tails)
def test_a_tail_beside_the_capacity_is_kept_there_and_moves_no_row_of_the_text(kind, tail):
    count, chosen, _ = tail
    cache = CACHES[kind]()
    text = filled(cache, 0, COMMITTED, 1)
    cache.adopt(COMMITTED)
    shared = cache.shared()
    shared.follow(COMMITTED, [])
    rows = filled(cache, shared.tail_start, count, 2)
    shared.extend_tail(count)
    kept = sorted(chosen)
    shared.follow(COMMITTED - 1, kept)
    assert (shared.length, shared.tail, shared.free) == (COMMITTED - 1, len(kept), BESIDE - len(kept))
    assert rows_of(cache, shared.tail_start, len(kept)) == [rows[slot] for slot in kept]
    assert rows_of(cache, 0, COMMITTED) == text
