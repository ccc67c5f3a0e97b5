"""The layer for multi-token prediction beside a compiled target guesses what it guesses through torch."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from engine import interruption
from engine.checkpoints import open_checkpoint
from engine.decoding.iteration import Iterated, decode
from engine.decoding.verification import TargetVerifier
from engine.drafting.eagle import EagleDrafter
from engine.errors import BadCheckpoint, Interrupted
from engine.heads import built_in_heads, load_compiled_heads
from engine.heads.compiled_mtp import CompiledMtpHead
from engine.model.compiled import CompiledModel
from engine.model.interface import no_progress
from engine.model.loader import load_compiled
from engine.model.rows import Rows
from engine.model.sequence import Sequence
from engine.planner import checkpoint_outline
from engine.sampling import Sampler
from engine.torch_model.heads import load_heads
from tests.engine.decoding.test_iteration import PROMPT, RULE
from tests.engine.drafting.growing import paths
from tests.engine.heads.test_mtp import GLM, MOE, NEXT, QWEN, TEXT, Drafted, fp8, gguf, plain
from tests.engine.heads.turns import check_turns
from tests.engine.model.compiled_models import OTHER_SIZES, TOLERANCE, tiny

CONTEXT = 160
SCORES = 5e-3  # of log-probabilities along a path: keys and values are rounded to 16 bits
DELTA = {name: size for name, size in OTHER_SIZES[QWEN].items() if name.startswith("linear_")}
SIZES = {QWEN: DELTA, MOE: DELTA, NEXT: DELTA, GLM: {}}


def packed(drafted, folder):
    """Matrices are random blocks, but for the one that joins a token and a state."""
    return drafted.gguf(folder / "model.gguf", "Q4_0")


FORMS = {"plain": plain, "gguf": gguf, "packed": packed, "fp8": fp8}
EXACT = [(kind, form) for kind in SIZES for form in ("plain", "gguf")]
exact = pytest.mark.parametrize(("kind", "form"), EXACT)
every = pytest.mark.parametrize(("kind", "form"), [*EXACT, (GLM, "packed")])
each_kind = pytest.mark.parametrize("kind", SIZES)


@cache
def loaded(kind, form):
    """A model with a layer for drafts; the compiled target; its layer compiled, and through torch."""
    drafted = Drafted(kind, tiny, **SIZES[kind])
    with TemporaryDirectory() as folder:
        file = open_checkpoint(FORMS[form](drafted, Path(folder)))
        target = load_compiled(file, no_progress, CONTEXT)
        assert isinstance(target, CompiledModel)
        heads = built_in_heads(file)
        fast, slow = load_compiled_heads(heads, target, CONTEXT), load_heads(heads, target, CONTEXT)
    assert isinstance(fast, CompiledMtpHead)
    return drafted, target, fast, slow


@each_kind
def test_a_plan_counts_what_it_takes_in_memory(kind, tmp_path):
    file = open_checkpoint(plain(Drafted(kind, tiny, **SIZES[kind]), tmp_path))
    head = load_compiled_heads(built_in_heads(file), loaded(kind, "plain")[1], CONTEXT)
    counted = checkpoint_outline(file, "tiny").own_layer.nbytes_beside_compiled(CONTEXT)
    assert head.nbytes == pytest.approx(counted, rel=0.05)


@every
def test_both_report_the_same_layer(kind, form):
    _, _, fast, slow = loaded(kind, form)
    for name in ("method", "layers", "hidden_layers", "parameters", "vocabulary"):
        assert getattr(fast, name) == getattr(slow, name)
    assert fast.nbytes <= slow.nbytes


def states_of(target, tokens):
    rows, layer = Rows.text(tokens, 0), target.layers
    return target.forward(rows, target.new_cache(len(tokens)), hidden_layers=[layer]).hidden


@pytest.mark.parametrize(("kind", "form"), [*EXACT, (QWEN, "fp8")])
def test_guesses_equal_the_layer_written_out(kind, form):
    drafted, target, head, _ = loaded(kind, form)
    states = head.fuse(states_of(target, TEXT[:-1]))
    found = head.forward(Rows.text(TEXT[1:], 0), states, head.new_cache())
    expected, logits = drafted.guessed()
    assert np.abs(found - expected.numpy()).max() < TOLERANCE * expected.abs().max()
    tokens, log_probs = head.best(found, 3)
    best = logits.log_softmax(-1).topk(3)
    assert tokens.tolist() == best.indices.tolist()
    np.testing.assert_allclose(log_probs, best.values.numpy(), atol=SCORES)


def test_with_packed_weights_guesses_are_near_those_through_torch():
    """Activations are rounded to eight bits, as in the target, which torch does not do."""
    _, target, fast, slow = loaded(GLM, "packed")
    hidden, found = states_of(target, TEXT[:-1]), []
    for head in (fast, slow):
        guessed = head.forward(Rows.text(TEXT[1:], 0), head.fuse(hidden), head.new_cache())
        found.append(torch.as_tensor(guessed))
    assert torch.nn.functional.cosine_similarity(*found, dim=-1).min() > 0.998


def trees(target, head):
    """Return the text of an answer, and for each iteration the score of every node of its tree, by the tokens
    of its path. With this seed, no two experts are as good for a token as rounding could tell."""
    sampler = Sampler(seed=6, temperature=0.8)
    verifier = TargetVerifier(Sequence(target, CONTEXT), sampler)
    stream = decode(verifier, EagleDrafter(head), sampler, PROMPT, RULE, (), 16, no_progress)
    iterations = [event for event in stream if isinstance(event, Iterated)]
    return [event.tokens for event in iterations], [paths(event.tree) for event in iterations]


@exact
def test_the_trees_are_those_of_the_layer_through_torch(kind, form):
    _, target, fast, slow = loaded(kind, form)
    (texts, found), (expected_texts, expected) = (trees(target, head) for head in (fast, slow))
    assert texts == expected_texts
    assert sum(map(len, expected)) > 64
    for scores, others in zip(found, expected, strict=True):
        assert scores == pytest.approx(others, abs=SCORES)


@each_kind
def test_a_node_of_a_tree_equals_the_text_of_its_path_bit_for_bit(kind):
    _, target, head, _ = loaded(kind, "plain")
    states = head.fuse(states_of(target, TEXT))
    expected = head.forward(Rows.text(TEXT[1:8], 0), states[:7], head.new_cache())
    cache_of_head = head.new_cache()
    head.forward(Rows.text(TEXT[1:6], 0), states[:5], cache_of_head)
    cache_of_head.keep(range(5))
    # Two children of the committed text, one of them with a child of its own, in two rounds.
    first = Rows(np.array([TEXT[6], 7]), np.array([5, 5]), np.eye(2, dtype=np.bool_))
    one = head.forward(first, states[[5, 5]], cache_of_head)
    second = Rows(np.array([TEXT[7]]), np.array([6]), np.array([[True, False, True]]))
    two = head.forward(second, states[6:7], cache_of_head)
    assert np.array_equal(one[0], expected[5])
    assert np.array_equal(two[0], expected[6])


@each_kind
def test_a_long_text_is_guessed_in_pieces(kind):
    _, target, head, _ = loaded(kind, "plain")
    count = 150
    states = np.tile(states_of(target, TEXT)[target.layers], (17, 1))[:count]
    tokens = (TEXT * 17)[:count]
    whole = head.forward(Rows.text(tokens, 0), states, head.new_cache())
    again, parts = head.new_cache(), []
    for start in range(0, count, 37):
        rows = Rows.text(tokens[start : start + 37], start)
        parts.append(head.forward(rows, states[start : start + 37], again))
        again.keep(range(len(rows)))
    assert np.array_equal(np.concatenate(parts), whole)


@pytest.mark.parametrize(("kind", "form"), [(QWEN, "gguf"), (MOE, "plain"), (GLM, "packed")])
@pytest.mark.parametrize("sampled", [False, True], ids=["greedy", "sampled"])
def test_answers_turn_after_turn_equal_plain_decoding(kind, form, sampled):
    _, target, head, _ = loaded(kind, form)
    check_turns(target, head, "eagle", sampled)


def test_an_interrupted_pass_leaves_no_rows():
    _, target, head, _ = loaded(MOE, "plain")
    states = head.fuse(states_of(target, TEXT[:-1]))
    expected = head.forward(Rows.text(TEXT[1:], 0), states, head.new_cache())
    cache_of_head = head.new_cache()
    interruption.interrupt()
    try:
        with pytest.raises(Interrupted):
            head.forward(Rows.text(TEXT[1:], 0), states, cache_of_head)
    finally:
        interruption.resume()
    assert cache_of_head.tail == 0
    assert np.array_equal(head.forward(Rows.text(TEXT[1:], 0), states, cache_of_head), expected)


# -- layers that compiled steps do not cover -----------------------------------------------------------------


def opened(folder, change):
    """Open a dense model after `change` to the tensors of its files; return the target and its layer."""
    plain(Drafted(QWEN, tiny, **DELTA), folder)
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors")
    file = open_checkpoint(folder)
    return load_compiled(file, no_progress, CONTEXT), built_in_heads(file)


def test_a_layer_of_other_numbers_than_the_target_runs_through_torch(tmp_path):
    def to_double(tensors):
        tensors["mtp.fc.weight"] = tensors["mtp.fc.weight"].double()

    target, heads = opened(tmp_path, to_double)
    assert load_compiled_heads(heads, target, CONTEXT) is None
    assert load_heads(heads, target, CONTEXT).method == "eagle"


def test_a_matrix_of_another_shape_is_refused(tmp_path):
    def cut(tensors):
        tensors["mtp.fc.weight"] = tensors["mtp.fc.weight"][:, 1:].clone()

    target, heads = opened(tmp_path, cut)
    with pytest.raises(BadCheckpoint, match=r"fc\.weight"):
        load_compiled_heads(heads, target, CONTEXT)
