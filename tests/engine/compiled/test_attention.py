"""Attention reads the cache's rows as stored: in either format it is that over the numbers they stand for."""

import numpy as np
import pytest

from engine.compiled import steps
from engine.compiled.attention import MOST_QUERIES, attention_step
from engine.compiled.cache_rows import FORMATS, row_nbytes
from engine.compiled.instructions import LANES
from engine.compiled.matrix import aligned
from engine.compiled.pool import shared_pool
from engine.compiled.program import StepTable, address, room
from tests.engine.compiled.made import same_bits

SLOTS = 75
WIDTHS = [32, 64, 96, 128]
HEADS = [(1, 1), (3, 1), (4, 1), (6, 2), (7, 1), (8, 8)]  # heads, and those of keys and values


def numbers_of(rows, form, width):
    """The numbers that rows of the cache stand for, float32."""
    if form == "F16":
        return rows.view(np.float16).astype(np.float32)
    quants = rows[..., :width].view(np.int8).astype(np.float32)
    scales = np.ascontiguousarray(rows[..., width:]).view(np.float16).astype(np.float32)
    return quants * scales.repeat(32, axis=-1)


class Cached:
    """A cache of one layer with random keys and values, written by the step that writes them.

    given: what was written, float32 [2 (keys, values), kv_heads, SLOTS, width].
    """

    def __init__(self, form, heads, kv_heads, width, change=lambda given: None):
        self.form, self.heads, self.kv_heads, self.width = form, heads, kv_heads, width
        nbytes = row_nbytes(form, width)
        self.store = np.zeros((2, kv_heads, SLOTS, nbytes), np.uint8)
        numbers = np.random.default_rng(width + heads)
        self.given = numbers.normal(size=(2, kv_heads, SLOTS, width)).astype(np.float32)
        change(self.given)
        qkv = numbers.normal(size=(SLOTS, heads + 2 * kv_heads, width)).astype(np.float32)
        qkv[:, heads:] = self.given.reshape(2 * kv_heads, SLOTS, width).swapaxes(0, 1)
        state, program = np.zeros(steps.STATE, np.int64), StepTable()
        state[steps.ROWS] = SLOTS
        keys, values = (address(part) for part in self.store)
        program.add(
            steps.rotary_step,
            *(address(state), address(qkv), heads, kv_heads, width, 0, 0, 0, 1e-5, 1.0, 0, 0, 0),
            *(keys, values, self.store.strides[1], nbytes, FORMATS.index(form), 0, 0, 0),
        )
        shared_pool().run(address(program.table()), 0, 1)

    @property
    def numbers(self):
        return numbers_of(self.store, self.form, self.width)

    def attend(self, queries, prefix, lists, window=1 << 62, cap=0.0, sinks=None):
        """The results for queries [rows, heads, width]. lists: the slots behind the first `prefix` that each
        row sees. sinks: their scores, by head."""
        rows, (heads, kv_heads, width) = len(queries), (self.heads, self.kv_heads, self.width)
        qkv = np.zeros((rows, heads + 2 * kv_heads, width), np.float32)
        qkv[:, :heads] = queries
        out = np.full((rows, heads, width), np.nan, np.float32)
        prefixes = np.full(rows, prefix, np.int64)
        offsets = np.cumsum([0, *map(len, lists)])
        flat = np.array([slot for each in lists for slot in each] or [0], np.int64)
        word = aligned(64)
        state, program = np.zeros(steps.STATE, np.int64), StepTable()
        state[steps.ROWS], state[steps.STOP] = rows, address(word)
        state[steps.PREFIX], state[steps.LISTS] = address(prefixes), address(flat)
        state[steps.OFFSETS] = address(offsets)
        scores = room(shared_pool().threads * MOST_QUERIES, SLOTS + LANES)
        keys, values = (address(part) for part in self.store)
        own_sinks = None if sinks is None else np.float32(sinks)
        program.add(
            attention_step(self.form),
            *(address(state), address(qkv), heads, kv_heads, width, keys, values, self.store.strides[1]),
            *(address(scores), scores.strides[0], 0, 0, address(out), window, float(cap)),
            *(self.store.shape[-1], address(own_sinks)),
        )
        shared_pool().run(address(program.table()), 0, 1)
        return out

    def expected(self, queries, prefix, lists, window=1 << 62, cap=0.0, sinks=None):
        """The same in float64, over the numbers that the rows stand for."""
        keys, values = (part.astype(np.float64) for part in self.numbers)
        found = np.empty(queries.shape)
        for row, head in np.ndindex(*queries.shape[:2]):
            seen = [*range(prefix), *lists[row]][-min(window, SLOTS) :]
            own = head * self.kv_heads // self.heads
            scores = keys[own, seen] @ queries[row, head]
            scores = cap * np.tanh(scores / cap) if cap else scores
            sink = 0.0 if sinks is None else np.exp(sinks[head] - scores.max())
            shares = np.exp(scores - scores.max())
            found[row, head] = shares @ values[own, seen] / (shares.sum() + sink)
        return found


