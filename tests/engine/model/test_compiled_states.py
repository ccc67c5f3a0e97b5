"""Compiled models whose layers have states: the bits of plain text, whatever was kept, dropped or rewound."""

import tracemalloc
from functools import cache

import numpy as np
import pytest
import torch

from engine.checkpoints import open_checkpoint
from engine.checkpoints.recurrent import SAVEPOINTS
from engine.compiled.paths import tree_paths
from engine.compiled.states import StateShape
from engine.decoding.ahead import GrowingAhead
from engine.decoding.budget import FixedLimits
from engine.decoding.iteration import Iterated, decode
from engine.drafting import TreeLimits, available, draft_rows
from engine.drafting.specexec import SpecExecDrafter
from engine.errors import BadOption
from engine.model import savepoints
from engine.model.description import describe
from engine.model.interface import no_progress
from engine.model.loader import load_compiled
from engine.model.rows import Rows
from engine.model.self_draft import check_self_draft
from engine.model.sequence import Sequence
from engine.model.state_cache import StateCache
from engine.planner.outline import checkpoint_outline
from engine.prompt_cache import KnownRows, PromptCache
from engine.protocol import Chat, Message, Options
from engine.sampling import Sampler
from engine.serving.pair import LoadedPair
from engine.serving.session import Session
from engine.streaming import WeightLimits
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.decoding.test_ahead import MANY, ScriptedVerifier
from tests.engine.model.compiled_models import (
    all_logits,
    assert_same_cache,
    difference,
    kept,
    random_text,
    saved,
    tiny,
)
from tests.engine.models import disturbed
from tests.engine.test_every_drafter import END, Letters
from tests.engine.torch_model.test_recurrent import RandomTree

CAPACITY = 512
KINDS = ["qwen3_5_text", "lfm2", "granitemoehybrid", "nemotron_h"]

every_kind = pytest.mark.parametrize("kind", KINDS)
with_a_mixture = pytest.mark.parametrize("kind", [*KINDS, "lfm2_moe"])


@cache
def loaded(kind):
    return saved(tiny(kind), context=CAPACITY)


def assert_next(logits, kind, tokens):
    found = logits.copy()  # logits are valid until the next pass
    assert np.array_equal(found, all_logits(loaded(kind), tokens)[-1])


# Trees


@with_a_mixture
@pytest.mark.parametrize("seed", range(3))
def test_a_tree_lives_on_below_the_kept_path(kind, seed):
    sequence = Sequence(loaded(kind), CAPACITY)
    sequence.extend(random_text([1, 2, 140][seed]))
    tree = RandomTree(sequence, seed)
    for count in (1, 3, 14):
        for row, path in zip(tree.grow(count).copy(), tree.paths[-count:], strict=True):
            assert_next(row, kind, path)
    for lives_on in (True, True, False):
        inner = max(range(len(tree.paths)), key=lambda node: tree.visible[:, node].sum())
        tree.keep(inner, lives_on)
        for row, path in zip(tree.grow(5).copy(), tree.paths[-5:], strict=True):
            assert_next(row, kind, path)
    tree.keep(max(range(5), key=lambda node: len(tree.paths[node])))
    assert_next(sequence.extend([3, 4]), kind, sequence.ids)


@with_a_mixture
@pytest.mark.parametrize("script", [[MANY] * 40, [*range(3, 20)] * 2], ids=["grown whole", "cut off"])
def test_behind_trees_that_grew_ahead_states_are_those_of_the_text(kind, script, monkeypatch):
    """Also where the target's pass ends while the draft computes, so that rows are dropped."""
    monkeypatch.setattr(draft_rows, "DROPPED_RECORDS", 2)
    model, limits = loaded(kind), TreeLimits(6, 4, 5)
    target, draft = Sequence(model, CAPACITY), Sequence(model, CAPACITY)
    monkeypatch.setattr(draft_rows, "AHEAD_RECORDS_NBYTES", 12 * draft.cache.record_nbytes)
    verifier = ScriptedVerifier(target, Sampler(), script, late=True)
    drafter = SpecExecDrafter(draft, model.vocabulary, branch=4)
    rule, prompt, survived = GrowingAhead(FixedLimits(limits)), random_text(70), 0
    for event in decode(verifier, drafter, Sampler(), prompt, rule, (), 30, no_progress):
        if isinstance(event, Iterated):
            anew = Sequence(model, CAPACITY)
            anew.extend(draft.ids)
            assert_same_cache(draft.cache, anew.cache)
            survived += event.survivors > 0
    assert survived
    assert len(draft.cache._records) <= limits.budget + 2 + 12


