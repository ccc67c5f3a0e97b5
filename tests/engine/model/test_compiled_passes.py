"""Each row of a compiled model has the same bits in any pass."""

import numpy as np
import pytest
import torch

from engine.errors import PromptTooLong
from engine.model import compiled
from engine.model.interface import Yielding
from engine.model.rows import Rows
from engine.model.sequence import Sequence
from engine.planner.run_rows import RUN_ROWS
from tests.engine.model.compiled_models import (
    AT_EACH_LAYER,
    CONTEXT,
    TEXT,
    TOLERANCE,
    Branches,
    Ended,
    all_logits,
    assert_kept_nodes_are_text,
    assert_same_cache,
    both,
    difference,
    every_kind,
    kept,
    random_text,
    saved,
    tiny,
)


@every_kind
def test_a_text_in_pieces_of_any_size_gives_the_same_bits(kind):
    _, model = both(kind)
    expected = all_logits(model, TEXT)
    for size in (1, 2, 3, 7, 16, 17, 39):
        cache, found = model.new_cache(64), []
        for start in range(0, len(TEXT), size):
            piece = TEXT[start : start + size]
            found.append(model.forward(Rows.text(piece, start), cache).logits.copy())
            cache.keep(range(len(piece)))
        assert np.array_equal(np.concatenate(found), expected)


@pytest.mark.parametrize(("heads", "kv_heads"), [(1, 1), (3, 1), (4, 1), (6, 2), (7, 1), (8, 8)])
@pytest.mark.parametrize("head_dim", [32, 64, 96])
def test_heads_that_share_keys_give_the_bits_of_each_alone(heads, kv_heads, head_dim):
    """Many rows attend with several heads together, a single row with each head alone."""
    sizes = dict(hidden_size=672, num_attention_heads=heads, num_key_value_heads=kv_heads, head_dim=head_dim)
    module = tiny("llama", **sizes)
    model, text = saved(module), random_text(CONTEXT)
    whole = all_logits(model, text)
    with torch.inference_mode():
        expected = module(torch.tensor([text])).logits[0]
    assert difference(whole, expected) < 10 * TOLERANCE, "another head's keys would be off by a whole logit"
    sequence = Sequence(model, CONTEXT)
    for place, token in enumerate(text):
        assert np.array_equal(sequence.extend([token]), whole[place])


@every_kind
def test_a_text_longer_than_a_run_gives_the_same_bits(kind):
    _, model = both(kind, context=1024)
    text = random_text(2 * RUN_ROWS + 60)
    whole = Sequence(model, 400)
    expected = model.forward(Rows.text(text, 0), whole.cache).logits.copy()
    whole.keep(range(len(text)), text)
    for sizes in ([1, RUN_ROWS, RUN_ROWS + 1, 58], [RUN_ROWS - 1, 2, 187], [300, *[1] * 16]):
        sequence, found, start = Sequence(model, 400), [], 0
        for size in sizes:
            found.append(sequence.extend(text[start : start + size]).copy())
            start += size
            assert np.array_equal(found[-1], expected[start - 1])
        assert_same_cache(sequence.cache, whole.cache)


@every_kind
@pytest.mark.parametrize("seed", range(3))
def test_each_node_of_a_tree_has_the_bits_of_its_path_as_text(kind, seed):
    """The trees are deeper than the windows; one starts shortly behind the start of the text."""
    _, model = both(kind)
    start = TEXT[: [2, 7, 20][seed]]
    tree = Branches.grown(36, seed)
    for sizes in ([36], [1, 11, 24], [1] * 36, [20, 5, 5, 6]):
        sequence = Sequence(model, 64)
        sequence.extend(start)
        outputs = tree.consider(sequence, sizes, hidden_layers=(0, 1, model.layers))
        found = np.concatenate([logits for logits, _ in outputs])
        for path, text in tree.texts(start):
            cache = model.new_cache(64)
            expected = model.forward(Rows.text(text, 0), cache, hidden_layers=(0, 1, model.layers))
            assert np.array_equal(found[path], expected.logits[len(start) :])
            for layer, states in expected.hidden.items():
                hidden = np.concatenate([each[layer] for _, each in outputs])
                assert np.array_equal(hidden[path], states[len(start) :])


@every_kind
def test_kept_nodes_leave_the_rows_of_their_text(kind):
    _, model = both(kind)
    assert_kept_nodes_are_text(model)