def a_pass(cached, rows=9, seed=0):
    """Queries, the prefix, and further slots in no order, one row with none and one with all."""
    numbers = np.random.default_rng(seed)
    queries = numbers.normal(size=(rows, cached.heads, cached.width)) / np.sqrt(cached.width)
    lists = [list(numbers.permutation(np.arange(40, SLOTS))[:count]) for count in range(0, 36, 35 // rows)]
    return queries.astype(np.float32), 40, [*lists[: rows - 1], list(range(40, SLOTS))]


def check(form, width, heads, kv_heads, **limits):
    cached = Cached(form, heads, kv_heads, width)
    queries, prefix, lists = a_pass(cached)
    found = cached.attend(queries, prefix, lists, **limits)
    np.testing.assert_allclose(found, cached.expected(queries, prefix, lists, **limits), rtol=1e-5, atol=2e-6)
    for row, (query, listed) in enumerate(zip(queries, lists, strict=True)):  # with each head alone
        alone = cached.attend(query[None], prefix, [listed], **limits)
        assert same_bits(alone[0], found[row])


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("heads", "kv_heads"), HEADS)
def test_attention_is_that_over_the_numbers_that_rows_stand_for(form, width, heads, kv_heads):
    check(form, width, heads, kv_heads)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("limits", [dict(window=7), dict(window=50), dict(cap=0.5), dict(window=41, cap=2.0)])
def test_windows_and_caps(form, limits):
    check(form, 64, 6, 2, **limits)


@pytest.mark.parametrize("score", [-3.0, 0.5, 60.0])
def test_sinks_take_a_share_and_stand_for_no_value(score):
    check("F16", 64, 6, 2, window=9, sinks=np.arange(6) + score)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_row_of_eight_bits_is_within_half_a_step_of_what_was_written(width):
    def change(given):
        given[:, :, ::2] *= 1000.0
        given[:, :, 5] = 0.0
        given[:, :, 6, :32] = 0.0  # one block of several

    cached = Cached("Q8_0", 6, 2, width, change)
    blocks = cached.given.reshape(-1, 32)
    peaks = np.abs(blocks).max(axis=1, keepdims=True)
    error = np.abs(cached.numbers.reshape(-1, 32) - blocks)
    assert (error <= peaks * (0.5 / 127 + 2.0**-11) * 1.001).all()
    assert cached.store.nbytes == cached.given.size * 34 // 32
    assert not cached.numbers[:, :, 5].any()


@pytest.mark.parametrize("strange", [np.nan, np.inf])
def test_damaged_keys_stay_visible_in_eight_bits(strange):
    def change(given):
        given[:, :, 3, 7] = strange

    cached = Cached("Q8_0", 3, 1, 64, change)
    queries, prefix, lists = a_pass(cached)
    assert np.isnan(cached.attend(queries, prefix, lists)).any()
