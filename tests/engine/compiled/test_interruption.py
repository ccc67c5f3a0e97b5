"""One thread ends the pass of another, also in the middle of a long step."""

import threading
import time

import numpy as np
import pytest

from engine import interruption
from engine.compiled.pool import shared_pool
from engine.errors import Interrupted
from tests.engine.compiled.made import activations, matrix, multiply

WIDTH, ROWS, STEPS = 4096, 128, 40


@pytest.fixture(autouse=True)
def resumed():
    yield
    interruption.resume()


def test_a_long_product_ends_within_50_ms_and_the_next_is_whole():
    weights, _ = matrix("Q4_0", (WIDTH, WIDTH))
    x = activations(ROWS, WIDTH)
    expected = multiply([weights], x, shared_pool())
    began = time.perf_counter()
    multiply([weights] * STEPS, x, shared_pool())
    whole_s = time.perf_counter() - began
    waits = []
    for _ in range(3):
        at = []

        def end(at=at):
            at.append(time.perf_counter())
            interruption.interrupt()

        timer = threading.Timer(whole_s / 4, end)
        timer.start()
        with pytest.raises(Interrupted):
            multiply([weights] * STEPS, x, shared_pool())
        waits.append(time.perf_counter() - at[0])
        timer.join()
        interruption.resume()
        assert np.array_equal(multiply([weights], x, shared_pool()), expected)
    assert whole_s > 0.2, "the product takes too little time to be interrupted"
    assert min(waits) < 0.05


def test_passes_do_not_run_until_they_may():
    weights, _ = matrix("Q8_0", (64, 64))
    interruption.interrupt()
    with pytest.raises(Interrupted):
        multiply([weights], activations(2, 64), shared_pool())
    interruption.resume()
    multiply([weights], activations(2, 64), shared_pool())
