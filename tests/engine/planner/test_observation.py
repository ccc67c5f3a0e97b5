"""Measured answers correct the predictions that follow."""

from dataclasses import replace

import pytest

from engine.planner import Answered, Asked, Correction, Observed, corrected, learned, observed, plan_for
from engine.planner.candidate import Candidate
from engine.planner.machines import GIB
from engine.planner.search import predict
from tests.engine.planner.made import LAPTOP, PAIR, SMALL

ASKED = Asked(2048, ram_limit_nbytes=GIB // 2)
SEEN = Observed("target", "draft", "cpu", 1.2, 1.5, 0.8, 0.9)


def test_the_next_prediction_equals_the_last_answer():
    plan = plan_for(LAPTOP, SMALL, ASKED)
    answer = Answered([64, 32, 32, 64, 128], tokens=38, draft_s=4.0, target_s=6.5)
    found = observed(LAPTOP, SMALL, ASKED, plan, answer)
    again = plan_for(LAPTOP, SMALL, ASKED, learned([found], SMALL))
    assert again.predicted_tokens_per_second == pytest.approx(38 / 10.5)
    other = plan_for(replace(LAPTOP, disk=2 * LAPTOP.disk), SMALL, ASKED, learned([found], SMALL))
    assert other.predicted_tokens_per_second >= again.predicted_tokens_per_second


def test_each_factor_is_recovered():
    """For an answer made from predictions with a known correction."""
    plan = plan_for(LAPTOP, SMALL, ASKED)
    limits = replace(ASKED, vram_limit_nbytes=plan.vram_limit_nbytes, ram_limit_nbytes=plan.ram_limit_nbytes)
    candidate = Candidate(SMALL, LAPTOP, limits, "cpu", 64, plan.target_unpacked, plan.draft_unpacked)
    truth = Correction(acceptance=1.3, drafting=1.7, verifying=0.6)
    one = predict(candidate, candidate.placement(), truth)
    answer = Answered([64] * 100, round(one.tokens * 100), one.draft_s * 100, one.target_s * 100)
    found = observed(LAPTOP, SMALL, replace(ASKED, budget=64), plan, answer)
    assert found.acceptance == pytest.approx(1.3, rel=0.01)
    assert found.drafting == pytest.approx(1.7, rel=0.01)
    assert found.verifying == pytest.approx(0.6, rel=0.01)
    assert found.choosing == pytest.approx(1.0, rel=0.01)


def test_an_answer_without_trees_teaches_nothing():
    plan = plan_for(LAPTOP, SMALL, ASKED)
    assert observed(LAPTOP, SMALL, ASKED, plan, Answered([0, 0], 2, 0.0, 1.0)) is None
    assert observed(LAPTOP, SMALL, ASKED, plan, Answered([], 0, 0.0, 0.0)) is None


def test_an_outlier_is_clipped():
    plan = plan_for(LAPTOP, SMALL, ASKED)
    found = observed(LAPTOP, SMALL, ASKED, plan, Answered([64], tokens=1, draft_s=0.0, target_s=9e9))
    assert min(found.acceptance, found.drafting, found.choosing) == 1 / 20
    assert found.verifying == 20


def test_recent_answers_have_more_weight():
    history = [replace(SEEN, drafting=4.0)] * 5 + [replace(SEEN, drafting=1.0)] * 5
    assert 1.0 < corrected(history, "target", "draft", "cpu").drafting < 1.5
    last = corrected([SEEN], "target", "draft", "cpu")
    found = last.acceptance, last.drafting, last.verifying, last.choosing
    assert found == pytest.approx((1.2, 1.5, 0.8, 0.9))


def test_another_pair_learns_how_fast_the_device_is_but_not_how_well_models_agree():
    other = corrected([SEEN], "another", "draft", "cpu")
    assert (other.acceptance, other.choosing) == (1.0, 1.0)
    assert (other.drafting, other.verifying) == pytest.approx((1.5, 0.8))
    assert corrected([SEEN], "target", "draft", "cuda") == Correction()
    assert corrected([], "target", "draft", "cpu") == Correction()
    assert learned([SEEN], PAIR)("cpu").drafting == pytest.approx(1.5)