@pytest.mark.parametrize("kind", ["llama", "mistral", "gemma3_text", "qwen3_5_text", "lfm2"])
def test_a_tree_larger_than_a_run_has_the_bits_of_its_paths(kind):
    _, model = both(kind, context=1024)
    tree = Branches.grown(RUN_ROWS + 70, 5)
    for sizes in ([RUN_ROWS + 70], [60, RUN_ROWS + 10]):
        sequence = Sequence(model, 400)
        sequence.extend(TEXT)
        found = np.concatenate([logits for logits, _ in tree.consider(sequence, sizes)])
        for path, text in tree.texts(TEXT):
            assert np.array_equal(found[path], all_logits(model, text)[len(TEXT) :])


@pytest.mark.parametrize("kind", ["mistral", "gemma3_text", "qwen3_5_text", "lfm2"])
def test_rows_in_any_order_of_positions_have_the_bits_of_their_text(kind):
    """Level by level, as lanes beside a tree: a later row may have an earlier position."""
    _, model = both(kind)
    chains = [random_text(15, seed) for seed in (1, 2)]
    order = [(chain, depth) for depth in range(15) for chain in (1, 0)]
    order = [*order[20:], *order[:20]]  # the deepest rows come first
    tokens = [chains[chain][depth] for chain, depth in order]
    visible = np.array([[a == c and b <= d for a, b in order] for c, d in order])
    sequence = Sequence(model, 64)
    sequence.extend(TEXT[:5])
    found = sequence.consider(tokens, [5 + depth for _, depth in order], visible).logits.copy()
    for number, chain in enumerate(chains):
        expected = all_logits(model, [*TEXT[:5], *chain])[5:]
        rows = [order.index((number, depth)) for depth in range(15)]
        assert np.array_equal(found[rows], expected)


# What a pass may be asked for


@pytest.mark.parametrize(
    "which",
    [slice(None), slice(0, 3), slice(5, 9), slice(-1, None), slice(-4, -2), slice(39, 40), slice(2, 90)],
)
@pytest.mark.parametrize("hidden", [(), (0,), (1, 3), (3,)])
def test_the_requested_rows_get_logits(which, hidden):
    _, model = both("gemma2")
    expected = all_logits(model, TEXT)[which]
    output = model.forward(Rows.text(TEXT, 0), model.new_cache(64), logits_for=which, hidden_layers=hidden)
    assert np.array_equal(output.logits, expected)
    assert output.hidden.keys() == set(hidden)


@pytest.mark.parametrize(
    ("start", "stop"), [(0, 300), (100, 200), (120, 128), (128, 129), (127, 129), (250, 300), (299, 300)]
)
def test_the_requested_rows_of_several_runs_get_logits(start, stop):
    _, model = both("llama", context=1024)
    text = random_text(300)
    whole = model.forward(Rows.text(text, 0), model.new_cache(300), hidden_layers=(1, 3))
    rows = slice(start, stop)
    part = model.forward(Rows.text(text, 0), model.new_cache(300), logits_for=rows, hidden_layers=(1, 3))
    assert np.array_equal(part.logits, whole.logits[rows])
    for layer in (1, 3):
        assert np.array_equal(part.hidden[layer], whole.hidden[layer])


@every_kind
@pytest.mark.parametrize("count", [1, 40, RUN_ROWS + 20])
def test_the_head_gives_the_logits_of_the_last_states(kind, count):
    _, model = both(kind, context=1024)
    output = model.forward(
        Rows.text(random_text(count), 0), model.new_cache(count), hidden_layers=[model.layers]
    )
    logits, states = output.logits.copy(), output.hidden[model.layers]
    head = model.output_head()
    assert np.array_equal(head(states), logits)
    assert np.array_equal(head(states[-1:]), logits[-1:])
    assert head.nbytes == 0


@every_kind
def test_a_pass_after_the_head_was_used_gives_the_same_bits(kind):
    _, model = both(kind)
    expected = all_logits(model, TEXT)
    model.output_head()(np.random.default_rng(1).standard_normal((9, model.width), np.float32))
    assert np.array_equal(all_logits(model, TEXT), expected)


