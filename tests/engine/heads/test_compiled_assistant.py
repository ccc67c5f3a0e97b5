"""An assistant of Gemma 4 beside a compiled target guesses what it guesses through torch."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch

from engine.decoding.iteration import Iterated, decode
from engine.decoding.verification import TargetVerifier
from engine.drafting.assistant import AssistantDrafter
from engine.heads import load_compiled_heads, open_heads
from engine.heads.compiled_assistant import CompiledAssistantHead
from engine.model.compiled import CompiledModel
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.protocol import Load
from engine.sampling import Sampler
from engine.serving.service import EngineService
from engine.torch_model.heads import load_heads
from tests.engine.decoding.test_iteration import PROMPT, RULE
from tests.engine.drafting.growing import paths
from tests.engine.heads.assistants import LARGE, SMALL, assistant_of
from tests.engine.heads.test_assistant import TEXT, answer
from tests.engine.heads.test_service import write_target
from tests.engine.heads.turns import check_turns
from tests.engine.model.compiled_models import random_text, saved, tiny

CONTEXT = 96
each_form = pytest.mark.parametrize(
    ("kind", "ordered", "stored"),
    [(SMALL, True, "F16"), (LARGE, False, "F16"), (LARGE, True, "Q8_0")],
)


@cache
def loaded(kind, ordered, stored="F16"):
    """A compiled target; its assistant compiled, and through torch. stored: the format of its KV cache."""
    module = tiny(kind)
    target = saved(module, context=CONTEXT, cache=stored)
    assert isinstance(target, CompiledModel)
    with TemporaryDirectory() as folder:
        assistant_of(module, ordered).save_pretrained(folder)
        file = open_heads(Path(folder))
        fast, slow = load_compiled_heads(file, target, CONTEXT), load_heads(file, target, CONTEXT)
    assert isinstance(fast, CompiledAssistantHead)
    return target, fast, slow


def read(target, text):
    rows = Sequence(target, CONTEXT)
    states = rows.read(text[:-1], [target.layers]).hidden[target.layers]
    return rows.cache, states[-1:]


@each_form
def test_both_report_the_same_assistant(kind, ordered, stored):
    _, fast, slow = loaded(kind, ordered, stored)
    for name in ("method", "layers", "hidden_layers", "parameters", "vocabulary"):
        assert getattr(fast, name) == getattr(slow, name)
    assert fast.nbytes < slow.nbytes / 2


@each_form
def test_guesses_are_near_those_through_torch(kind, ordered, stored):
    """Weights and activations are rounded to eight bits, which torch does not do."""
    target, fast, slow = loaded(kind, ordered, stored)
    cache_of_target, state = read(target, TEXT)
    tokens, states = np.array([TEXT[-1], 33, 4]), np.concatenate([state, -state, 2 * state])
    fast.read(cache_of_target)
    slow.read(cache_of_target)
    found, expected = fast.forward(tokens, states), slow.forward(tokens, torch.from_numpy(states))
    similarity = torch.nn.functional.cosine_similarity
    assert similarity(torch.from_numpy(found.states), expected.states, dim=-1).min() > 0.99
    if not ordered:
        assert similarity(torch.from_numpy(found.logits), expected.logits, dim=-1).min() > 0.99
    (best, log_probs), (expected_best, expected_log_probs) = (
        head.best(each, 10) for head, each in ((fast, found), (slow, expected))
    )
    same = [len({*a} & {*b}) for a, b in zip(best.tolist(), expected_best.tolist(), strict=True)]
    assert sum(same) > 7 * len(same)
    assert np.abs(log_probs[:, 0] - expected_log_probs[:, 0]).max() < 0.3


@each_form
def test_a_row_does_not_depend_on_the_others(kind, ordered, stored):
    target, fast, _ = loaded(kind, ordered, stored)
    cache_of_target, state = read(target, TEXT)
    fast.read(cache_of_target)
    count = 70  # more than one run takes
    tokens = np.arange(count) % 50
    states = state * np.linspace(-2, 2, count, dtype=np.float32)[:, None]
    together = fast.forward(tokens, states)
    best = fast.best(together, 5)
    for row in (0, 33, 69):
        alone = fast.forward(tokens[row : row + 1], states[row : row + 1])
        assert np.array_equal(alone.states[0], together.states[row])
        for found, expected in zip(fast.best(alone, 5), best, strict=True):
            assert np.array_equal(found[0], expected[row])


@pytest.mark.parametrize("kind", [SMALL, LARGE])
def test_guesses_behind_dropped_rows_are_those_with_all_rows(kind):
    context = 4096
    module = tiny(kind, max_position_embeddings=context)
    target = saved(module, context=context)
    with TemporaryDirectory() as folder:
        assistant_of(module).save_pretrained(folder)
        file = open_heads(Path(folder))
        heads = load_compiled_heads(file, target, context), load_heads(file, target, context)
    few, every = Sequence(target, context), Sequence(target, context, target.new_cache(context))
    for count in (1400, 100, 1):  # the first rows are dropped only by the second pass
        text = random_text(count)
        states = [rows.read(text, [target.layers]).hidden[target.layers][-1:] for rows in (few, every)]
        for head in heads:
            found = []
            for rows, state in zip((few, every), states, strict=True):
                head.read(rows.cache)
                found.append(head.forward(np.array([9]), state).logits)
            np.testing.assert_array_equal(*found)
    assert few.cache.dropped


def test_guesses_depend_on_what_the_window_and_full_attention_reach():
    """A token before the window, and one within it, change the guess; the root's row is not read."""
    target, fast, _ = loaded(LARGE, False)
    _, state = read(target, TEXT)
    guesses = []
    for text in (TEXT, [40, *TEXT[1:]], [*TEXT[:-2], 40, TEXT[-1]], [*TEXT[:-1], 40]):
        cache_of_target, _ = read(target, text)
        fast.read(cache_of_target)
        guesses.append(fast.forward(np.array([5]), state).logits)
    assert not np.array_equal(guesses[0], guesses[1])
    assert not np.array_equal(guesses[0], guesses[2])
    assert np.array_equal(guesses[0], guesses[3])