def test_records_are_never_in_memory_twice():
    """Those of a large tree may be hundreds of megabytes."""
    shape = StateShape(layers=2, kernel=3, channels=1 << 14)
    states = StateCache(shape, [(1, 64)], CAPACITY)

    def most(step):
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        step()
        return (tracemalloc.get_traced_memory()[1] - before) / states.record_nbytes

    def grow(tail=0, count=50):
        rows = Rows(*np.zeros((2, count), np.int64), np.eye(count, tail + count, tail, np.bool_))
        states.begin_pass(rows, np.zeros(tail, np.int64))
        states.extend_tail(count)

    tracemalloc.start()
    try:
        assert most(grow) == pytest.approx(50, abs=3)
        assert most(lambda: grow(50)) == pytest.approx(50, abs=3)
        states._records[:, 0, 0] = range(100)
        assert most(lambda: states.keep([], range(7, 97))) < 3
    finally:
        tracemalloc.stop()
    assert states._records[:90, 0, 0].tolist() == [*range(7, 97)]


def test_states_wait_in_few_buffers_and_only_needed_nodes_are_visited():
    parents = [(node - 1) // 2 for node in range(255)]  # a whole binary tree
    paths = tree_paths([-1, *parents[1:]], range(255), 0, 4, 1 << 20, 1 << 30)
    _, visits, _ = paths.kept
    assert sorted(visits[:, 0].tolist()) == list(range(255))
    assert (-1 - visits[:, 2]).max() == 7
    chain = tree_paths([node - 1 for node in range(300)], range(300), 299, 4, 1 << 20, 1 << 30)
    sources, visits, _ = chain.kept
    assert sources.tolist() == [[298, 297, 296]]
    assert visits[:, 0].tolist() == [*(-1 - slot for slot in range(299)), 0]
    assert {*visits[1:, 1].tolist(), *visits[:, 2].tolist()} == {-1}, "a chain takes one buffer"
    sources, visits, _ = tree_paths([-1, 0, 0, -1], range(4), 1, 4, 1 << 20, 1 << 30).kept
    assert sources.tolist() == [[0, -1, -2], [0, -1, -2], [-1, -2, -3]]


# Rewinds


@with_a_mixture
def test_a_rewind_recomputes_from_a_savepoint_before_it(kind, monkeypatch):
    monkeypatch.setattr(savepoints, "EVERY", 128)
    sequence = Sequence(loaded(kind), CAPACITY)
    text = random_text(400)
    sequence.align(text)
    assert_next(sequence.extend(text), kind, text)
    for shared in (399, 300, 290, 131, 60):
        edited = [*text[:shared], 7, 8, 9]
        at = sequence.align(edited)
        assert max(0, shared - 128) <= at <= shared
        assert_next(sequence.extend(edited[at:]), kind, edited)
    assert sequence.align([]) == 0
    assert_next(sequence.extend([5]), kind, [5])


def test_another_answer_and_the_next_turn_recompute_few_tokens():
    sequence = Sequence(loaded("qwen3_5_text"), CAPACITY)
    prompt = random_text(150)
    for _ in range(2):
        at = sequence.align(prompt[:-1])
        sequence.extend(prompt[at:])
        sequence.extend(random_text(20, seed=1))  # the answer
    assert at == 150 - savepoints.MARGIN
    following = [*sequence.ids, *random_text(90, seed=2)]
    before = len(sequence.ids)
    assert sequence.align(following) == before
    assert_next(sequence.extend(following[before:]), "qwen3_5_text", following)
    assert sequence.align([*following[:before], 7]) == before  # another question


# Other conversations


@every_kind
def test_conversations_are_taken_up_where_they_ended(kind):
    sequence = Sequence(loaded(kind), CAPACITY)
    sequence.known = KnownRows(PromptCache(1 << 26), b"model")
    talks = [random_text(150 + 30 * number, seed=number) for number in range(2)]
    for turn in range(3):
        for number, talk in enumerate(talks):
            sequence.known.owner = str(number)
            known = len(talk) if turn else 0
            talk += random_text(70, seed=10 * turn + number)
            at = sequence.align(talk[:-1])
            assert at == known
            assert_next(sequence.extend(talk[at:]), kind, talk)


@every_kind
@pytest.mark.parametrize("room", [0, 1 << 26])
def test_the_third_conversation_with_a_system_prompt_finds_a_savepoint_at_its_end(kind, room):
    sequence = Sequence(loaded(kind), CAPACITY)
    sequence.known = KnownRows(PromptCache(room), b"model")
    system = random_text(100)
    for number, expected in enumerate((0, 0, 100, 100)):
        prompt = [*system, number, *random_text(180, seed=number)]
        if room:
            other = random_text(40, seed=5)
            sequence.extend(other[sequence.align(other[:-1]) :])
        at = sequence.align(prompt[:-1])
        # What the prompt cache knows of is known in whole blocks.
        assert at == (expected if not room else expected // 64 * 64)
        assert_next(sequence.extend(prompt[at:]), kind, prompt)


def test_a_branch_where_a_piece_of_a_prompt_ends_is_saved_too():
    sequence = Sequence(loaded("qwen3_5_text"), CAPACITY)
    prompts = [[*random_text(100), number, *random_text(90)] for number in range(3)]
    sequence.extend(prompts[0])
    assert sequence.align(prompts[1][:-1]) == 0
    sequence.extend(prompts[1][:100])
    sequence.extend(prompts[1][100:])
    assert sequence.align(prompts[2][:-1]) == 100


@pytest.mark.parametrize("kind", ["qwen3_5_text", "granitemoehybrid", "nemotron_h"])
def test_savepoints_take_no_more_memory_than_is_counted(kind, monkeypatch, tmp_path):
    monkeypatch.setattr(savepoints, "EVERY", 64)
    sequence = Sequence(loaded(kind), CAPACITY)
    cache = sequence.cache
    for turn in range(12):
        sequence.align(sequence.ids)
        sequence.extend(random_text(20 + 3 * turn, turn))
        assert len(cache.savepoints) <= SAVEPOINTS
        assert all(nbytes == cache.state_nbytes for nbytes in cache.savepoints.values())
    assert len(cache.savepoints) == SAVEPOINTS
    module = tiny(kind)
    module.save_pretrained(tmp_path)
    outline = checkpoint_outline(open_checkpoint(tmp_path), "tiny")
    rows = outline.kv_row * 2 * (CAPACITY + 1)
    assert cache.nbytes == rows + 2 * outline.states
    assert cache.saved_nbytes == SAVEPOINTS * outline.states
    assert cache.record_nbytes <= outline.state_row


# What is kept


def test_a_text_without_a_commit_is_dropped():
    model = loaded("qwen3_5_text")
    sequence = Sequence(model, CAPACITY)
    sequence.extend(random_text(10))
    before = kept(sequence.cache)
    model.forward(Rows.text(random_text(200, seed=4), 10), sequence.cache)
    sequence.cache.keep([])
    assert all(np.array_equal(*each) for each in zip(kept(sequence.cache), before, strict=True))
    assert_next(sequence.extend([6]), "qwen3_5_text", [*random_text(10), 6])


def test_two_texts_take_turns():
    model = loaded("qwen3_5_text")
    texts = [random_text(30, seed) for seed in (1, 2)]
    alone = [all_logits(model, text) for text in texts]
    sequences = [Sequence(model, 40), Sequence(model, 64)]
    for at in range(30):
        for sequence, text, expected in zip(sequences, texts, alone, strict=True):
            assert np.array_equal(sequence.extend(text[at : at + 1]), expected[at])


# What models are covered


@pytest.mark.parametrize(("kind", "limit"), [("qwen3_5_text", 400 << 10), ("qwen3_next", 1200 << 10)])
def test_value_heads_of_a_gguf_file_find_their_key_heads(kind, limit, tmp_path):
    sizes = dict(num_hidden_layers=4, layer_types=None, linear_key_head_dim=32)
    module = tiny(kind, **sizes)
    file = open_checkpoint(convert(module, tmp_path / "model.gguf"))
    assert describe(file).states.tiled == (kind == "qwen3_5_text")
    text = random_text(40)
    model = load_compiled(file, no_progress, CAPACITY)
    with torch.inference_mode():
        expected = module(torch.tensor([text])).logits[0]
    found = all_logits(model, text)
    assert difference(found, expected) < 5e-3
    streamed = load_compiled(file, no_progress, CAPACITY, limits=WeightLimits(limit))
    assert np.array_equal(all_logits(streamed, text), found)
    streamed.close()


def test_the_first_files_of_a_qwen3_next_have_the_bits_of_later_ones(tmp_path):
    """They have the matrix of queries, keys, values and gates in one part, as folders have."""
    module, text = tiny("qwen3_next"), random_text(40)
    tensors = {}
    for number, layer in enumerate(module.model.layers[:3]):
        fused = layer.linear_attn.in_proj_qkvz.weight.detach().numpy()
        tensors |= {f"blk.{number}.ssm_in.weight": fused}
        tensors |= dict.fromkeys(f"blk.{number}.attn_{name}.weight" for name in ("qkv", "gate"))
    first = open_checkpoint(convert(module, tmp_path / "first.gguf", tensors=tensors))
    later = open_checkpoint(convert(module, tmp_path / "later.gguf"))
    assert [describe(file).delta_inputs for file in (first, later)] == [("qkvz", "ba"), ("qkv", "z", "ba")]
    found, expected = (load_compiled(file, no_progress, CAPACITY) for file in (first, later))
    assert np.array_equal(all_logits(found, text), all_logits(expected, text))


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("qwen3_5_text", dict(linear_value_head_dim=40)),
        ("qwen3_5_text", dict(linear_key_head_dim=9)),
        ("qwen3_5_text", dict(linear_num_value_heads=12)),
        ("qwen3_next", dict(linear_num_value_heads=4)),
        ("qwen3_5_text", dict(layer_types=["linear_attention"] * 3)),
        ("lfm2", dict(conv_bias=True)),
        ("lfm2_moe", dict(moe_intermediate_size=40)),
        ("granitemoehybrid", dict(mamba_n_heads=32)),  # heads of 8 columns
        ("granitemoehybrid", dict(mamba_proj_bias=True)),
        ("granitemoehybrid", dict(mamba_d_state=11)),
        ("nemotron_h", dict(use_bias=True)),
        ("nemotron_h", dict(mlp_bias=True)),
        ("nemotron_h", dict(mamba_hidden_act="gelu")),
        ("nemotron_h", dict(mlp_hidden_act="silu")),
        ("nemotron_h_experts", dict(mlp_bias=True)),
        ("nemotron_h_experts", dict(moe_shared_expert_intermediate_size=40)),
    ],
)
def test_what_steps_do_not_cover_is_not_loaded(kind, changes):
    assert saved(tiny(kind, **changes)) is None


