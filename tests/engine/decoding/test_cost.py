"""What an iteration of some size costs, as it is learned from times and misses."""

import numpy as np
import pytest

from engine.decoding.cost import CostCurve, Misses

CHOSEN = 8 * 48  # experts that a row chooses in all layers


def missing(rows, level=0.1, growth=0.6):
    return int(CHOSEN * level * rows**growth)


@pytest.mark.parametrize("spike", [5.0, 0.1])
def test_one_outlier_is_forgotten_and_two_of_three_are_a_change(spike):
    curve = CostCurve()
    for _ in range(4):
        assert not curve.add(8, 1.0)
    assert not curve.add(8, spike)
    assert [curve.add(8, 1.0), curve.add(8, 1.0)] == [False, False]
    assert curve.at(8) == pytest.approx(1.0)
    assert curve.is_predicted
    assert [curve.add(8, spike), curve.add(8, 1.0), curve.add(8, spike)] == [False, False, True]
    assert curve.at(8) == pytest.approx(spike)
    assert not curve.is_predicted


def test_outliers_in_opposite_directions_are_no_change():
    curve = CostCurve()
    assert not any(curve.add(8, seconds) for seconds in (1.0, 1.0, 4.0, 0.2, 1.0))
    assert curve.at(8) == pytest.approx(1.0)


def test_after_a_change_the_prediction_is_trusted_again_once_two_sizes_were_measured():
    curve = CostCurve(lambda size: 1 + size / 8)
    for size in (4, 8, 8):
        curve.add(size, 1 + size / 8)
    assert [curve.add(8, 6.0), curve.add(8, 6.0)] == [False, True]
    assert not curve.is_predicted
    assert not curve.knows(4)
    curve.add(4, 4.5)
    assert curve.is_predicted
    assert curve.at(16) == pytest.approx(9.0)


def test_many_misses_explain_a_long_time():
    """The first passes of a cold cache take twice as long as later ones, and the machine has not changed."""
    curve = CostCurve(lambda size: 0.1)
    changes = []
    for number in range(30):
        misses = 350 if number < 3 else 100 + 10 * (number % 3)
        curve.miss(4, misses)
        changes.append(curve.add(4, 0.1 + 0.001 * misses, misses))
    assert not any(changes[4:])
    curve.miss(4, 350)
    assert not curve.add(4, 0.45, 350)
    assert curve.at(4) == pytest.approx(0.1 + 0.001 * 140, rel=0.15)


def test_a_cost_of_misses_is_known_at_sizes_that_were_not_tried():
    """Computing takes the same for all, and misses grow with the rows' experts."""
    random, curve = np.random.default_rng(0), CostCurve(lambda size: 0.03)
    for number in range(60):
        size = (1, 2, 4)[number % 3]
        misses = missing(size) + int(random.integers(-3, 4))
        curve.miss(size, misses)
        curve.add(size, (0.03 + 0.004 * misses) * random.uniform(0.98, 1.02), misses)
    for size in (1, 2, 4, 8, 16, 32):
        assert curve.at(size) == pytest.approx(0.03 + 0.004 * missing(size), rel=0.2)


def test_rows_become_cheap_as_the_cache_fills():
    curve = CostCurve(lambda size: 0.03)
    relative = []
    for number in range(60):
        misses = missing(4, level=1.0 * 0.9**number)
        curve.miss(4, misses)
        curve.add(4, 0.03 + 0.004 * misses, misses)
        relative.append(curve.at(16) / curve.at(1))
    assert max(relative) > 3
    assert relative[-1] < 0.5 * max(relative)


@pytest.mark.parametrize("growth", [0.2, 0.5, 0.9])
def test_the_growth_of_misses_is_learned_while_the_cache_fills(growth):
    misses = Misses()
    for number, rows in enumerate([4, 8, 4, 2, 4, 8, 16, 8, 4, 2, 1, 2, 4, 8] * 2):
        misses.add(rows, missing(rows, 0.5 * 0.97**number, growth))
    assert misses.growth == pytest.approx(growth, abs=0.12)
    assert misses.at(32) == pytest.approx(missing(32, 0.5 * 0.97**28, growth), rel=0.35)


def test_without_misses_there_is_nothing_to_add():
    curve = CostCurve(lambda size: float(size))
    for _ in range(3):
        curve.miss(4, 0)
        curve.add(4, 8.0)
    assert curve.at(16) == pytest.approx(32.0)


def test_before_anything_is_measured_the_prediction_stands():
    assert CostCurve(lambda size: size / 2).at(6) == 3.0
