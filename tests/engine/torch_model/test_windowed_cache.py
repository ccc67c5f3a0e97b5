"""Layers with a window keep few rows of a text that torch reads: the logits of a text whose rows are all
kept, in plain passes and in replayed ones."""

from functools import cache, partial

import numpy as np
import pytest
import torch

from engine.checkpoints import open_checkpoint, windows
from engine.checkpoints.windows import kept_slots
from engine.model.description import described
from engine.model.rows import Rows
from engine.model.sequence import Sequence
from engine.planner.outline import checkpoint_outline
from engine.torch_model.graphs import Graphs
from engine.torch_model.tensor_cache import TensorCache
from engine.torch_model.windowed_cache import WindowedTensorCache
from tests.engine.models import CONFIGS, VOCABULARY, ours, reference
from tests.engine.sessions import Session, assert_same
from tests.engine.torch_model.test_graphs import taped
from tests.engine.torch_model.test_recurrent import RandomTree
from tests.engine.windowed_texts import check_rewinds, check_turns

CAPACITY = 1024
ROOM = 96  # so that short texts are long enough
KINDS = ["mistral", "gemma2", "gemma3n_text", "gemma4_text", "gemma4_large"]

every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(autouse=True)
def little_room(monkeypatch):
    monkeypatch.setattr(windows, "ROOM", ROOM)


@cache
def pair(kind):
    """transformers' model; ours, whose layers with a window may drop rows; ours, which keeps all."""
    module = reference(kind, max_position_embeddings=CAPACITY)
    of_layers = described("tiny", module.config.model_type, module.config.to_dict()).windows
    return module, ours(module, CAPACITY, of_layers), ours(module, CAPACITY)


def sequence_of(kind):
    sequence = Sequence(pair(kind)[1], CAPACITY)
    assert isinstance(sequence.cache, WindowedTensorCache)
    return sequence


def slots_of(kind):
    return kept_slots(CONFIGS[kind]["sliding_window"], CAPACITY, apart=False)


def text_of(count, seed=0):
    return np.random.default_rng(seed).integers(3, VOCABULARY, count).tolist()


def logits_of(kind, tokens):
    model = pair(kind)[2]
    return model.forward(Rows.text(tokens, 0), model.new_cache(len(tokens))).logits


def assert_next(logits, tokens, kind):
    assert_same(logits_of(kind, tokens)[-1], logits)


@every_kind
def test_a_long_text_has_the_logits_of_transformers(kind):
    sequence, text = sequence_of(kind), text_of(600)
    found = [sequence.extend(text[:400])]
    for place in range(400, 600, 50):
        found.append(sequence.extend(text[place : place + 50]))
    assert sequence.cache.dropped
    with torch.inference_mode():
        expected = pair(kind)[0](torch.tensor([text])).logits[0]
    assert_same(expected[399::50], torch.stack(found))


@every_kind
def test_a_tree_has_the_logits_of_its_paths_and_lives_on(kind):
    """Rows are dropped while there is a tail, too."""
    sequence = sequence_of(kind)
    sequence.extend(text_of(slots_of(kind) - 40))
    tree = RandomTree(sequence, 3)
    tree.grow(18)
    for lives_on in (True, False):
        inner = max(range(len(tree.paths)), key=lambda node: tree.visible[:, node].sum())
        tree.keep(inner, lives_on)
        logits = tree.grow(35)
        for row, path in zip(logits[-3:], tree.paths[-3:], strict=True):
            assert_next(row, path, kind)
    assert sequence.cache.dropped


@every_kind
def test_rewinds_go_back_a_little_or_to_where_a_turn_ended(kind):
    check = partial(assert_next, kind=kind)
    check_rewinds(sequence_of(kind), slots_of(kind), text_of, check, piece=50)


@pytest.mark.parametrize("kind", ["mistral", "gemma4_text"])
def test_conversations_are_taken_up_where_they_ended(kind):
    check_turns(sequence_of(kind), text_of, partial(assert_next, kind=kind), turns=2)


@pytest.mark.parametrize("kind", ["mistral", "gemma2", "gemma4_text"])
def test_replayed_passes_equal_those_that_keep_all_rows(kind):
    module, replayed, plain = pair(kind)
    replayed = ours(module, CAPACITY, replayed._windows)
    replayed.graphs = Graphs(taped, [])
    sequences = Sequence(plain, CAPACITY), Sequence(replayed, CAPACITY)
    start = text_of(slots_of(kind) - 70)
    for sequence in sequences:
        sequence.extend(start)
    session = Session(*sequences, seed=2)
    for _ in range(6):
        session.grow(3, 12)
        session.extend(9)
    assert sequences[1].cache.dropped
    for expected, found in session.held:
        assert_same(expected, found)


def test_passes_are_recorded_once_where_all_layers_have_a_window():
    """However long the text is: what they read does not grow."""
    model = ours(pair("mistral")[0], CAPACITY, pair("mistral")[1]._windows)
    model.graphs = Graphs(taped, [])
    sequence = Sequence(model, CAPACITY)
    for piece in (slots_of("mistral") - 1, 150, 300):
        sequence.extend(text_of(piece))
        sequence.extend([7])
    assert [list(part.layers) for part in sequence.cache.parts] == [list(range(model.layers))]
    (recordings,) = model.graphs._recordings.values()
    assert [keys for size, keys, _ in recordings if size == 1] == [(slots_of("mistral"),)]


@every_kind
def test_the_memory_is_what_was_counted(kind, tmp_path):
    module, model, _ = pair(kind)
    module.save_pretrained(tmp_path)
    outline = checkpoint_outline(open_checkpoint(tmp_path), "tiny")
    kept, saved = outline.kept(CAPACITY, apart=False), outline.saved(CAPACITY, apart=False)
    taken = model.text_cache(CAPACITY)
    assert taken.nbytes == sum(4 * (rows + 1) * numbers for rows, numbers in kept)
    assert taken.saved_nbytes == 4 * saved[0] * saved[1]
    assert kept[1][0] == slots_of(kind) < kept[0][0]
    assert taken.nbytes + taken.saved_nbytes < model.new_cache(CAPACITY).nbytes
    assert type(model.text_cache(200)) is TensorCache, "all rows of a short text are kept"
