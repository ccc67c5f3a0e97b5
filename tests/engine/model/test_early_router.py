"""The router of the next layer, asked early: it chooses as that layer does, and results stay the same. What
tokens chose when they were last read stands for it."""

import numpy as np
import pytest
import torch

from engine.compiled import expert_steps
from engine.errors import Interrupted
from engine.model.interface import no_progress
from engine.model.loader import load_compiled
from engine.streaming import WeightLimits
from engine.streaming.early_routers import AHEAD, PLACES, RECALLED, EarlyRouters
from tests.engine.model.compiled_models import CONTEXT, TEXT, all_logits, random_text, stored, tiny
from tests.engine.model.test_compiled_experts import every_mixture

# What writes to the residual states.
WRITES = ("o_proj", "out_proj", "down_proj", "output_linear")


@pytest.fixture(autouse=True)
def _always(monkeypatch):
    """Ask, whatever that brings: tiny experts are read faster than a router is asked."""
    monkeypatch.setattr(EarlyRouters, "pays", lambda self, turn, ahead, rows: ahead <= AHEAD)


def unchanging(kind, **changes):
    """A tiny model whose layers add nothing to the states."""
    module = tiny(kind, **changes)
    with torch.no_grad():
        for name, weight in module.named_parameters():
            if any(part in name for part in WRITES):
                weight.zero_()
    return module


def loaded(module, folder):
    """The model streamed, with room for all weights except most experts."""
    file = stored(module, folder)
    experts = sum(weight.nbytes for name, weight in file.weights.items() if ".experts." in name)
    others = sum(weight.nbytes for name, weight in file.weights.items()) - experts
    limits = WeightLimits(int(1.05 * others + 0.75 * experts))
    model = load_compiled(file, no_progress, CONTEXT, limits=limits)
    assert model.experts is not None
    return model


def notes(model, monkeypatch):
    """Note what the streamer is told: (mixture, experts of each row, whether early)."""
    told, streamer = [], model.streamer

    def note(name, early):
        call = getattr(streamer, name)

        def noted(*given):
            rows = [[id(each) for each in row] for row in given[-1]]
            told.append((streamer._places[rows[0][0]][1].mixture, rows, early))
            call(*given)

        monkeypatch.setattr(streamer, name, noted)

    note("choose", False)
    note("expect", True)
    return told


@every_mixture
def test_a_router_says_early_what_it_chooses_where_states_stay_as_they_are(kind, tmp_path, monkeypatch):
    more = {"olmoe": {"num_experts": 8}}  # with fewer, the cache leaves no room for routers
    model = loaded(unchanging(kind, **more.get(kind, {})), tmp_path)
    told = notes(model, monkeypatch)
    for text in ([5], random_text(7)):
        model.streamer._cache.clear()
        all_logits(model, text)
    mixtures = sum(not early for _, _, early in told) // 2
    assert said_and_chosen(told, 2 * (mixtures - 1)) > 0
    model.close()


def said_and_chosen(told, count):
    """Check that so many routers said what their mixtures chose next; return the count."""
    pairs = []
    for number, (mixture, rows, early) in enumerate(told):
        if early:
            pairs.append((rows, next(chosen for one, chosen, _ in told[number + 1 :] if one == mixture)))
    assert len(pairs) == count
    assert all(said == chosen for said, chosen in pairs)
    return count


def test_a_router_says_it_two_layers_early(tmp_path, monkeypatch):
    monkeypatch.setattr(EarlyRouters, "pays", lambda self, turn, ahead, rows: ahead == 2)
    model = loaded(unchanging("qwen3_moe", num_experts=16, num_hidden_layers=4), tmp_path)
    told = notes(model, monkeypatch)
    all_logits(model, [5])
    assert said_and_chosen(told, 2) == 2
    assert [(mixture, early) for mixture, _, early in told] == [
        (0, False), (2, True), (1, False), (3, True), (2, False), (3, False)
    ]  # fmt: skip
    model.close()


def test_misses_vanish_where_a_router_says_early_what_it_chooses(tmp_path, monkeypatch):
    module = unchanging("qwen3_moe", num_experts=16, num_hidden_layers=4)
    model = loaded(module, tmp_path)
    cache, told = model.streamer._cache, []
    expect = model.streamer.expect

    def wait(rows):
        expect(rows)
        with cache._changed:
            told.append(cache._policy.guess())
            assert cache._changed.wait_for(lambda: cache._ready[told[-1]].all(), timeout=60)

    monkeypatch.setattr(model.streamer, "expect", wait)
    for token in random_text(12):
        before = model.experts
        all_logits(model, [token])
        done = model.experts - before
        assert done.misses <= 3  # of the first layer, which is not asked early
        assert done.hits >= 9
    assert len(told) == 12 * 3
    assert model.experts.right > 0
    model.close()


