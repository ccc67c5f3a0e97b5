"""Models whose layers have states: every tree equals the plain text of each path, whatever was kept, dropped,
interrupted or rewound before."""

import random
from functools import cache

import numpy as np
import pytest
import torch
from transformers.models.qwen3_5.modeling_qwen3_5 import torch_recurrent_gated_delta_rule

from engine.checkpoints.recurrent import SAVEPOINTS
from engine.model import savepoints
from engine.model.rows import Rows
from engine.model.savepoints import thinned
from engine.model.sequence import Sequence
from engine.prompt_cache import KnownRows, PromptCache
from engine.torch_model import recurrent
from engine.torch_model.recurrent import DeltaInputs, delta_rule, normalized
from tests.engine.models import EXPERTS, VOCABULARY, ours, reference

CAPACITY = 512
KINDS = ["qwen3_5_text", "lfm2", "granitemoehybrid", "nemotron_h"]


@cache
def pair(kind):
    if kind in ("qwen3_5_moe_text", "qwen3_next"):
        module = reference("qwen3_5_text", model_type=kind, **EXPERTS)
    else:
        module = reference(kind)
    return module, ours(module, CAPACITY)


def expected(kind, tokens):
    """Return transformers' log-probabilities behind the text."""
    with torch.inference_mode():
        return pair(kind)[0](torch.tensor([tokens])).logits[0, -1].log_softmax(-1)


def assert_next(logits, kind, tokens):
    torch.testing.assert_close(logits.log_softmax(-1), expected(kind, tokens), rtol=0, atol=1e-3)


def text_of(length, seed=0):
    generator = random.Random(seed)
    return [generator.randrange(VOCABULARY) for _ in range(length)]


class RandomTree:
    """A tree at the end of a text, whose nodes come in several passes."""

    def __init__(self, sequence, seed):
        self.random = random.Random(seed)
        self.sequence = sequence
        self.paths, self.tokens = [], []
        self.visible = np.zeros((0, 0), np.bool_)

    def grow(self, count):
        """Run `count` more nodes; return their logits."""
        before, after = len(self.paths), len(self.paths) + count
        visible = np.eye(after, dtype=np.bool_)
        visible[:before, :before] = self.visible
        for node in range(before, after):
            parent = self.random.randrange(-1, node)
            if parent >= 0:
                visible[node] |= visible[parent]
            self.tokens.append(self.random.randrange(VOCABULARY))
            above = self.paths[parent] if parent >= 0 else self.sequence.ids
            self.paths.append([*above, self.tokens[-1]])
        self.visible = visible
        positions = [len(path) - 1 for path in self.paths[before:]]
        return self.sequence.consider(self.tokens[before:], positions, visible[before:]).logits

    def keep(self, node, lives_on=False):
        """Commit the path to `node`; if the tree lives on, the nodes below it stay."""
        path = np.flatnonzero(self.visible[node]).tolist()
        below = [each for each in range(len(self.paths)) if each != node and self.visible[each, node]]
        left = below if lives_on else []
        self.sequence.keep(path, [self.tokens[each] for each in path], left)
        self.paths, self.tokens = ([part[each] for each in left] for part in (self.paths, self.tokens))
        self.visible = self.visible[np.ix_(left, left)]


