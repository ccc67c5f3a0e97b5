"""Assistants of Gemma 4 guess what transformers' own assistant guesses, and change no text."""

import json
import math
import random
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import GenerationConfig
from transformers.generation.candidate_generator import SinglePositionMultiTokenCandidateGenerator

from engine.checkpoints import open_checkpoint
from engine.decoding.iteration import Iterated, Prefilled, decode
from engine.decoding.verification import TargetVerifier
from engine.drafting.assistant import AssistantDrafter
from engine.drafting.eagle import DECAY
from engine.errors import BadCheckpoint, UnsupportedModel, VocabularyMismatch
from engine.heads import open_heads
from engine.heads.assistant import CENTROIDS, ORDER, assistant_for
from engine.model.description import described
from engine.model.interface import no_progress
from engine.model.rope_parameters import FULL, SLIDING
from engine.model.sequence import Sequence
from engine.protocol import Chat, Load, Message, Options
from engine.sampling import Sampler
from engine.serving.service import EngineService
from engine.torch_model.heads import load_heads
from engine.torch_model.loader import load_model
from tests.engine.decoding.test_iteration import PROMPT, RULE
from tests.engine.drafting.growing import paths
from tests.engine.heads.assistants import LARGE, ROWS, SMALL, assistant_of, guessed, likely
from tests.engine.heads.refusals import load as load_folder
from tests.engine.heads.refusals import refusal, refused
from tests.engine.heads.test_service import write_target
from tests.engine.heads.turns import check_turns
from tests.engine.models import VOCABULARY, ours, reference

CONTEXT = 96
TEXT = [8, 5, 12, 12, 15, 23, 44, 3, 9, 31, 7, 7, 50, 2, 17, 29, 11, 40]  # longer than the window
each_form = pytest.mark.parametrize("ordered", [False, True], ids=["whole", "clusters"])
each_kind = pytest.mark.parametrize("kind", [SMALL, LARGE])


@cache
def loaded(kind, ordered, vocabulary=VOCABULARY):
    """transformers' target and assistant; ours. vocabulary: the number of the target's tokens."""
    module = reference(kind, vocab_size=vocabulary, vocab_size_per_layer_input=vocabulary)
    assistant = assistant_of(module, ordered)
    target = ours(module)
    with TemporaryDirectory() as folder:
        assistant.save_pretrained(folder)
        head = load_heads(open_heads(Path(folder)), target, CONTEXT)
    return module, assistant, target, head


def read(target, text):
    """A target's rows of a text without its root, and its state before the root."""
    rows = Sequence(target, CONTEXT)
    states = rows.read(text[:-1], [target.layers]).hidden[target.layers]
    return rows.cache, states[-1:]


def rows_of(target, cache):
    return {kind: cache.rows(layer.number) for kind, layer in target.last_rows.items()}


# -- what it computes ----------------------------------------------------------------------------------------


def test_the_rows_that_it_reads_are_those_that_the_target_shares():
    module, _, target, _ = loaded(SMALL, False)
    cache_of_target, _ = read(target, TEXT)
    with torch.inference_mode():
        shared = module.model(torch.tensor([TEXT[:-1]]), return_shared_kv_states=True).shared_kv_states
    assert {kind: layer.number for kind, layer in target.last_rows.items()} == {SLIDING: 2, FULL: 3}
    for kind, found in rows_of(target, cache_of_target).items():
        torch.testing.assert_close(found, torch.cat(shared[kind]), rtol=1e-3, atol=1e-3)


def test_if_no_layer_shares_rows_it_reads_those_of_the_last_layer_of_each_type():
    _, _, target, _ = loaded(LARGE, False)
    assert {kind: layer.number for kind, layer in target.last_rows.items()} == {SLIDING: 2, FULL: 3}


@each_kind
@each_form
def test_chains_equal_those_of_transformers(kind, ordered):
    _, assistant, target, head = loaded(kind, ordered)
    cache_of_target, state = read(target, TEXT)
    head.read(cache_of_target)
    expected_state = state
    for token in (TEXT[-1], 33, 4, 4, 20):
        tokens = np.array([token])
        found = head.forward(tokens, state)
        logits, expected_state = guessed(
            assistant, target.embed(tokens), expected_state, rows_of(target, cache_of_target)
        )
        if ordered:
            chosen = found.tokens[0]
            assert sorted(chosen) == torch.nonzero(logits > logits.min()).flatten().tolist()
            logits = logits[chosen]
        else:
            assert found.tokens is None
        torch.testing.assert_close(found.logits[0], logits, rtol=1e-3, atol=1e-3)
        torch.testing.assert_close(found.states, expected_state, rtol=1e-3, atol=1e-3)
        state = found.states