def test_lfm2_has_its_own_names_for_sizes(tmp_path):
    module = tiny(
        "lfm2", intermediate_size=140, block_auto_adjust_ff_dim=True, block_multiple_of=32, norm_eps=1e-2
    )
    model, text = saved(module), random_text(40)
    with torch.inference_mode():
        expected = module(torch.tensor([text])).logits[0]
    assert difference(all_logits(model, text), expected) < 5e-3


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("granitemoehybrid", dict(time_step_limit=(0.7, 0.8))),
        ("granitemoehybrid", dict(mamba_conv_bias=False, position_embedding_type="rope")),
        ("granitemoehybrid", dict(mamba_n_heads=4, mamba_n_groups=1)),  # 64 columns: two slices
        ("nemotron_h", dict(time_step_min=0.8)),
        ("nemotron_h", dict(mamba_head_dim=80, n_groups=8, ssm_state_size=16)),  # as Nemotron Nano v2
    ],
)
def test_other_mamba_layers_have_the_logits_of_transformers(kind, changes):
    module, text = tiny(kind, **changes), random_text(40)
    with torch.inference_mode():
        expected = module(torch.tensor([text])).logits[0]
    model = saved(module)
    assert difference(all_logits(model, text), expected) < 5e-3
    assert difference(all_logits(loaded(kind), text), expected) > 1e-2