@pytest.mark.parametrize("kind", [*KINDS, "qwen3_5_moe_text", "qwen3_next", "nemotron_h_experts", "lfm2_moe"])
@pytest.mark.parametrize("seed", range(4))
def test_a_random_tree_in_several_passes_equals_each_path_as_plain_text(kind, seed):
    sequence = Sequence(pair(kind)[1], CAPACITY)
    sequence.extend(text_of([1, 2, 70, 200][seed], seed))
    tree = RandomTree(sequence, seed)
    logits = torch.cat([tree.grow(count) for count in (1, 3, 14)])
    for row, path in zip(logits, tree.paths, strict=True):
        assert_next(row, kind, path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_tree_lives_on_below_the_kept_path(kind):
    sequence = Sequence(pair(kind)[1], CAPACITY)
    sequence.extend(text_of(20))
    tree = RandomTree(sequence, 5)
    tree.grow(18)
    for lives_on in (True, True, False):
        inner = max(range(len(tree.paths)), key=lambda node: tree.visible[:, node].sum())
        tree.keep(inner, lives_on)
        for row, path in zip(tree.grow(5), tree.paths[-5:], strict=True):
            assert_next(row, kind, path)
    tree.keep(max(range(5), key=lambda node: len(tree.paths[node])))
    assert_next(sequence.extend([3, 4]), kind, sequence.ids)


@pytest.mark.parametrize("kind", KINDS)
def test_a_rewind_recomputes_from_a_savepoint_before_it(kind, monkeypatch):
    monkeypatch.setattr(savepoints, "EVERY", 128)
    sequence = Sequence(pair(kind)[1], CAPACITY)
    text = text_of(400)
    sequence.align(text)
    sequence.extend(text)
    for shared in (399, 300, 290, 131, 60):
        edited = [*text[:shared], 7, 8, 9]
        kept = sequence.align(edited)
        assert max(0, shared - 192) <= kept <= shared
        assert_next(sequence.extend(edited[kept:]), kind, edited)
    assert sequence.align([]) == 0
    assert_next(sequence.extend([5]), kind, [5])


def test_a_regenerated_answer_and_the_next_turn_recompute_few_tokens():
    sequence = Sequence(pair("qwen3_5_text")[1], CAPACITY)
    prompt = text_of(150)
    for _ in range(2):
        kept = sequence.align(prompt[:-1])
        sequence.extend(prompt[kept:])
        sequence.extend(text_of(20, seed=1))  # the answer
    assert kept == 128
    following = [*sequence.ids, *text_of(90, seed=2)]
    before = len(sequence.ids)
    assert sequence.align(following) == before
    sequence.extend(following[before:])
    assert sequence.align([*following[:before], 7]) == before  # another question


@pytest.mark.parametrize("kind", KINDS)
def test_conversations_are_taken_up_where_they_ended(kind):
    sequence = Sequence(pair(kind)[1], CAPACITY)
    sequence.known = KnownRows(PromptCache(1 << 26), b"model")
    talks = [text_of(150 + 30 * number, seed=number) for number in range(2)]
    for turn in range(2):
        for number, talk in enumerate(talks):
            sequence.known.owner = str(number)
            known = len(talk) if turn else 0
            talk += text_of(70, seed=10 * turn + number)
            kept = sequence.align(talk[:-1])
            assert kept == known
            assert_next(sequence.extend(talk[kept:]), kind, talk)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_and_states_come_back_with_their_bits(kind):
    model = pair(kind)[1]
    first, second = Sequence(model, CAPACITY), Sequence(model, CAPACITY)
    first.extend(text_of(90))
    cache = first.cache
    second.cache.write_rows(0, cache.read_rows(0, 90))
    second.cache.write_states(cache.read_states(90))
    second.cache.adopt(90)
    second.ids = list(first.ids)
    assert len(cache.read_states(90)) == cache.state_nbytes
    assert torch.equal(first.extend([4, 5]), second.extend([4, 5]))


def test_the_third_conversation_with_a_system_prompt_finds_a_savepoint_near_its_end():
    sequence = Sequence(pair("qwen3_5_text")[1], CAPACITY)
    system = text_of(100)
    for number, expected in enumerate((0, 0, 64, 64)):
        prompt = [*system, number, *text_of(180, seed=number)]
        kept = sequence.align(prompt[:-1])
        assert kept == expected
        assert_next(sequence.extend(prompt[kept:]), "qwen3_5_text", prompt)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", ["tree", "text"])
def test_an_interrupted_pass_leaves_states_and_savepoints_as_they_were(kind, rows):
    class Ended(Exception):
        pass

    def progress(done, total):
        if done == 2:
            raise Ended

    model = pair(kind)[1]
    sequence, undisturbed = Sequence(model, CAPACITY), Sequence(model, CAPACITY)
    for each in (sequence, undisturbed):
        each.extend(text_of(80))
    saved = sequence.cache.savepoints
    interrupted = {
        "text": lambda: sequence.extend(text_of(150, seed=1), progress),
        "tree": lambda: sequence.consider([7, 8], [80, 80], np.eye(2, dtype=np.bool_), progress=progress),
    }
    with pytest.raises(Ended):
        interrupted[rows]()
    assert len(sequence.ids) == 80
    assert sequence.cache.savepoints == saved
    assert torch.equal(sequence.extend([4, 5]), undisturbed.extend([4, 5]))


def test_a_prompt_in_pieces_equals_the_prompt_at_once():
    model = pair("qwen3_5_text")[1]
    pieces, once = Sequence(model, CAPACITY), Sequence(model, CAPACITY)
    text = text_of(300)
    for start, stop in ((0, 1), (1, 64), (64, 65), (65, 193), (193, 300)):
        logits = pieces.extend(text[start:stop])
    torch.testing.assert_close(logits, once.extend(text), rtol=1e-4, atol=1e-4)


def test_savepoints_take_no_more_memory_than_is_counted(monkeypatch):
    monkeypatch.setattr(savepoints, "EVERY", 64)
    sequence = Sequence(pair("qwen3_5_text")[1], CAPACITY)
    cache = sequence.cache
    for turn in range(12):
        sequence.align(sequence.ids)
        sequence.extend(text_of(20 + 3 * turn, turn))
        assert len(cache.savepoints) <= SAVEPOINTS
        assert all(nbytes == cache.state_nbytes for nbytes in cache.savepoints.values())
    assert len(cache.savepoints) == SAVEPOINTS
    rows = 2 * 1 * 2 * (CAPACITY + 1) * 16 * 4  # of the one layer that attends
    assert cache.nbytes == rows + 2 * cache.state_nbytes
    assert cache.saved_nbytes == SAVEPOINTS * cache.state_nbytes
    assert not cache._rooms._free  # no room more was ever needed


def test_the_newest_savepoints_stay_and_others_are_spread():
    lengths = list(range(64, 6400, 64))
    left = thinned(lengths, 6400, 6)
    assert len(left) == 6
    assert set(left) <= set(lengths)
    assert left[-2:] == lengths[-2:]
    assert left[0] <= 3200 <= left[3]
    assert thinned([128, 64], 200, 6) == [64, 128]


@pytest.mark.parametrize("most", [1 << 24, 40])
def test_the_delta_rule_of_a_text_equals_transformers_step_by_step(most, monkeypatch):
    monkeypatch.setattr(recurrent, "_MOST", most)  # a few heads at a time
    generator = torch.Generator().manual_seed(0)
    rows, key_heads, heads, key_width, value_width = 11, 2, 6, 4, 5

    def noise(*shape):
        return torch.randn(shape, generator=generator)

    queries, keys = noise(rows, key_heads, key_width), noise(rows, key_heads, key_width)
    values, strengths = noise(rows, heads, value_width), noise(rows, heads).sigmoid()
    decays, base = -noise(rows, heads).exp(), noise(heads, key_width, value_width)
    output, last = torch_recurrent_gated_delta_rule(
        *(part[None] for part in (queries, keys, values)),
        g=decays[None],
        beta=strengths[None],
        initial_state=base[None],
        output_final_state=True,
        use_qk_l2norm_in_kernel=True,
    )
    inputs = DeltaInputs(
        normalized(queries).transpose(0, 1) * key_width**-0.5,
        normalized(keys).transpose(0, 1),
        values.transpose(0, 1),
        strengths.T,
        decays.T,
    )
    before = None
    found = []
    for start, stop in ((0, 4), (4, rows)):  # the second with a tail
        seen = torch.ones(rows, rows).tril().bool()[start:stop, :stop]
        piece, delta = delta_rule(inputs.part(start, stop), base, seen, before)
        before = delta if before is None else before.joined(delta)
        found.append(piece)
    torch.testing.assert_close(torch.cat(found, dim=1).transpose(0, 1), output[0], rtol=1e-5, atol=1e-5)
    before.advance(base)
    torch.testing.assert_close(base, last[0], rtol=1e-5, atol=1e-5)


def test_plain_rows_without_a_commit_are_dropped():
    model = pair("qwen3_5_text")[1]
    sequence = Sequence(model, CAPACITY)
    sequence.extend(text_of(10))
    model.forward(Rows.text(text_of(200, seed=4), 10), sequence.cache)
    sequence.cache.keep([])
    assert_next(sequence.extend([6]), "qwen3_5_text", [*text_of(10), 6])
