"""One recommended pair for each machine, with a reason; and predictions for the paper's measurements."""

import pytest

from engine import catalog
from engine.planner import named_machines, recommend, usual_card
from engine.planner.machines import GIB, MachineProfile
from engine.planner.paper import comparison
from engine.planner.recommendation import READING_SPEED, quantized
from tests.engine.planner.made import CPU, LAPTOP

CATALOG = catalog.catalog()


def size(plan) -> int:
    return CATALOG.models[CATALOG.variants[plan.pair.target].model].parameters


def test_larger_machines_are_recommended_larger_models():
    found = {id: recommend(there, CATALOG) for id, (_, there) in named_machines().items()}
    sizes = [size(found[id].plan) for id in ("rtx-4090", "rtx-4080s", "rtx-4070ti", "rtx-4060", "laptop")]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[2] > 60e9, "a card of 12 GiB answers with a 70B model"
    for each in found.values():
        assert each.plan.predicted_tokens_per_second >= READING_SPEED
        assert "is the largest model" in each.why


def test_if_nothing_reaches_reading_speed_the_fastest_is_recommended():
    slow = MachineProfile(0, 12 * GIB, 1e9, 1e9, None, CPU.__class__(1e9, 1e9, 1e8, 0, 0.01, 0.0, 4))
    found = recommend(slow, CATALOG)
    assert found.plan.predicted_tokens_per_second < READING_SPEED
    assert "is the fastest model for this machine" in found.why


def test_if_nothing_runs_the_reason_says_what_is_missing():
    found = recommend(MachineProfile(0, GIB, 1e9, 1e9, None, CPU), CATALOG)
    assert not found.plan.runs
    assert f"it needs {found.plan.missing}." in found.why


def test_no_16_bit_variant_is_recommended_if_there_is_a_quantized_one():
    for model in CATALOG.models.values():
        formats = {variant.format for variant in quantized(model)}
        assert formats
        assert "16-bit" not in formats or formats == {"16-bit"}


def test_a_card_of_unknown_name_is_judged_by_its_size():
    speeds = [usual_card(vram).memory for vram in (0.5, 6, 8, 12, 16, 24, 96)]
    assert speeds == sorted(speeds)
    assert speeds[0] == speeds[2] < speeds[3]


@pytest.mark.parametrize("one", list(comparison()), ids=lambda one: one.published.name)
def test_seconds_per_pass_agree_with_what_was_published(one):
    """For the engine that was measured. Its plain pass takes as long as the link, if a speed-up was
    published."""
    if one.published_plain_s is not None:
        assert one.predicted_plain_s == pytest.approx(one.published_plain_s, rel=0.25)
    if one.published.card == "RTX 2080 Ti":
        # The published 1.9 tokens/s times the predicted seconds are 6.7 tokens per pass, as TinyLlama reaches
        # with this budget: the draft was smaller than in the other measurements.
        assert one.predicted_s * one.published.tokens_per_second == pytest.approx(6.7, rel=0.05)
    else:
        assert one.ratio == pytest.approx(1.0, abs=0.25)
    assert one.ours.seconds_per_pass < one.predicted_s, "resident weights need not be moved"


def test_a_laptop_without_a_card_gets_a_model_that_fits_its_ram():
    found = recommend(LAPTOP, CATALOG)
    assert found.plan.fit == "in RAM"
    assert found.plan.memory.ram < LAPTOP.ram
