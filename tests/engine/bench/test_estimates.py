import numpy as np
import pytest

from engine.bench.estimates import check_plot, mean, ratio
from engine.errors import BadOption, MissingExtra


def test_one_value_has_no_interval_and_equal_values_have_an_empty_one():
    assert (mean([3.0]).value, mean([3.0]).low, mean([3.0]).high) == (3.0, None, None)
    assert (mean([2.0] * 5).value, mean([2.0] * 5).low, mean([2.0] * 5).high) == (2.0, 2.0, 2.0)


def test_the_interval_of_a_normal_sample_is_the_textbook_one():
    values = np.random.default_rng(1).normal(10, 2, 400)
    found = mean(values.tolist())
    margin = 1.96 * values.std() / 20
    assert found.value == pytest.approx(values.mean())
    assert found.low == pytest.approx(values.mean() - margin, abs=0.02)
    assert found.high == pytest.approx(values.mean() + margin, abs=0.02)


def test_the_interval_contains_the_true_mean_19_times_out_of_20():
    draws = np.random.default_rng(2)
    held = 0
    for _ in range(100):
        found = mean(draws.exponential(1.0, 60).tolist())
        held += found.low <= 1.0 <= found.high
    assert 0.88 < held / 100 < 0.99


def test_a_ratio_is_one_of_means_and_the_difficulty_of_prompts_cancels():
    prompts = np.random.default_rng(3).uniform(1, 20, 30)
    found = ratio((1.1 * prompts).tolist(), prompts.tolist())
    assert found.value == pytest.approx(1.1)
    assert found.low == pytest.approx(1.1)
    assert found.high == pytest.approx(1.1)
    assert ratio([1.0, 3.0], [1.0, 1.0]).value == 2.0


def test_the_same_sample_has_the_same_interval():
    assert mean([1.0, 4.0, 2.0, 8.0]) == mean([1.0, 4.0, 2.0, 8.0])


def test_a_plot_is_refused_before_anything_is_measured(tmp_path, monkeypatch):
    monkeypatch.setattr("engine.bench.options.find_spec", lambda name: object())
    check_plot(None)
    check_plot(tmp_path / "plot.svg")
    for path in (tmp_path / "plot.jpeg", tmp_path / "none" / "plot.png"):
        with pytest.raises(BadOption):
            check_plot(path)
    monkeypatch.setattr("engine.bench.options.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="matplotlib") as raised:
        check_plot(tmp_path / "plot.svg")
    assert "specexec-desktop[bench]" in raised.value.hint
