"""DRY against its published definition, in trees and beside other settings."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.repetition import Dry
from engine.repetition.dry import MOST
from engine.sampling import Sampler, TokenHistory


def reference(dry: Dry, path: list[int]) -> dict[int, float]:
    """The penalties as text-generation-webui defines them, written out token by token."""
    path = path[-dry.last :] if dry.last else path
    if not path or path[-1] in dry.breakers:
        return {}
    longest: dict[int, int] = {}
    for end in range(len(path) - 1):
        follower = path[end + 1]
        if path[end] != path[-1] or follower in dry.breakers:
            continue
        length = 1
        while end - length >= 0 and path[end - length] == path[-1 - length] not in dry.breakers:
            length += 1
        longest[follower] = max(length, longest.get(follower, 0))
    return {
        token: dry.multiplier * dry.base ** (length - dry.allowed_length)
        for token, length in longest.items()
        if length >= dry.allowed_length
    }


def penalties(dry: Dry, context: list[int], tail: list[int]) -> dict[int, float]:
    tokens, numbers = dry.penalties(np.array(context, np.int64), tail)
    assert len(set(tokens.tolist())) == len(tokens)
    return dict(zip(tokens.tolist(), numbers.tolist(), strict=True))


@settings(max_examples=400, deadline=None)
@given(
    path=st.lists(st.integers(0, 3), max_size=60),
    split=st.integers(0, 60),
    dry=st.builds(
        Dry,
        multiplier=st.sampled_from([0.5, 0.8, 3.0]),
        base=st.sampled_from([1.0, 1.2, 1.75]),
        allowed_length=st.integers(1, 5),
        last=st.sampled_from([0, 1, 2, 7, 30, 500]),
        breakers=st.sampled_from([frozenset(), frozenset({2}), frozenset({0, 3})]),
    ),
)
def test_penalties_are_those_of_the_published_definition(path, split, dry):
    expected = reference(dry, path)
    assert penalties(dry, path[:split], path[split:]) == pytest.approx(expected, rel=1e-6)


def test_every_path_of_a_tree_has_its_own_penalties():
    context, tails = [1, 2, 3, 1, 2, 4, 9], [[], [1], [1, 2], [1, 3], [8, 1, 2]]
    sampler = Sampler(dry=Dry(multiplier=1.0, base=2.0))
    logits = np.zeros((len(tails), 12), np.float32)
    found = sampler.penalised(logits, TokenHistory(context, tails))
    for row, tail in zip(found, tails, strict=True):
        expected = np.zeros(12)
        for token, penalty in reference(sampler.dry, context + tail).items():
            expected[token] -= penalty
        assert row.tolist() == pytest.approx(expected.tolist())
    assert found[2].tolist().count(0.0) < 12
    assert not logits.any(), "the model's own logits stay as they are"


def test_dry_comes_after_the_repetition_penalty():
    """llama.cpp's order: the repetition penalty divides the logit, then DRY subtracts from it."""
    logits = np.full((1, 8), 6.0, np.float32)
    sampler = Sampler(repetition_penalty=2.0, dry=Dry(multiplier=1.0))
    found = sampler.penalised(logits, TokenHistory([1, 2, 3, 1, 2], [[]]))
    assert found[0].tolist() == [6.0, 3.0, 3.0, 6.0 / 2 - 1.0, 6.0, 6.0, 6.0, 6.0]


def test_a_very_long_repetition_leaves_the_logits_finite():
    dry = Dry(multiplier=100.0, base=10.0)
    assert penalties(dry, [7] * 3000, []) == {7: pytest.approx(MOST)}
    sampler = Sampler(temperature=1e-6, dry=dry)
    logits = sampler.penalised(np.zeros((1, 9), np.float32), TokenHistory([7] * 3000, [[]]))
    assert np.isfinite(logits / 1e-6).all()


def test_a_node_takes_no_more_time_than_the_length_of_its_text():
    """32 times the text may take 32 times as long, and not 32 * 32 times."""

    def seconds(length: int) -> float:
        context = np.random.default_rng(5).integers(0, 50, length)
        return min(timed(context) for _ in range(5))

    def timed(context) -> float:
        started = time.perf_counter()
        for _ in range(20):
            Dry(multiplier=1.0).penalties(context, [1, 2, 3])
        return time.perf_counter() - started

    assert seconds(64_000) < 32 * 4 * seconds(2_000)
