"""P-EAGLE and DFlash heads as compiled programs guess what they guess through torch."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch

from engine import interruption
from engine.drafting import DrafterParts, make_drafter
from engine.errors import BadCheckpoint, Interrupted
from engine.heads import compiled_dflash, compiled_p_eagle, load_compiled_heads, open_heads
from engine.model.compiled import CompiledModel
from engine.model.sequence import Sequence
from engine.protocol import Chat, Message, Options
from engine.sampling import Sampler
from engine.serving.pair import LoadedPair
from engine.serving.session import Session
from engine.torch_model.heads import load_heads
from tests.engine.decoding.test_iteration import run
from tests.engine.heads import made, training
from tests.engine.heads.test_modules import TEXT, WINDOWS
from tests.engine.heads.test_trained import BUDGET, LEAST, PROMPTS, surely_above, tokens_per_pass
from tests.engine.model.compiled_models import saved
from tests.engine.models import VOCABULARY, reference
from tests.engine.test_every_drafter import Letters

CONTEXT = 160
COMPILED = {
    "p-eagle": compiled_p_eagle.CompiledPEagleHead,
    "dflash": compiled_dflash.CompiledDFlashHead,
}
# Sizes that compiled steps cover, as the tests' heads name them and as configurations do.
SIZES = dict(WIDTH=64, INNER=96, HEADS=2, KV_HEADS=1, HEAD_DIM=32)
CHANGES = dict(
    hidden_size=64, intermediate_size=96, num_attention_heads=2, num_key_value_heads=1, head_dim=32
)
EVERY = {
    "p-eagle": ("p-eagle", {}),
    "dflash": ("dflash", {}),
    "dflash, windows": ("dflash", WINDOWS),
    "dflash, windows both ways": ("dflash", WINDOWS | {"is_causal": False}),
    "dflash, causal": ("dflash", {"is_causal": True}),
}
every = pytest.mark.parametrize("name", EVERY)
each_kind = pytest.mark.parametrize("kind", COMPILED)


@pytest.fixture(scope="module", autouse=True)
def sizes():
    with pytest.MonkeyPatch.context() as patch:
        for name, size in SIZES.items():
            patch.setattr(made, name, size)
        yield


@cache
def target():
    found = saved(reference("llama", num_hidden_layers=4, **CHANGES), context=CONTEXT)
    assert isinstance(found, CompiledModel)
    return found


def opened(folder, kind, weights=None, **changes):
    weights = made.random_weights(kind) if weights is None else weights
    return open_heads(made.save(Path(folder), kind, weights, **CHANGES | changes))


def both(file, of):
    """The head compiled, and through torch."""
    fast, slow = load_compiled_heads(file, of, CONTEXT), load_heads(file, of, CONTEXT)
    assert isinstance(fast, COMPILED[file.kind])
    return fast, slow


@cache
def heads(name):
    kind, changes = EVERY[name]
    with TemporaryDirectory() as folder:
        return both(opened(folder, kind, **changes), target())


def states_of(head, rows, seed=0):
    """The target's states at so many tokens, made up."""
    random = np.random.default_rng(seed)
    return {layer: random.standard_normal((rows, 64), np.float32) for layer in head.hidden_layers}


def assert_near(found, expected):
    """Weights and activations are rounded to eight bits, which torch does not do."""
    found, expected = torch.as_tensor(found), torch.as_tensor(expected)
    assert torch.nn.functional.cosine_similarity(found, expected, dim=-1).min() > 0.998


@every
def test_both_report_the_same_head(name):
    fast, slow = heads(name)
    for attribute in ("method", "layers", "hidden_layers", "parameters", "vocabulary", "positions"):
        assert getattr(fast, attribute) == getattr(slow, attribute)
    assert fast.nbytes < slow.nbytes


def pieces_guessed(head):
    """The logits behind three roots of one text, whose states come in pieces."""
    cache_of_head, states, found = head.new_cache(), head.fuse(states_of(head, len(TEXT))), []
    for start, root in ((0, 7), (7, 8), (8, 11)):
        found.append(head.guess(TEXT[start + 1 : root + 1], states[start:root], cache_of_head))
        assert (cache_of_head.length, cache_of_head.tail) == (root, 0)
        found[-1] = torch.as_tensor(found[-1]).clone()
    return states, torch.cat(found)


@every
def test_guesses_are_near_those_through_torch(name):
    (states, found), (expected_states, expected) = map(pieces_guessed, heads(name))
    assert_near(states, expected_states)
    assert_near(found, expected)
    (tokens, log_probs), (best, best_log_probs) = (head.best(expected.numpy(), 6) for head in heads(name))
    assert np.array_equal(tokens, best)
    assert np.array_equal(log_probs, best_log_probs)


