"""Equality in distribution: chi-squared over 100,000 draws from random distributions, and over long texts of
random models whose next token depends only on the last one."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from engine.decoding.budget import FixedLimits
from engine.decoding.iteration import Iterated, decode
from engine.decoding.rejection import rounds
from engine.decoding.verification import TargetVerifier
from engine.drafting import TreeLimits
from engine.drafting.drawn_layers import LayerDrafter
from engine.errors import BadNumbers
from engine.model.interface import no_progress
from engine.repetition import Dry
from engine.sampling import DRAFT_STREAM, TARGET_STREAM, TEST_STREAM, Sampler, TokenHistory, draw, uniforms

VOCABULARY = 6
SETTINGS = {
    "temperature": dict(temperature=1.3),
    "cold": dict(temperature=0.3),
    "top_k": dict(temperature=1.0, top_k=3),
    "top_p": dict(temperature=1.0, top_p=0.7),
    "min_p": dict(temperature=1.0, min_p=0.2),
    "penalties": dict(temperature=0.9, repetition_penalty=1.4, presence_penalty=0.3, frequency_penalty=0.1),
    "suppressed": dict(temperature=1.0, suppressed=frozenset({1, 4})),
    "first": dict(temperature=1.0, first=3, first_suppressed=frozenset({1, 4})),
    "bias": dict(temperature=1.0, logit_bias={0: 2.0, 3: -4.0}),
    "xtc": dict(temperature=1.0, xtc_probability=1.0, xtc_threshold=0.2),
    "dry": dict(temperature=1.0, dry=Dry(multiplier=2.0, allowed_length=1)),
    "all": dict(temperature=1.1, top_k=5, top_p=0.9, min_p=0.02, repetition_penalty=1.2, logit_bias={1: 1.0}),
}
every_setting = pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)


def logits_of(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(*shape, VOCABULARY, generator=torch.Generator().manual_seed(seed)) * 1.5


def assert_distributed(counts, expected) -> None:
    """Pearson's chi-squared, at five standard deviations of its normal approximation by Wilson and Hilferty
    (p = 3e-7). Impossible cells must be empty; rare ones are merged into one cell."""
    counts, expected = (
        torch.as_tensor(values, dtype=torch.float64).flatten() for values in (counts, expected)
    )
    assert counts[expected == 0].sum() == 0
    rare = expected < 10
    cells = [torch.cat([values[~rare], values[rare].sum()[None]]) for values in (counts, expected)]
    possible = cells[1] > 0
    chi_squared = float(((cells[0] - cells[1]) ** 2 / cells[1])[possible].sum())
    freedom = int(possible.sum()) - 1
    if freedom < 1:
        return
    spread = 2 / (9 * freedom)
    z = ((chi_squared / freedom) ** (1 / 3) - (1 - spread)) / spread**0.5
    assert z < 5, f"chi-squared {chi_squared:.1f} with {freedom} degrees of freedom"


@pytest.mark.parametrize("draws", [1, 2, 5])
@every_setting
def test_kept_draws_and_residual_together_have_the_targets_distribution(settings, draws):
    count = 100_000
    sampler, history = Sampler(seed=draws, **settings), TokenHistory([2, 2, 4], [[]])
    p = sampler.probabilities(logits_of(1, 1), history)
    q = sampler.probabilities(logits_of(2, 1), history).float()
    positions, numbers = torch.arange(count)[:, None], torch.arange(draws)
    tokens = draw(q.expand(count, -1), uniforms(sampler.seed, positions, numbers, DRAFT_STREAM))
    tests = uniforms(sampler.seed, positions, numbers, TEST_STREAM)
    kept, left = rounds(p.expand(count, -1), q, tokens, tests)
    bonus = draw(left, uniforms(sampler.seed, positions, numbers[:1], TARGET_STREAM))
    found = torch.cat([tokens, bonus], 1).gather(1, kept[:, None])
    assert_distributed(torch.bincount(found[:, 0], minlength=VOCABULARY), p[0] * count)
    assert_distributed(torch.bincount(tokens[:, -1], minlength=VOCABULARY), q[0].double() * count)
    # One round keeps a draw with probability sum min(p, q); more rounds keep more.
    overlap = float(torch.minimum(p, q).sum())
    accepted = float((kept < draws).double().mean())
    assert abs(accepted - overlap) < 0.01 if draws == 1 else accepted > overlap


def test_a_draft_equal_to_its_target_is_never_rejected():
    probs = logits_of(3, 50).softmax(-1).double()
    tokens = draw(probs, uniforms(0, torch.arange(50)[:, None], torch.arange(1)))
    kept, _ = rounds(probs, probs, tokens, torch.full((50, 1), 0.999999))
    assert kept.tolist() == [0] * 50


class TableSequence:
    """A random model with the interface of engine.model.sequence: logits of the next token by the last."""

    follows = False

    def __init__(self, table: torch.Tensor, capacity: int) -> None:
        self.table = table  # [vocabulary, vocabulary]
        self.cache = SimpleNamespace(capacity=capacity, length=0, tail=0, free=capacity)
        self.model = SimpleNamespace(late_head=None)
        self.ids: list[int] = []

    def align(self, context):
        del self.ids[:]
        return 0

    def rewind(self, length):
        del self.ids[length:]

    def extend(self, tokens, progress=no_progress):
        return self.read(tokens).logits[0]

    def read(self, tokens, hidden_layers=(), progress=no_progress):
        self.ids.extend(tokens)
        return SimpleNamespace(logits=self.table[tokens[-1:]], hidden={})

    def consider(self, tokens, positions, visible, hidden_layers=(), progress=no_progress, logits=True):
        return SimpleNamespace(logits=self.table[tokens], hidden={})

    def keep(self, tail_slots, tokens):
        self.ids.extend(tokens)


class Layers(LayerDrafter):
    name = "layers"
    defaults = TreeLimits(budget=64, beams=8, depth=8)

    def __init__(self, sequence, widths):
        super().__init__(sequence, VOCABULARY)
        self.widths = widths

    def expansion(self, limits):
        return self.widths[: limits.depth]


class DrawDependent:
    """The worst possible rule: limits depend on draws beyond the accepted path."""

    def __init__(self):
        self.depth = 3

    def choose(self):
        return TreeLimits(64, 8, self.depth)

    def observe(self, iteration):
        if len(iteration.tree):
            self.depth = 1 + int(iteration.tree.tokens[-1]) % 3


def text(target, draft, settings, widths, count, rule=None):
    """Return tokens [count] and tokens per pass."""
    capacity = count + 100
    sampler = Sampler(seed=9, **settings)
    verifier = TargetVerifier(TableSequence(target, capacity), sampler)
    drafter = Layers(TableSequence(draft, capacity), widths)
    rule = rule or FixedLimits(drafter.defaults)
    tokens, passes = [], 0
    for event in decode(verifier, drafter, sampler, [0], rule, (), count, no_progress):
        if isinstance(event, Iterated):
            tokens += event.tokens
            passes += 1
    return np.asarray(tokens), len(tokens) / passes


def assert_transitions(tokens, p):
    """Check the distribution of every token given the previous one; and given the previous two, where the
    second must make no difference: drafts and rejections must not correlate tokens."""
    last, now = tokens[:-1], tokens[1:]
    pairs = np.zeros((VOCABULARY,) * 2)
    np.add.at(pairs, (last, now), 1)
    for token in range(VOCABULARY):
        assert_distributed(pairs[token], pairs[token].sum() * p[token])
    triples = np.zeros((VOCABULARY,) * 3)
    np.add.at(triples, (last[:-1], now[:-1], now[1:]), 1)
    for first in range(VOCABULARY):
        for token in range(VOCABULARY):
            assert_distributed(triples[first, token], triples[first, token].sum() * p[token])


@pytest.mark.parametrize(
    ("settings", "widths"),
    [(SETTINGS["temperature"], (1, 1, 1)), (SETTINGS["top_p"], (3, 2, 1))],
    ids=["chain", "tree"],
)
def test_long_texts_have_the_targets_transitions(settings, widths):
    target, draft = logits_of(4, VOCABULARY), logits_of(5, VOCABULARY)
    tokens, _ = text(target, draft, settings, widths, 2000)
    history = TokenHistory([], [[]] * VOCABULARY)
    assert_transitions(tokens, Sampler(**settings).probabilities(target, history).numpy())


def test_limits_that_depend_on_earlier_draws_keep_the_distribution():
    target, draft = logits_of(4, VOCABULARY), logits_of(5, VOCABULARY)
    tokens, _ = text(target, draft, dict(temperature=1.0), (2, 1, 1), 2000, DrawDependent())
    assert_transitions(tokens, target.softmax(-1).double().numpy())


def test_a_better_draft_has_more_accepted():
    target, noise = logits_of(6, VOCABULARY), logits_of(7, VOCABULARY)
    rates = [
        text(target, target + amount * noise, dict(temperature=1.0), (1, 1, 1), 300)[1]
        for amount in (3.0, 0.3, 0.0)
    ]
    assert rates == sorted(rates)
    assert rates[-1] > 3.9, "all four tokens of a pass if draft and target are the same"


def test_greedy_text_is_the_targets_for_any_draft():
    target = logits_of(8, VOCABULARY)
    expected, token = [], int(target[0].argmax())
    while len(expected) < 30:
        token = int(target[token].argmax())
        expected.append(token)
    for draft in (logits_of(9, VOCABULARY), -target, target):
        tokens, _ = text(target, draft, {}, (3, 2, 1), 31)
        assert tokens.tolist() == expected


def test_logits_that_are_not_finite_are_an_error():
    draft = logits_of(9, VOCABULARY)
    target = logits_of(8, VOCABULARY)
    target[int(target[0].argmax())] = torch.nan
    with pytest.raises(BadNumbers):
        text(target, draft, {}, (2, 1), 30)
