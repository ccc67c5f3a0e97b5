"""The KV cache of compiled passes in eight bits: the same bits in any pass, close to sixteen bits."""

from functools import cache

import numpy as np
import pytest

from engine.compiled.cache_rows import row_nbytes
from engine.errors import PromptTooLong
from engine.model import compiled
from engine.model.kv_cache import HostCache
from engine.model.rows import Rows
from engine.model.sequence import Sequence
from engine.planner.run_rows import RUN_ROWS
from tests.engine.model.compiled_models import (
    AT_EACH_LAYER,
    CONTEXT,
    MIXTURES,
    TEXT,
    Branches,
    Ended,
    all_logits,
    assert_kept_nodes_are_text,
    assert_same_cache,
    both,
    difference,
    every_kind,
    random_text,
    saved,
    tiny,
)

TOLERANCE = 5e-2  # largest difference of logits from those with float16, relative to the largest logit


@cache
def eight_bits(kind, context=CONTEXT):
    """The compiled model of `both`, with its cache in q8_0."""
    return saved(tiny(kind), context=context, cache="Q8_0")


@every_kind
def test_logits_are_close_to_those_with_float16(kind):
    module = tiny(kind)
    if kind in MIXTURES:  # all experts: of two that a router nearly equates, rounding may change the choice
        names = ("num_local_experts", "num_experts", "n_routed_experts")
        every = next(getattr(module.config, name) for name in names if hasattr(module.config, name))
        module.config.num_experts_per_tok = every
    rounded, expected = (all_logits(saved(module, cache=cache), TEXT) for cache in ("Q8_0", "F16"))
    # Queries of Ministral 3 grow, and so does what rounding of keys changes.
    tolerance = 6e-2 if kind == "ministral3" else TOLERANCE
    assert 0 < difference(rounded, expected) < tolerance


@pytest.mark.parametrize("kind", MIXTURES)
def test_rounding_changes_the_experts_of_few_rows(kind):
    rounded, expected = (all_logits(model, TEXT) for model in (eight_bits(kind), both(kind)[1]))
    apart = np.abs(rounded - expected).max(axis=1) / np.abs(expected).max()
    least = 0.6 if kind == "gpt_oss" else 0.9  # its experts have biases, and so differ more
    assert np.mean(apart < TOLERANCE) >= least


@every_kind
def test_a_text_in_pieces_of_any_size_gives_the_same_bits(kind):
    model = eight_bits(kind)
    expected = all_logits(model, TEXT)
    for size in (1, 2, 3, 7, 16, 39):
        sequence, found = Sequence(model, 64), []
        for start in range(0, len(TEXT), size):
            found.append(sequence.extend(TEXT[start : start + size]).copy())
            assert np.array_equal(found[-1], expected[min(start + size, len(TEXT)) - 1])


@every_kind
def test_a_text_longer_than_a_run_gives_the_same_bits(kind):
    model = eight_bits(kind, context=1024)
    text = random_text(2 * RUN_ROWS + 60)
    whole = Sequence(model, 400)
    expected = model.forward(Rows.text(text, 0), whole.cache).logits.copy()
    whole.keep(range(len(text)), text)
    sequence, start = Sequence(model, 400), 0
    for size in (1, RUN_ROWS, RUN_ROWS + 1, 58):
        found = sequence.extend(text[start : start + size])
        start += size
        assert np.array_equal(found, expected[start - 1])
    assert_same_cache(sequence.cache, whole.cache)


@every_kind
@pytest.mark.parametrize("seed", range(3))
def test_each_node_of_a_tree_has_the_bits_of_its_path_as_text(kind, seed):
    model, start = eight_bits(kind), TEXT[: [2, 7, 20][seed]]
    tree = Branches.grown(36, seed)
    for sizes in ([36], [1, 11, 24], [1] * 36):
        sequence = Sequence(model, 64)
        sequence.extend(start)
        found = np.concatenate([logits for logits, _ in tree.consider(sequence, sizes)])
        for path, text in tree.texts(start):
            assert np.array_equal(found[path], all_logits(model, text)[len(start) :])


@every_kind
def test_kept_nodes_leave_the_rows_of_their_text(kind):
    model = eight_bits(kind)
    assert_kept_nodes_are_text(model)


@pytest.mark.parametrize(("heads", "kv_heads"), [(3, 1), (6, 2), (7, 1), (8, 8)])
@pytest.mark.parametrize("head_dim", [32, 64, 96])
def test_heads_that_share_keys_give_the_bits_of_each_alone(heads, kv_heads, head_dim):
    sizes = dict(hidden_size=672, num_attention_heads=heads, num_key_value_heads=kv_heads, head_dim=head_dim)
    model, text = saved(tiny("llama", **sizes), cache="Q8_0"), random_text(CONTEXT)
    whole, sequence = all_logits(model, text), Sequence(model, CONTEXT)
    for place, token in enumerate(text):
        assert np.array_equal(sequence.extend([token]), whole[place])


def test_a_pass_that_progress_ends_leaves_no_trace(monkeypatch):
    def progress(done, total):
        if done == 2:
            raise Ended

    monkeypatch.setattr(compiled, "PACE_S", AT_EACH_LAYER)
    model = eight_bits("mistral")
    expected = all_logits(model, TEXT)[-1]
    sequence = Sequence(model, 64)
    sequence.extend(TEXT[:20])
    with pytest.raises(Ended):
        sequence.extend(random_text(9), progress)
    assert np.array_equal(sequence.extend(TEXT[20:]), expected)


def test_the_arithmetic_has_another_name():
    """Equal names promise equal bits."""
    assert eight_bits("llama").arithmetic != both("llama")[1].arithmetic


@pytest.mark.parametrize(("form", "nbytes"), [("F16", 192), ("Q8_0", 102)])
def test_a_cache_keeps_moves_and_drops_whole_rows(form, nbytes):
    cache = HostCache([(3, row_nbytes(form, 96))] * 2, capacity=12)
    assert [layer.shape for layer in cache.layers] == [(2, 3, 13, nbytes)] * 2
    assert cache.nbytes == cache.store.size
    cache.store[:] = np.random.default_rng(1).integers(0, 256, cache.store.shape)
    before = np.stack(cache.layers)
    cache.reserve(10)
    cache.extend_tail(10)
    cache.keep(range(4))
    cache.extend_tail(6)
    cache.keep([1, 2, 5])
    assert (cache.length, cache.tail, cache.written) == (7, 0, 10)
    for layer in range(2):
        assert np.array_equal(
            cache.rows(layer), before[layer, :, :, [0, 1, 2, 3, 5, 6, 9]].transpose(1, 2, 0, 3)
        )
    cache.truncate(5)
    assert np.array_equal(cache.rows(1), before[1, :, :, [0, 1, 2, 3, 5]].transpose(1, 2, 0, 3))
    with pytest.raises(PromptTooLong):
        cache.reserve(8)
