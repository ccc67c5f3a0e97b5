"""Products of rows and experts as stored have the bits of products with one expert at a time."""

import numpy as np
import pytest

from engine.checkpoints.storage import stored_nbytes
from engine.compiled.matrix import StreamedMatrix
from engine.compiled.pool import shared_pool
from engine.compiled.stored_experts import StoredExperts
from engine.compiled.stored_product import StoredProducts

EXPERTS, COLUMNS, SHAPES = 4, 64, ((48, 64), (16, 64))


@pytest.mark.parametrize("layout", ["F32", "Q8_0"])
def test_rows_are_multiplied_by_the_experts_that_they_chose(layout):
    rng = np.random.default_rng(1)
    kept, mixtures = [], []
    for _ in range(2):
        experts = []
        for expert in range(EXPERTS):
            matrices = []
            for shape in SHAPES:
                if layout == "F32":
                    stored = rng.standard_normal(shape, np.float32).reshape(-1).view(np.uint8)
                else:
                    stored = rng.integers(0, 60, stored_nbytes(layout, shape), np.uint8)
                kept.append(stored)
                place = np.array([stored.ctypes.data], np.int64)
                matrices.append(StreamedMatrix(layout, shape, expert, place))
            experts.append(matrices)
        mixtures.append(experts)
    pool = shared_pool()
    together = StoredExperts(mixtures, pool, 40)
    for mixture, experts in enumerate(mixtures):
        for used, counts in (([2], [1]), ([0, 1, 3], [1, 20, 3]), ([3, 1], [17, 2])):
            x = rng.standard_normal((sum(counts), COLUMNS)).astype(np.float32)
            found = [each.copy() for each in together.multiply(mixture, used, counts, x)]
            start = 0
            for expert, count in zip(used, counts, strict=True):
                alone = StoredProducts(experts[expert], pool, 20)
                alone.input(count, COLUMNS)[:] = x[start : start + count]
                for number, each in enumerate(found):
                    assert np.array_equal(each[start : start + count], alone.multiply(number, count))
                    assert each.any()
                start += count
