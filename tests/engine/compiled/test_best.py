"""The likeliest tokens, found by a compiled step, are those that sorting finds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.compiled.best import best


def sorted_best(logits, count):
    """By sorting: of equal logits, the lowest id first."""
    tokens = np.argsort(-logits, axis=1, kind="stable")[:, :count]
    values = np.take_along_axis(logits, tokens, axis=1).astype(np.float64)
    top = logits.max(axis=1, keepdims=True).astype(np.float64)
    return tokens, values - top - np.log(np.exp(logits - top).sum(axis=1, keepdims=True))


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_tokens_and_log_probabilities(data):
    rows, vocabulary = data.draw(st.integers(1, 20)), data.draw(st.integers(1, 700))
    count = data.draw(st.integers(1, min(vocabulary, 130)))
    levels = data.draw(st.sampled_from([3, 1000000]))  # few levels make many ties
    random = np.random.default_rng(vocabulary)
    logits = (random.integers(0, levels, (rows, vocabulary)) * (10 / levels)).astype(np.float32)
    tokens, log_probs = best(logits, count)
    expected, expected_log_probs = sorted_best(logits, count)
    assert np.array_equal(tokens, expected)
    np.testing.assert_allclose(log_probs, expected_log_probs, atol=2e-5)


def test_rows_of_a_wider_array():
    wide = np.random.default_rng(1).normal(size=(5, 300)).astype(np.float32)
    tokens, _ = best(wide[:, :200], 7)
    assert np.array_equal(tokens, sorted_best(wide[:, :200], 7)[0])


def test_a_row_does_not_depend_on_its_neighbours():
    logits = np.random.default_rng(2).normal(size=(9, 5000)).astype(np.float32)
    tokens, log_probs = best(logits, 12)
    for row in range(9):
        alone = best(logits[row : row + 1], 12)
        assert np.array_equal(alone[0][0], tokens[row])
        assert np.array_equal(alone[1][0], log_probs[row])


@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf])
def test_ids_are_tokens_whatever_the_logits_are(strange):
    logits = np.full((3, 130), strange, np.float32)
    tokens, _ = best(logits, 8)
    assert ((tokens >= 0) & (tokens < 130)).all()