@each_form
def test_beside_a_target_that_multiplies_in_float16_it_does_so_too_and_copies_no_rows(ordered, tmp_path):
    module, assistant, *_ = loaded(SMALL, ordered)
    module.save_pretrained(tmp_path / "target")
    assistant.save_pretrained(tmp_path / "assistant")
    found, sizes, states = [], [], []
    for dtype in (torch.float16, torch.float32):
        target = load_model(open_checkpoint(tmp_path / "target"), dtype, "cpu", no_progress, CONTEXT)
        head = load_heads(open_heads(tmp_path / "assistant"), target, CONTEXT)
        cache, state = read(target, TEXT)
        head.read(cache)
        memory = {rows.untyped_storage().data_ptr() for rows in cache.layers.values()}
        assert {part.untyped_storage().data_ptr() for text in head._texts for part in text} <= memory
        states.append(state)
        guessed = head.forward(np.array([9]), states[0])  # the same: the target's differ, too
        assert guessed.logits.dtype == guessed.states.dtype == torch.float32
        found.append((guessed.logits, guessed.states))
        sizes.append(head.nbytes)
    torch.testing.assert_close(*found, rtol=0.02, atol=0.02)
    assert sizes[0] < 0.6 * sizes[1]


@each_kind
def test_guesses_behind_dropped_rows_are_those_with_all_rows(kind):
    context = 4096
    module = reference(kind, max_position_embeddings=context)
    windows = described("tiny", "gemma4_text", module.config.to_dict()).windows
    target = ours(module, context, windows)
    with TemporaryDirectory() as folder:
        assistant_of(module).save_pretrained(folder)
        head = load_heads(open_heads(Path(folder)), target, context)
    text = np.random.default_rng(1).integers(3, VOCABULARY, 1400).tolist()
    found, dropped = [], []
    for cache_of_target in (target.text_cache(context), target.new_cache(context)):
        rows = Sequence(target, context, cache_of_target)
        states = rows.read(text, [target.layers]).hidden[target.layers]
        head.read(rows.cache)
        found.append(head.forward(np.array([9]), states[-1:]).logits)
        dropped.append(rows.cache.dropped)
    torch.testing.assert_close(*found, rtol=1e-3, atol=1e-3)
    assert dropped[0] > dropped[1] == 0


@each_form
def test_candidates_are_those_of_transformers_generation(ordered):
    """It hands the assistant the states, rows and positions that a drafter has to."""
    module, assistant, target, head = loaded(SMALL, ordered, vocabulary=ROWS)
    assistant.generation_config.num_assistant_tokens = 5
    generator = SinglePositionMultiTokenCandidateGenerator(
        assistant, module.get_input_embeddings(), GenerationConfig(max_length=CONTEXT)
    )
    with torch.inference_mode():
        output = module(torch.tensor([TEXT[:-1]]), output_hidden_states=True, return_shared_kv_states=True)
        candidates, _ = generator.get_candidates(
            torch.tensor([TEXT]), {}, output, is_first_iteration=False, n_last_matches=0
        )
    cache_of_target, state = read(target, TEXT)
    head.read(cache_of_target)
    found = [TEXT[-1]]
    for _ in range(5):
        guess = head.forward(np.array(found[-1:]), state)
        tokens = np.arange(ROWS) if guess.tokens is None else guess.tokens[0]
        found.append(int(tokens[guess.logits[0].argmax()]))
        state = guess.states
    assert candidates[0, len(TEXT) :].tolist() == found[1:]


@each_form
def test_rows_of_one_round_do_not_see_each_other(ordered):
    _, _, target, head = loaded(SMALL, ordered)
    cache_of_target, state = read(target, TEXT)
    head.read(cache_of_target)
    tokens, states = np.array([4, 30, 4]), torch.cat([state, state, 2 * state])
    together = head.forward(tokens, states)
    for row in range(3):
        alone = head.forward(tokens[row : row + 1], states[row : row + 1])
        torch.testing.assert_close(together.states[row], alone.states[0])
        found, expected = head.best(together, 5), head.best(alone, 5)
        assert found[0][row].tolist() == expected[0][0].tolist()
        assert found[1][row] == pytest.approx(expected[1][0], abs=1e-5)


@each_form
def test_only_tokens_that_may_follow_are_guessed(ordered):
    _, assistant, target, head = loaded(LARGE, ordered)
    cache_of_target, state = read(target, TEXT)
    head.read(cache_of_target)
    logits, _ = guessed(assistant, target.embed(np.array([9])), state, rows_of(target, cache_of_target))
    chances = likely(assistant, logits, VOCABULARY)
    best = chances.argsort(descending=True)[:8]
    allowed = np.zeros((1, VOCABULARY), np.bool_)
    allowed[0, best[[2, 5]]] = True
    tokens, log_probs = head.best(head.forward(np.array([9]), state), 4, allowed)
    assert tokens[0, :2].tolist() == best[[2, 5]].tolist()
    assert log_probs[0, :2] == pytest.approx(chances[best[[2, 5]]].log_softmax(-1), abs=1e-3)
    assert np.isneginf(log_probs[0, 2:]).all()