def test_a_p_eagle_head_with_an_embedding_of_its_own_is_compiled_too(tmp_path):
    weights = made.random_weights("p-eagle")
    weights["embed_tokens.weight"] = torch.randn(VOCABULARY, 64)
    (_, found), (_, expected) = map(pieces_guessed, both(opened(tmp_path, "p-eagle", weights), target()))
    assert_near(found, expected)
    _, others = pieces_guessed(heads("p-eagle")[0])
    assert torch.nn.functional.cosine_similarity(found, others, dim=-1).min() < 0.9


@every
def test_a_long_text_in_pieces_gives_the_same_bits(name):
    head, count = heads(name)[0], 150  # more rows than a run has
    states, tokens = head.fuse(states_of(head, count)), (TEXT * 13)[: count + 1]
    whole = head.guess(tokens[1:], states, head.new_cache()).copy()
    again = head.new_cache()
    for start in range(0, count, 37):
        stop = min(start + 37, count)
        found = head.guess(tokens[start + 1 : stop + 1], states[start:stop], again)
    assert np.array_equal(found, whole)


@pytest.fixture
def one_thread():
    """Products of so small a size take longest where threads wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@cache
def trained_target():
    """transformers' model, and the compiled one."""
    sizes = {name: size for name, size in CHANGES.items() if name != "head_dim"}
    module = training.train_target(100, **sizes)
    return module, saved(module, context=CONTEXT)


@each_kind
def test_trained_heads_have_as_many_guesses_accepted_as_through_torch(kind, tmp_path, one_thread):
    module, of = trained_target()
    found = []
    for head in both(opened(tmp_path, kind, training.train(kind, module, 64)), of):
        drafters = [make_drafter(kind, DrafterParts(of.vocabulary, heads=head)) for _ in PROMPTS]
        runs = [
            run(of, drafter, prompt, Sampler(), BUDGET, beams=4, depth=8, max_new_tokens=24)
            for drafter, prompt in zip(drafters, PROMPTS, strict=True)
        ]
        found.append((sum(each.passes for each in runs), [each.tokens for each in runs], runs))
    (passes, texts, runs), (expected_passes, expected_texts, _) = found
    print(f"{kind}: {passes} passes, {expected_passes} through torch")
    assert texts == expected_texts
    assert passes == pytest.approx(expected_passes, rel=0.05)
    assert surely_above(tokens_per_pass(runs)) > LEAST[kind]


@pytest.mark.parametrize("sampled", [False, True], ids=["greedy", "sampled"])
@each_kind
def test_answers_turn_after_turn_equal_plain_decoding(kind, sampled):
    setting = dict(temperature=1.0, top_p=0.9, repetition_penalty=1.2) if sampled else dict(temperature=0.0)
    sessions = {
        drafter: Session(LoadedPair(Sequence(target(), CONTEXT), None, Letters(), heads(kind)[0]))
        for drafter in ("none", kind, "merged")
    }
    messages = []
    for turn in ("xHello", "again"):
        messages.append(Message("user", turn))
        texts = {}
        for drafter, session in sessions.items():
            options = Options(drafter=drafter, seed=3, max_new_tokens=20, budget=12, **setting)
            chat = Chat(id=0, messages=messages, options=options)
            answer = session.answer(chat, lambda event: None, lambda: False)
            texts[drafter] = answer.token_ids
        assert texts[kind] == texts["merged"] == texts["none"]
        messages.append(Message("assistant", "x"))


@each_kind
def test_an_interrupted_pass_leaves_no_rows(kind):
    head = heads(kind)[0]
    states = head.fuse(states_of(head, 9))
    expected = head.guess(TEXT[1:10], states, head.new_cache()).copy()
    cache_of_head = head.new_cache()
    interruption.interrupt()
    try:
        with pytest.raises(Interrupted):
            head.guess(TEXT[1:10], states, cache_of_head)
    finally:
        interruption.resume()
    assert (cache_of_head.length, cache_of_head.tail) == (0, 0)
    assert np.array_equal(head.guess(TEXT[1:10], states, cache_of_head), expected)


@pytest.mark.parametrize(
    "change",
    [
        lambda weights: weights.update({"fc.bias": torch.ones(64)}),
        lambda weights: weights.update({"norm.weight": torch.ones(32)}),
        lambda weights: weights.pop("norm.weight"),
    ],
    ids=["a bias", "a short norm", "a missing norm"],
)
@each_kind
def test_heads_with_other_tensors_are_left_to_torch(tmp_path, kind, change):
    weights = made.random_weights(kind)
    change(weights)
    assert load_compiled_heads(opened(tmp_path, kind, weights), target(), CONTEXT) is None


@each_kind
def test_a_mask_token_that_no_embedding_has_is_refused(tmp_path, kind):
    mask = VOCABULARY + 5
    flash = {"dflash_config": {"mask_token_id": mask, "target_layer_ids": made.READ}}
    own = {"p-eagle": {"ptd_token_id": mask}, "dflash": flash}[kind]
    with pytest.raises(BadCheckpoint, match="mask token 66 is not in"):
        load_compiled_heads(opened(tmp_path, kind, **own), target(), CONTEXT)