def test_results_are_the_same_whether_routers_are_asked_or_not(tmp_path, monkeypatch):
    module = tiny("qwen3_moe", num_experts=16, num_hidden_layers=4)
    model = loaded(module, tmp_path)
    texts = [TEXT, *([token] for token in random_text(10)), random_text(CONTEXT // 2)]
    found = [all_logits(model, text) for text in texts]
    assert model.experts.predicted > 0
    monkeypatch.setattr(EarlyRouters, "pays", lambda self, turn, ahead, rows: False)
    assert all(np.array_equal(all_logits(model, text), one) for text, one in zip(texts, found, strict=True))
    model.close()


def test_what_a_mixture_waits_counts_for_the_way_in_which_its_router_was_asked(tmp_path, monkeypatch):
    noted, asked = [], []
    monkeypatch.setattr(
        EarlyRouters, "pays", lambda self, turn, ahead, rows: (turn, ahead) in {(1, 1), (2, 2)}
    )
    monkeypatch.setattr(EarlyRouters, "waited", lambda self, seconds, *how: noted.append(how))
    monkeypatch.setattr(EarlyRouters, "asked", lambda self, seconds, rows: asked.append(rows))
    model = loaded(tiny("qwen3_moe", num_experts=16, num_hidden_layers=4), tmp_path)
    for text in ([5], random_text(3)):
        model.streamer._cache.clear()
        all_logits(model, text)
    assert noted == [(turn, ahead, rows) for rows in (1, 3) for turn, ahead in ((1, 1), (2, 2), (3, 0))]
    assert asked == [1, 1, 3, 3]
    model.close()


def test_after_a_pass_that_was_interrupted_the_same_routers_are_asked(tmp_path, monkeypatch):
    model = loaded(tiny("qwen3_moe", num_experts=16, num_hidden_layers=4), tmp_path)
    expected = all_logits(model, [5])
    calls, expect = [], model.streamer.expect

    def interrupted(rows):
        calls.append(rows)
        if len(calls) > 1:  # what was said first is known, and the second router has been asked
            raise Interrupted("The pass was interrupted.")
        expect(rows)

    with monkeypatch.context() as patched:
        patched.setattr(model.streamer, "expect", interrupted)
        with pytest.raises(Interrupted):
            all_logits(model, [5])
    told = notes(model, monkeypatch)
    assert np.array_equal(all_logits(model, [5]), expected)
    assert [(mixture, early) for mixture, _, early in told] == [
        (0, False), (1, True), (2, True), (1, False), (3, True), (2, False), (3, False)
    ]  # fmt: skip
    model.close()


def test_no_router_is_asked_by_a_pass_of_many_rows(tmp_path, monkeypatch):
    model = loaded(tiny("qwen3_moe", num_experts=16), tmp_path)
    monkeypatch.setattr(expert_steps, "ASKED_ROWS", 4)
    told = notes(model, monkeypatch)
    all_logits(model, random_text(5))
    assert told
    assert not any(early for _, _, early in told)
    model.streamer._cache.clear()
    all_logits(model, random_text(4))
    assert any(early for _, _, early in told)
    model.close()


def test_what_a_token_chose_last_is_expected_before_the_first_mixture_chooses(tmp_path, monkeypatch):
    monkeypatch.setattr(EarlyRouters, "pays", lambda self, turn, ahead, rows: ahead == RECALLED)
    model = loaded(unchanging("qwen3_moe", num_experts=16, num_hidden_layers=4), tmp_path)
    told, recalled = notes(model, monkeypatch), []
    cache, begin = model.streamer._cache, model.streamer.begin_pass

    def noted(tokens):
        begin(tokens)
        with cache.changed:
            said = cache._policy._told.get(0)
            recalled.append(said and {*np.flatnonzero(said[0].places < PLACES).tolist()})

    monkeypatch.setattr(model.streamer, "begin_pass", noted)
    for text in ([5], [7], [5, 6]):
        all_logits(model, text)
    first = [rows[0] for mixture, rows, _ in told if mixture == 0]
    assert first[2] == first[0]
    assert recalled == [None, None, {model.streamer._places[each][0] for each in first[0]}]
    model.close()


def test_results_are_the_same_whatever_is_recalled(tmp_path, monkeypatch):
    module = tiny("qwen3_moe", num_experts=16, num_hidden_layers=4)
    model = loaded(module, tmp_path)
    texts = [TEXT, *([token] for token in random_text(10)), TEXT]
    monkeypatch.setattr(EarlyRouters, "pays", lambda self, turn, ahead, rows: False)
    found = [all_logits(model, text) for text in texts]
    monkeypatch.setattr(EarlyRouters, "pays", lambda self, turn, ahead, rows: ahead == RECALLED)
    before = model.experts.predicted
    assert all(np.array_equal(all_logits(model, text), one) for text, one in zip(texts, found, strict=True))
    assert model.experts.predicted > before
    model.close()
