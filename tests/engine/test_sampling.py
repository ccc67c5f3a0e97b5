import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import (
    LogitsProcessorList,
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    SuppressTokensAtBeginLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from engine import sampling
from engine.sampling import (
    NOT_NUMBERS,
    TARGET_STREAM,
    XTC_STREAM,
    Sampler,
    TokenHistory,
    gumbel_noise,
    philox,
    uniforms,
)


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [  # known answers published with Random123, the reference implementation
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_philox_gives_the_known_answers(counter, key, expected):
    words = philox(tuple(np.array([word]) for word in counter), key)
    assert tuple(int(word[0]) for word in words) == expected


def test_noise_of_a_token_does_not_depend_on_the_other_tokens():
    everything = gumbel_noise(7, 123, torch.arange(1000))
    some = torch.tensor([3, 999, 4, 500])
    assert torch.equal(gumbel_noise(7, 123, some), everything[some])


def test_noise_differs_by_seed_and_position():
    tokens = torch.arange(64)
    one = gumbel_noise(7, 123, tokens)
    for seed, position in [(8, 123), (7, 124), (7 + 2**32, 123)]:
        assert not torch.isclose(gumbel_noise(seed, position, tokens), one).any()


def test_noise_is_standard_gumbel():
    noise = gumbel_noise(1, 2, torch.arange(200_000))
    assert torch.isfinite(noise).all()
    assert abs(noise.mean().item() - 0.577216) < 4 * math.pi / math.sqrt(6 * 200_000)
    assert abs(noise.var().item() - math.pi**2 / 6) < 0.03


def test_choices_follow_the_distribution():
    """Chi-squared over 20,000 positions, with every filter on."""
    logits = torch.tensor([2.0, 1.0, 0.5, 0.0, -1.0, -3.0, 1.5, 0.2])
    sampler = Sampler(seed=11, temperature=0.8, top_k=6, top_p=0.95, min_p=0.01)
    draws = 20_000
    rows, positions = logits.expand(draws, -1), torch.arange(draws)
    chosen = sampler.choose(rows, positions, TokenHistory([], [[]] * draws))
    expected = sampler.probabilities(logits[None], TokenHistory([], [[]]))[0] * draws
    possible = expected > 0
    counts = torch.bincount(torch.from_numpy(chosen), minlength=len(logits))
    assert counts[~possible].sum() == 0
    chi_squared = ((counts - expected) ** 2 / expected)[possible].sum().item()
    assert possible.sum() == 5
    assert chi_squared < 25.0, "p < 0.0001 at four degrees of freedom"


processor_settings = st.fixed_dictionaries(
    dict(
        temperature=st.floats(0.1, 3.0),
        top_k=st.sampled_from([0, 1, 5, 40, 5000]),
        top_p=st.sampled_from([1.0, 0.95, 0.7, 0.2, 0.01]),
        min_p=st.sampled_from([0.0, 0.02, 0.3]),
        repetition_penalty=st.sampled_from([1.0, 1.3, 0.8]),
    )
)


@settings(max_examples=120, deadline=None)
@given(setting=processor_settings, seed=st.integers(0, 1000), spread=st.sampled_from([0.3, 2.0, 8.0]))
def test_processors_equal_transformers(setting, seed, spread):
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(3000, generator=generator) * spread
    path = torch.randint(0, 3000, (50,), generator=generator).tolist()
    processors = LogitsProcessorList()
    if setting["repetition_penalty"] != 1.0:
        processors.append(RepetitionPenaltyLogitsProcessor(setting["repetition_penalty"]))
    processors.append(TemperatureLogitsWarper(setting["temperature"]))
    if setting["top_k"]:
        processors.append(TopKLogitsWarper(setting["top_k"]))
    if setting["top_p"] < 1.0:
        processors.append(TopPLogitsWarper(setting["top_p"]))
    if setting["min_p"]:
        processors.append(MinPLogitsWarper(setting["min_p"]))
    expected = processors(torch.tensor([path]), logits[None].clone())[0]
    sampler = Sampler(seed=seed, **setting)
    values, tokens = sampler.filtered(sampler.penalised(logits[None], TokenHistory(path, [[]])), 3000)
    values, tokens = values[0], tokens[0]
    passing = torch.isfinite(values)
    kept = set(torch.isfinite(expected).nonzero().flatten().tolist())
    # The two sum in a different order and differ in the last bits: a token at the very edge may fall on
    # either side, as may several that are too improbable to change the sum.
    disputed = logits.div(setting["temperature"]).softmax(0)[sorted(kept ^ set(tokens[passing].tolist()))]
    assert disputed.sort().values[:-1].sum() < 1e-5
    common = torch.tensor([token in kept for token in tokens.tolist()]) & passing
    torch.testing.assert_close(values[common], expected[tokens[common]], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_only_the_first_token_of_an_answer_is_kept_from_some(library):
    """As transformers' processor does, which knows the length of the prompt; 5,000 is no row of the head."""
    logits = torch.randn(3, 8, generator=torch.Generator().manual_seed(1))
    sampler = Sampler(first=2, first_suppressed=frozenset({1, 6, 5000}))
    given_logits = logits.numpy() if library == "numpy" else logits
    found = torch.as_tensor(sampler.penalised(given_logits, TokenHistory([3, 4], [[], [5], [5, 1]])))
    processor = SuppressTokensAtBeginLogitsProcessor([1, 6], begin_index=2)
    paths = zip([[3, 4], [3, 4, 5], [3, 4, 5, 1]], logits, strict=True)
    expected = [processor(torch.tensor([path]), row[None])[0] for path, row in paths]
    assert torch.equal(found, torch.stack(expected))
    for context in ([3, 4, 5], [3, 4, 5, 1]):
        behind = sampler.behind(context)
        assert not behind.alters
        assert not behind.looks_back
    assert sampler.behind([3, 4]) is sampler
    begun = Sampler(first_suppressed=frozenset({1, 6}))
    found = begun.penalised(given_logits[:1], TokenHistory([3, 4], [[]]))
    assert torch.equal(torch.as_tensor(found), logits[:1])


def test_penalties_count_the_tokens_before_each_row():
    """Presence and frequency penalties follow OpenAI's documentation; the repetition penalty is applied
    first, the bias before all penalties."""
    logits = torch.tensor([[1.0, 2.0, -3.0, 0.5, 0.0]]).repeat(2, 1)
    sampler = Sampler(
        repetition_penalty=2.0, presence_penalty=0.25, frequency_penalty=0.1, logit_bias={0: 3.0, 4: -1.0}
    )
    found = sampler.penalised(logits, TokenHistory([0, 2, 2], [[], [1, 0]]))
    assert found.tolist() == [
        pytest.approx([4 / 2 - 0.25 - 0.1, 2.0, -3 * 2 - 0.25 - 0.2, 0.5, -1.0]),
        pytest.approx([4 / 2 - 0.25 - 0.2, 2 / 2 - 0.25 - 0.1, -3 * 2 - 0.25 - 0.2, 0.5, -1.0]),
    ]


@settings(max_examples=60, deadline=None)
@given(
    setting=processor_settings,
    seed=st.integers(0, 1000),
    penalty=st.sampled_from([0.0, 0.7]),
    tails=st.lists(st.lists(st.integers(0, 299), max_size=6), min_size=1, max_size=9),
)
def test_rows_choose_the_same_together_as_alone(setting, seed, penalty, tails):
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(len(tails), 300, generator=generator) * 3
    sampler = Sampler(seed=seed, frequency_penalty=penalty, **setting)
    positions = torch.randint(0, 50, (len(tails),), generator=generator)
    together = sampler.choose(logits, positions, TokenHistory([5, 6, 7], tails), 300)
    alone = [
        sampler.choose(row[None], position[None], TokenHistory([5, 6, 7, *tail], [[]]), 300)
        for row, position, tail in zip(logits, positions, tails, strict=True)
    ]
    assert together.tolist() == np.concatenate(alone).tolist()
    arrays = sampler.choose(logits.numpy(), positions, TokenHistory([5, 6, 7], tails), 300)
    assert arrays.tolist() == together.tolist(), "numpy's arrays and tensors choose the same"


def test_a_nucleus_larger_than_the_candidates_is_noticed():
    logits = torch.stack([torch.zeros(1000), torch.linspace(0, 500, 1000)])
    sampler = Sampler(temperature=1.0, top_p=0.9)
    history, positions = TokenHistory([], [[], []]), torch.tensor([3, 3])
    few = sampler.choose(logits, positions, history)
    assert few[0] == -1
    assert few[1] >= 0
    everything = sampler.choose(logits, positions, history, candidates=1000)
    assert everything[0] >= 0
    assert everything[1] == few[1]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_rows_that_are_not_finite_are_reported(bad):
    logits = torch.tensor([[1.0, 2.0], [0.0, bad]])
    for sampler in (Sampler(), Sampler(temperature=0.7, top_p=0.5)):
        found = sampler.choose(logits, torch.tensor([1, 1]), TokenHistory([], [[], []]))
        assert found.tolist() == [1, NOT_NUMBERS]


def test_greedy_takes_the_first_of_equal_logits():
    logits = torch.tensor([[0.0, 3.0, 3.0]])
    assert Sampler().choose(logits, torch.tensor([0]), TokenHistory([], [[]])).tolist() == [1]


# -- XTC -----------------------------------------------------------------------------------------------------


def xtc(probs, threshold):
    """The tokens that llama.cpp's sampler leaves: it sorts, and drops the first tokens up to the last but one
    that reaches the threshold."""
    order = sorted(range(len(probs)), key=lambda token: -probs[token])
    reaching = [token for token in order if probs[token] >= threshold]
    return set(order) - set(reaching[:-1])


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 1000),
    threshold=st.sampled_from([0.01, 0.1, 0.3, 0.5]),
    temperature=st.sampled_from([0.5, 1.0, 1.7]),
    top_k=st.sampled_from([0, 6]),
    min_p=st.sampled_from([0.0, 0.05]),
)
def test_xtc_excludes_what_llama_cpp_excludes(seed, threshold, temperature, top_k, min_p):
    """After the filters, and of the probabilities before the temperature."""
    logits = torch.randn(1, 40, generator=torch.Generator().manual_seed(seed)) * 3
    filters = dict(seed=seed, temperature=temperature, top_k=top_k, min_p=min_p)
    sampler = Sampler(**filters, xtc_probability=1.0, xtc_threshold=threshold)
    history = TokenHistory([1, 2], [[]])
    passing = Sampler(**filters).probabilities(logits, history)[0] > 0
    before = logits[0].masked_fill(~passing, -math.inf).softmax(0).tolist()
    found = sampler.probabilities(logits, history)[0]
    left = {token for token in xtc(before, threshold) if passing[token]}
    assert set(found.nonzero().flatten().tolist()) == left
    assert found.sum().item() == pytest.approx(1)
    chosen = sampler.choose(logits, history.positions(), history, 40)
    assert chosen[0] in left
    arrays = sampler.choose(logits.numpy(), history.positions(), history, 40)
    assert arrays.tolist() == chosen.tolist(), "numpy's arrays and tensors choose the same"


def test_xtc_applies_as_often_as_asked_whatever_the_tokens_noise_is():
    sampler, positions = Sampler(seed=5, xtc_probability=0.3), np.arange(40_000)
    applies = sampler.xtc_applies(positions)
    assert abs(applies.mean() - 0.3) < 0.01
    assert np.array_equal(applies[700:710], sampler.xtc_applies(positions[700:710]))
    tosses, noise = (
        uniforms(5, positions, np.zeros(40_000, np.int64), s) for s in (XTC_STREAM, TARGET_STREAM)
    )
    assert abs(np.corrcoef(tosses, noise)[0, 1]) < 0.02


def test_xtc_keeps_spared_tokens_and_leaves_greedy_decoding_alone():
    logits = torch.tensor([[3.0, 2.9, 2.8, 0.0]])
    history, settings = TokenHistory([], [[]]), dict(xtc_probability=1.0, xtc_threshold=0.1)
    probs = Sampler(temperature=1.0, spared=frozenset({0}), **settings).probabilities(logits, history)
    assert (probs[0] > 0).tolist() == [True, False, True, True]
    assert Sampler(**settings).choose(logits, history.positions(), history).tolist() == [0]


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("xtc", [0.0, 0.5])
def test_rows_share_noise_by_position_and_choose_as_if_each_had_its_own(library, xtc, monkeypatch):
    rows, vocabulary, made = 60, 700, []
    numbers = np.random.default_rng(3).normal(0, 4, (rows, vocabulary)).astype(np.float32)
    logits = torch.from_numpy(numbers) if library == "torch" else numbers
    positions = [100 + row % 7 for row in range(rows)]
    sampler = Sampler(seed=5, temperature=1.3, xtc_probability=xtc)
    history = TokenHistory([1] * 100, [[] for _ in range(rows)])
    expected = sampler.perturbed(*sampler.filtered(logits), positions).argmax(-1).tolist()
    original = sampling.gumbel_noise

    def noting(*arguments):
        made.append(original(*arguments))
        return made[-1]

    monkeypatch.setattr(sampling, "gumbel_noise", noting)
    assert sampler.choose(logits, positions, history).tolist() == expected
    assert len(set(expected)) > 20
    assert [tuple(noise.shape) for noise in made] == [(vocabulary,)] * 7


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_noise_of_many_candidates_is_made_for_few_rows_at_a_time_with_the_same_bits(library, monkeypatch):
    rows, vocabulary, made = 23, 700, []
    numbers = np.random.default_rng(4).normal(0, 4, (rows, vocabulary)).astype(np.float32)
    logits = torch.from_numpy(numbers) if library == "torch" else numbers
    positions = [100 + row % 7 for row in range(rows)]
    sampler = Sampler(seed=5, temperature=1.3, top_k=600, xtc_probability=0.5)
    filtered = sampler.filtered(logits)
    expected = sampler.perturbed(*filtered, positions)
    original = sampling.gumbel_noise

    def noting(*arguments):
        made.append(original(*arguments))
        return made[-1]

    monkeypatch.setattr(sampling, "_NOISE", 5000)
    monkeypatch.setattr(sampling, "gumbel_noise", noting)
    assert (sampler.perturbed(*filtered, positions) == expected).all()
    assert [noise.shape[0] for noise in made] == [8, 8, 7]


def test_on_a_card_the_best_tokens_have_the_same_log_probabilities(monkeypatch):
    logits = torch.randn(5, 3000, generator=torch.Generator().manual_seed(2)) * 5
    tokens, log_probs = sampling.best_tokens(logits, 20)
    monkeypatch.setattr(sampling, "is_on_card", lambda array: True)
    monkeypatch.setattr(sampling, "log_softmax", lambda values: pytest.fail("of the whole vocabulary"))
    on_card = sampling.best_tokens(logits, 20)
    assert torch.equal(on_card[0], tokens)
    assert torch.equal(on_card[1], log_probs)