@each_form
@pytest.mark.parametrize("sampled", [False, True], ids=["greedy", "sampled"])
def test_answers_turn_after_turn_equal_plain_decoding(kind, ordered, stored, sampled):
    target, fast, _ = loaded(kind, ordered, stored)
    check_turns(target, fast, "assistant", sampled)


def test_trees_are_much_like_those_through_torch():
    target, fast, slow = loaded(LARGE, False)
    texts, found = [], []
    for head in (fast, slow):
        rows, sampler = Sequence(target, CONTEXT), Sampler(seed=6, temperature=0.8)
        verifier = TargetVerifier(rows, sampler)
        stream = decode(verifier, AssistantDrafter(head, rows), sampler, PROMPT, RULE, (), 12, no_progress)
        iterations = [event for event in stream if isinstance(event, Iterated)]
        texts.append([token for event in iterations for token in event.tokens])
        found.append(paths(iterations[0].tree))
    assert texts[0] == texts[1]
    assert len(found[0].keys() & found[1].keys()) > 0.6 * len(found[1])


def test_the_engine_loads_it_compiled_beside_a_compiled_target(tmp_path):
    folder = write_target(tmp_path / "target")
    module = tiny(SMALL)
    module.save_pretrained(folder)
    assistant_of(module, True).save_pretrained(tmp_path / "target-assistant")
    engine = EngineService()
    found = engine.load(
        Load(id=1, target=str(folder), device="cpu", context=96), lambda event: None, lambda: False
    )
    pair = engine.session.pair
    assert isinstance(pair.target.model, CompiledModel)
    assert isinstance(pair.heads, CompiledAssistantHead)
    assert found.draft.nbytes == pair.heads.nbytes > 0
    plain = answer(engine, "none").token_ids
    assert answer(engine, "assistant").token_ids == answer(engine, "merged").token_ids == plain
    engine.unload()
