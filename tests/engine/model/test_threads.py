"""The number of threads changes nothing in what a compiled model computes."""

import numpy as np
import pytest

from engine.checkpoints import open_checkpoint
from engine.compiled.pool import ComputePool, cores, shared_pool
from engine.model.interface import no_progress
from engine.model.loader import load_compiled
from engine.model.sequence import Sequence
from engine.model.threads import use_threads
from tests.engine.conftest import model_file

PROMPT = [1, 17, 400, 33, 9, 9, 21, 5000, 17, 4]


def logits_of():
    model = load_compiled(open_checkpoint(model_file("smollm2")), no_progress, 64)
    sequence = Sequence(model, 64)
    prompt = np.copy(sequence.extend(PROMPT))
    tree = np.copy(sequence.consider([7, 8], [10, 11], np.tril(np.ones((2, 2), np.bool_))).logits)
    model.close()
    return prompt, tree


def test_logits_are_the_same_bit_for_bit_on_one_two_and_three_threads(monkeypatch):
    found = []
    for threads in (1, 2, 3):
        pool = ComputePool(threads, adapts=False)
        monkeypatch.setattr("engine.model.compiled.shared_pool", lambda pool=pool: pool)
        found.append(logits_of())
        assert pool.used == threads
    for prompt, tree in found[1:]:
        assert np.array_equal(prompt, found[0][0])
        assert np.array_equal(tree, found[0][1])


@pytest.fixture
def all_threads():
    yield
    use_threads(None)


def test_the_shared_pool_takes_the_number_of_threads_and_gives_it_back(all_threads):
    before = logits_of()
    assert use_threads(1) == shared_pool().threads == shared_pool().used == 1
    assert all(np.array_equal(one, other) for one, other in zip(logits_of(), before, strict=True))
    assert shared_pool().used == 1
    assert use_threads(10_000) == cores()
    assert use_threads(None) == shared_pool().threads == cores()
