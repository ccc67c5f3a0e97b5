"""Mixtures whose experts are on the card, in RAM and on the SSD at once, with the processor's help and
without: what `tests/gpu/test_mixtures.py` asks of a real card."""

import platformdirs
import pytest

from tests.engine import mixtures
from tests.engine.card.kernels import TYPE
from tests.engine.card.test_engine import tiny_gaps
from tests.engine.mixtures import EVEN, SLOW_LINK

__all__ = ["tiny_gaps"]  # a fixture


@pytest.fixture(autouse=True)
def no_earlier_answers(monkeypatch, tmp_path):
    monkeypatch.setattr(platformdirs, "user_data_path", lambda *args, **kwargs: tmp_path / "data")


@pytest.mark.parametrize(
    ("kind", "times"),
    [("olmoe", None), ("olmoe", EVEN), ("qwen3_moe", SLOW_LINK), ("gpt_oss", None), ("gpt_oss", EVEN)],
    ids=["olmoe", "olmoe, divided", "qwen3_moe, near", "gpt_oss", "gpt_oss, divided"],
)
def test_tokens_are_those_of_the_whole_model_wherever_experts_are(kind, times, tmp_path):
    mixtures.check_homes(mixtures.write(kind, tmp_path), TYPE, times)


@pytest.mark.parametrize(("kind", "times"), [("qwen3_moe", None), ("gpt_oss", EVEN)], ids=["alone", "helped"])
def test_a_cache_that_shrinks_in_the_middle_of_an_answer_changes_no_token(kind, times, tmp_path):
    mixtures.check_shrunk_cache(mixtures.write(kind, tmp_path), TYPE, times)


@pytest.mark.parametrize(("kind", "times"), [("olmoe", None), ("gpt_oss", EVEN)], ids=["alone", "helped"])
def test_results_of_experts_in_all_places_are_added_in_the_order_of_the_router(kind, times, tmp_path):
    mixtures.check_order(mixtures.write(kind, tmp_path), TYPE, times)
