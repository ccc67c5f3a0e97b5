"""Plans reckon with a processor that multiplies by the experts that a card lacks."""

from dataclasses import replace

import pytest

from engine.checkpoints import open_checkpoint
from engine.planner import PairOutline, checkpoint_outline, plan_for
from engine.planner.expert_times import GAIN
from engine.planner.machines import GIB
from engine.planner.outline import catalogued
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.models import reference
from tests.engine.planner.made import PAIR
from tests.engine.planner.test_shared_target import HELPED, MACHINE

MIXTURE = PairOutline(catalogued("qwen3-30b-a3b-q4_k_m"), None, PAIR.acceptance)
PLAIN = replace(HELPED, budget=0)


def test_a_plan_shares_the_experts_that_the_card_lacks_with_the_processor():
    alone = plan_for(MACHINE, MIXTURE, replace(PLAIN, helper=None))
    plan = plan_for(MACHINE, MIXTURE, PLAIN)
    assert 0.5 < plan.helped < 0.8, "of 62 GB/s, the link leaves the processor 50, and packing takes its time"
    assert plan.seconds_per_pass < GAIN * alone.seconds_per_pass
    assert (plan.memory, plan.experts) == (alone.memory, alone.experts)


def test_of_experts_on_the_ssd_the_processor_gets_those_that_ram_holds():
    fast = replace(MACHINE, disk=14e9)
    limits = [8 * GIB, 12 * GIB, 14 * GIB, None]
    shares = [plan_for(fast, MIXTURE, replace(PLAIN, ram_limit_nbytes=limit)).helped for limit in limits]
    assert shares[0] == 0, "the card holds more than RAM"
    assert 0 < shares[1] < shares[2] < shares[3]
    slow = plan_for(replace(MACHINE, disk=5e9), MIXTURE, replace(PLAIN, ram_limit_nbytes=12 * GIB))
    assert (slow.helped, slow.limited_by) == (0, "disk"), "help would save nothing"


def test_a_faster_link_leaves_the_processor_less():
    shares = [
        plan_for(replace(MACHINE, link=link), MIXTURE, PLAIN).helped for link in (6e9, 12e9, 25e9, 55e9)
    ]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0 == shares[-1]


@pytest.mark.parametrize(
    ("machine", "pair", "asked"),
    [
        (MACHINE, MIXTURE, replace(PLAIN, ram_limit_nbytes=8 * GIB)),
        (MACHINE, MIXTURE, replace(PLAIN, budget=64)),
        (MACHINE, replace(MIXTURE, target=replace(MIXTURE.target, near_experts=False)), PLAIN),
        (replace(MACHINE, vram=40 * GIB), MIXTURE, PLAIN),
    ],
    ids=["experts on the SSD", "rows of a prompt", "another format", "all on the card"],
)
def test_experts_are_the_cards_alone_where_help_is_not_possible(machine, pair, asked):
    plan = plan_for(machine, pair, asked)
    assert plan.runs
    assert plan.helped == 0


@pytest.mark.parametrize(("form", "near"), [("Q8_0", True), (None, True)])
def test_a_file_says_whether_the_processor_can_multiply_by_its_experts(form, near, tmp_path):
    module = reference("qwen3_moe", hidden_size=64, moe_intermediate_size=32)
    path = convert(module, tmp_path / "model.gguf", *([form] if form else []))
    assert checkpoint_outline(open_checkpoint(path), "tiny").near_experts == near
    dense = convert(reference("qwen3"), tmp_path / "dense.gguf")
    assert not checkpoint_outline(open_checkpoint(dense), "dense").near_experts