@every_kind
def test_a_model_with_states_does_not_draft_for_itself(kind, tmp_path):
    tiny(kind).to(torch.bfloat16).save_pretrained(tmp_path)
    with pytest.raises(BadOption, match="states"):
        check_self_draft(open_checkpoint(tmp_path))


# Answers


@cache
def models():
    module = tiny("qwen3_5_text", num_hidden_layers=4, layer_types=None)
    return saved(module, context=CAPACITY), saved(disturbed(module, 0.05), context=CAPACITY)


@pytest.mark.parametrize("name", [*sorted({*available(True)} - {"none"}), "specexec+lookahead"])
def test_every_drafter_gives_the_tokens_of_plain_decoding(name):
    target, draft = models()
    plain, drafted = (
        Session(LoadedPair(Sequence(target, 160), Sequence(draft, 160), Letters(), None)) for _ in range(2)
    )
    # The third prompt is edited at its beginning.
    for turn, temperature in (("abcabcabc", 0.0), ("abcabcabc" * 8, 0.8), ("abd" + "abc" * 20, 0.0)):
        options = dict(temperature=temperature, seed=3, max_new_tokens=20, logit_bias={END: -30.0})
        expected, found = (
            each.answer(
                Chat(id=0, messages=[Message("user", turn)], options=Options(**options, drafter=how)),
                lambda _: None,
                lambda: False,
            )
            for each, how in ((plain, "none"), (drafted, name))
        )
        if drafted.drafter(name).needs.rejection and temperature:
            assert found.tokens == 20
        else:
            assert found.token_ids == expected.token_ids