@each_kind
@each_form
def test_scores_in_trees_are_those_of_transformers_chains(kind, ordered):
    _, assistant, target, head = loaded(kind, ordered)
    rows, sampler = Sequence(target, CONTEXT), Sampler(seed=6, temperature=0.8)
    drafter, context, compared = AssistantDrafter(head, rows), [], 0
    verifier = TargetVerifier(rows, sampler)
    for event in decode(verifier, drafter, sampler, PROMPT, RULE, (), 6, no_progress):
        if isinstance(event, Prefilled):
            context = [*PROMPT, event.token]
        if not isinstance(event, Iterated):
            continue
        cache_of_target, state = read(target, context)
        known = {(): (context[-1], state, 0.0)}  # by path: its last token, the state before that, the score
        for path, score in sorted(paths(event.tree).items(), key=lambda each: len(each[0])):
            token, before, sum_of_scores = known[path[:-1]]
            logits, after = guessed(
                assistant, target.embed(np.array([token])), before, rows_of(target, cache_of_target)
            )
            expected = sum_of_scores + likely(assistant, logits, VOCABULARY)[path[-1]] + math.log(DECAY)
            assert score == pytest.approx(float(expected), abs=2e-3)
            known[path] = path[-1], after, expected
            compared += 1
        context += event.tokens
    assert compared > 24


# -- texts ---------------------------------------------------------------------------------------------------


@each_kind
@pytest.mark.parametrize("sampled", [False, True], ids=["greedy", "sampled"])
def test_answers_turn_after_turn_equal_plain_decoding(kind, sampled):
    _, _, target, head = loaded(kind, True)
    check_turns(target, head, "assistant", sampled)


# -- files ---------------------------------------------------------------------------------------------------


def saved(folder, ordered=True, **changes):
    """Write an assistant for the small target. changes: to its config.json, or in `layers` to its layers'."""
    assistant_of(loaded(SMALL, ordered)[0], ordered).save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text())
    config["text_config"] |= changes.pop("layers", {})
    (folder / "config.json").write_text(json.dumps(config | changes))
    return folder


def test_the_form_of_unified_models_is_the_same(tmp_path):
    _, _, target, head = loaded(SMALL, True)
    names = dict(model_type="gemma4_unified_assistant", layers=dict(model_type="gemma4_unified_text"))
    unified = load_folder(saved(tmp_path, **names), target)
    cache_of_target, state = read(target, TEXT)
    found = []
    for each in (unified, head):
        each.read(cache_of_target)
        found.append(each.forward(np.array([5]), state))
    assert torch.equal(found[0].logits, found[1].logits)


def test_layers_of_a_unified_assistant_have_what_their_own_class_assumes(tmp_path):
    names = dict(model_type="gemma4_unified_assistant", layers=dict(model_type="gemma4_unified_text"))
    file = open_heads(saved(tmp_path, **names))
    for name in ("sliding_window", "max_position_embeddings"):
        del file.config["text_config"][name]
    found = assistant_for(file, loaded(SMALL, True)[2])
    assert found.windows == (1025, 1025, None)
    assert found.description.positions == 262144


def test_a_head_that_is_not_tied_is_used(tmp_path):
    _, _, target, head = loaded(SMALL, False)
    folder = saved(tmp_path, ordered=False, tie_word_embeddings=False)
    weights = load_file(folder / "model.safetensors")
    weights["lm_head.weight"] = 2 * weights["model.embed_tokens.weight"]
    save_file(weights, folder / "model.safetensors")
    untied = load_folder(folder, target)
    cache_of_target, state = read(target, TEXT)
    found = []
    for each in (untied, head):
        each.read(cache_of_target)
        found.append(each.forward(np.array([5]), state).logits)
    torch.testing.assert_close(found[0], 2 * found[1])


