"""The same operations on numpy's arrays and on tensors."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.arrays import as_float, like, log_softmax, log_sum_exp, on_host, top


@given(st.integers(1, 4), st.integers(1, 40), st.integers(0, 40), st.integers(0, 1000))
def test_both_libraries_give_the_same(rows, columns, count, seed):
    values = np.random.default_rng(seed).standard_normal((rows, columns)).astype(np.float32)
    tensors = torch.from_numpy(values)
    count = min(count, columns)
    for found, expected in zip(top(values, count), top(tensors, count), strict=True):
        assert found.shape == (rows, count)
        assert np.array_equal(found, on_host(expected))
    for function in (log_softmax, log_sum_exp):
        np.testing.assert_allclose(function(values), on_host(function(tensors)), rtol=1e-5, atol=1e-5)


def test_of_equal_values_the_first_comes_first():
    assert top(np.zeros((2, 9), np.float32), 9)[1].tolist() == [list(range(9))] * 2


@pytest.mark.parametrize("array", [np.zeros(2), torch.zeros(2)])
def test_values_become_an_array_of_the_same_library(array):
    made = like(array, [1, 2])
    assert type(made) is type(array)
    assert on_host(made).tolist() == [1, 2]


def test_shorter_types_become_float32():
    assert on_host(torch.ones(2, dtype=torch.bfloat16)).dtype == np.float32
    assert as_float(np.ones(2, np.float16)).dtype == np.float32
