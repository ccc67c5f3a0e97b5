"""Mixtures whose experts are on a real card, in RAM and on the SSD at once, with the processor's help and
without. `tests/engine/card/test_mixtures.py` asks the same of the card for tests."""

import platformdirs
import pytest

from engine.machine.disk_reads import SECTOR
from engine.streaming import chunks
from tests.engine import mixtures
from tests.engine.mixtures import EVEN, SLOW_LINK

TIMES = {"alone": None, "near": SLOW_LINK, "divided": EVEN}


@pytest.fixture(autouse=True)
def small_files(monkeypatch, tmp_path):
    """Experts that lie close together in a small file are moved one by one, and begin without what earlier
    answers have taught."""
    monkeypatch.setattr(chunks, "GAP_NBYTES", SECTOR)
    monkeypatch.setattr(platformdirs, "user_data_path", lambda *args, **kwargs: tmp_path / "data")


@pytest.fixture(params=mixtures.KINDS)
def path(request, tmp_path):
    return mixtures.write(request.param, tmp_path)


@pytest.mark.parametrize("times", TIMES.values(), ids=TIMES)
def test_tokens_are_those_of_the_whole_model_wherever_experts_are(path, times, cuda):
    mixtures.check_homes(path, cuda, times)


def test_a_processor_that_helps_by_the_seconds_that_it_measured_changes_no_token(path, cuda):
    mixtures.check_homes(path, cuda, helps=True)


@pytest.mark.parametrize("times", TIMES.values(), ids=TIMES)
def test_a_cache_that_shrinks_in_the_middle_of_an_answer_changes_no_token(path, times, cuda):
    mixtures.check_shrunk_cache(path, cuda, times)


@pytest.mark.parametrize("times", [None, EVEN], ids=["alone", "helped"])
def test_results_of_experts_in_all_places_are_added_in_the_order_of_the_router(path, times, cuda):
    mixtures.check_order(path, cuda, times)