@pytest.mark.parametrize(
    ("changes", "kind", "saying"),
    [
        (dict(layers=dict(enable_moe_block=True)), UnsupportedModel, "enable_moe_block"),
        (dict(layers=dict(final_logit_softcapping=30.0)), UnsupportedModel, "final_logit_softcapping"),
        (dict(layers=dict(num_kv_shared_layers=1)), UnsupportedModel, "num_kv_shared_layers"),
        (dict(layers=dict(model_type="gemma3_text")), UnsupportedModel, "model_type"),
        (dict(layers=dict(use_bidirectional_attention="all")), UnsupportedModel, "sees later ones"),
        (dict(layers=dict(residual_gate=True)), UnsupportedModel, "residual_gate"),
        (dict(output_gate=True), UnsupportedModel, "output_gate"),
        (dict(backbone_hidden_size=64), BadCheckpoint, "states of 64 numbers"),
        (dict(backbone_hidden_size=None), BadCheckpoint, "backbone_hidden_size"),
        (dict(layers=dict(vocab_size=VOCABULARY - 1)), VocabularyMismatch, "60 tokens"),
        (
            dict(layers=dict(num_key_value_heads=1, per_layer_config=None)),
            BadCheckpoint,
            "1 heads of width 8",
        ),
        (dict(num_centroids=12), BadCheckpoint, "into 12 clusters"),
        (dict(centroid_intermediate_top_k=9), BadCheckpoint, "centroid_intermediate_top_k"),
        (dict(text_config=3), BadCheckpoint, "text_config"),
    ],
    ids=str,
)
def test_what_is_unknown_or_does_not_fit_is_refused_by_name(tmp_path, changes, kind, saying):
    with refused(kind, saying):
        load_folder(saved(tmp_path, **changes), loaded(SMALL, True)[2])


def test_damaged_tensors_are_refused(tmp_path):
    folder = saved(tmp_path)
    weights = load_file(folder / "model.safetensors")
    target = loaded(SMALL, True)[2]
    for name, tensor in ((ORDER, torch.zeros(ROWS, dtype=torch.int64)), (CENTROIDS, torch.zeros(3, 16))):
        save_file(weights | {name: tensor}, folder / "model.safetensors")
        with refused(BadCheckpoint, name.replace(".", r"\.")):
            load_folder(folder, target)
    (folder / "model.safetensors").unlink()
    with refused(BadCheckpoint, r"model\.safetensors"):
        load_folder(folder, target)


def test_changed_bytes_give_named_errors_only(tmp_path):
    folder, target = saved(tmp_path), loaded(SMALL, True)[2]
    chance, refusals = random.Random(3), 0
    for file in (folder / "config.json", folder / "model.safetensors"):
        whole = file.read_bytes()
        for _ in range(80):
            at = chance.randrange(min(3000, len(whole)))
            file.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << chance.randrange(8)]) + whole[at + 1 :])
            if error := refusal(folder, target):
                assert error.message
                assert error.hint
                refusals += 1
        file.write_bytes(whole)
    assert refusals > 60
    load_folder(folder, target)


def test_a_target_of_another_architecture_is_refused(tmp_path):
    with refused(BadCheckpoint, "the target has none there"):
        load_folder(saved(tmp_path), ours(reference("llama")))


# -- beside its target ---------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    return target_in(tmp_path / "target")


def target_in(folder):
    """Write a tiny target of random weights."""
    write_target(folder)
    reference(SMALL).save_pretrained(folder)
    return folder


def load(folder, **settings):
    engine = EngineService()
    request = Load(id=1, target=str(folder), dtype="float32", device="cpu", context=96, **settings)
    return engine, engine.load(request, lambda event: None, lambda: False)


def answer(engine, drafter):
    options = Options(drafter=drafter, seed=4, temperature=1.0, max_new_tokens=20, budget=8)
    request = Chat(id=2, messages=[Message("user", "HELLO")], options=options)
    return engine.answer(request, lambda event: None, lambda: False)


@pytest.mark.parametrize("place", ["elsewhere", "target-assistant", "target/assistant"])
def test_it_loads_as_a_draft_or_by_itself_where_it_lies_beside_its_target(folder, place):
    own = saved(folder.parent / place)
    engine, found = load(folder, **(dict(draft=str(own)) if place == "elsewhere" else {}))
    assert (found.draft.architecture, found.draft.path, found.draft.layers) == ("assistant", str(own), 3)
    assert {"assistant", "merged"} <= set(found.drafters)
    plain = answer(engine, "none").token_ids
    assert answer(engine, "assistant").token_ids == answer(engine, "merged").token_ids == plain
    engine.unload()


@pytest.mark.parametrize("fault", ["of another model", "damaged"])
def test_an_assistant_that_does_not_fit_hinders_no_target(folder, fault):
    own = saved(folder.with_name("target-assistant"))
    if fault == "damaged":
        (own / "model.safetensors").write_bytes(b"{}")
    else:
        config = json.loads((own / "config.json").read_text())
        (own / "config.json").write_text(json.dumps(config | {"backbone_hidden_size": 48}))
    engine, found = load(folder)
    assert found.draft is None
    engine.unload()


def test_other_models_beside_a_target_are_no_assistants(folder):
    other = folder.with_name("target-assistant")
    reference("llama").save_pretrained(other)
    engine, found = load(folder)
    assert found.draft is None
    engine.unload()