def test_two_caches_take_turns():
    _, model = both("mistral")
    texts = [random_text(30, seed) for seed in (1, 2)]
    alone = [all_logits(model, text) for text in texts]
    sequences = [Sequence(model, 40), Sequence(model, 64)]
    for at in range(30):
        for sequence, text, expected in zip(sequences, texts, alone, strict=True):
            assert np.array_equal(sequence.extend(text[at : at + 1]), expected[at])


def test_a_cache_at_the_place_of_a_dropped_one_is_noticed():
    _, model = both("llama")
    expected = all_logits(model, TEXT)
    for capacity in (64, 64, 300, 64, 50):
        sequence = Sequence(model, capacity)
        assert np.array_equal(sequence.extend(TEXT), expected[-1])


def test_a_text_that_does_not_fit_is_refused():
    _, model = both("llama")
    sequence = Sequence(model, 20)
    with pytest.raises(PromptTooLong):
        sequence.extend(TEXT)
    expected = all_logits(model, TEXT)[19]
    assert np.array_equal(sequence.extend(TEXT[:20]), expected)


# Progress


@pytest.mark.parametrize("count", [1, 20, RUN_ROWS + 1])
def test_progress_is_reported_from_the_start_to_the_end(count, monkeypatch):
    _, model = both("llama", context=1024)
    runs = -(-count // RUN_ROWS)
    for pace in (compiled.PACE_S, AT_EACH_LAYER):
        monkeypatch.setattr(compiled, "PACE_S", pace)
        calls: list[tuple[int, int]] = []
        Sequence(model, 300).extend(random_text(count), lambda *of, calls=calls: calls.append(of))
        assert {total for _, total in calls} == {runs * model.layers}
        done = [each for each, _ in calls]
        assert done == sorted(done)
        assert (done[0], done[-1]) == (0, runs * model.layers)
    assert done == [*range(runs * model.layers + 1)]


@every_kind
@pytest.mark.parametrize("end", [0, 1, -2, -1])
def test_a_pass_that_progress_ends_leaves_no_trace(kind, end, monkeypatch):
    def progress(done, total):
        if done == range(total + 1)[end]:
            raise Ended

    monkeypatch.setattr(compiled, "PACE_S", AT_EACH_LAYER)
    _, model = both(kind)
    sequence = Sequence(model, 64)
    sequence.extend(TEXT[:20])
    before = kept(sequence.cache)
    with pytest.raises(Ended):
        sequence.extend(random_text(9), progress)
    tree = Branches.grown(12, 3)
    with pytest.raises(Ended):
        tree.consider(sequence, [12], progress=progress)
    assert (sequence.cache.length, sequence.cache.tail, sequence.ids) == (20, 0, TEXT[:20])
    assert all(np.array_equal(*each) for each in zip(kept(sequence.cache), before, strict=True))
    expected = all_logits(model, TEXT)[-1]
    assert np.array_equal(sequence.extend(TEXT[20:]), expected)


def test_a_pass_that_gives_way_does_so_before_each_layer_and_before_the_output_head():
    class Ending(Yielding):
        def __init__(self, end):
            self.end, self.calls = end, []

        def __call__(self, done, total):
            self.calls.append((done, total))
            if done == self.end:
                raise Ended

    _, model = both("llama")
    expected = all_logits(model, TEXT)[-1]
    sequence, every = Sequence(model, 64), Ending(None)
    assert np.array_equal(sequence.extend(TEXT, every), expected)
    assert every.calls == [(done, model.layers) for done in range(model.layers + 1)]
    at_the_head = Ending(model.layers)
    with pytest.raises(Ended):
        sequence.consider([5, 6], [len(TEXT)] * 2, np.eye(2, dtype=np.bool_), progress=at_the_head)
    assert (sequence.cache.length, sequence.cache.tail) == (len(TEXT), 0)


@pytest.mark.parametrize("kind", ["llama", "qwen3_5_text"])
def test_a_pass_of_several_runs_that_progress_ends_leaves_no_trace(kind, monkeypatch):
    monkeypatch.setattr(compiled, "PACE_S", AT_EACH_LAYER)
    _, model = both(kind, context=1024)
    text = random_text(300)
    expected = all_logits(model, text)[-1]
    for end in (0, 2, 3, 5, 8, 9):

        def progress(done, total, end=end):
            if done == end:
                raise Ended

        sequence = Sequence(model, 400)
        with pytest.raises(Ended):
            sequence.extend(text, progress)
        assert sequence.ids == []
        assert np.array_equal(sequence.extend(text), expected)
