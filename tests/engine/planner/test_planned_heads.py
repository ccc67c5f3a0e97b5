"""Plans with heads, and with the layer for drafts that comes with a target."""

from dataclasses import replace

import pytest

from engine.planner import Asked, Observed, PairOutline, fastest, plan_for
from engine.planner.acceptance import acceptance
from engine.planner.heads import HeadsOutline
from engine.planner.machines import GIB
from engine.planner.observation import OWN_LAYER_PAYS
from engine.planner.pairs import OWN_LAYER, with_own_layer
from tests.engine.planner.made import LAPTOP, SMALL

LAYER = HeadsOutline(
    stored=30 << 20, unpacked=0, kv_row=1024, weights=50_000_000, read=1536, width=1536, widest=8960
)
OPTIONAL = PairOutline(replace(SMALL.target, own_layer=LAYER), None, acceptance(0), own_layer="optional")


def chosen(machine, asked, pair=OPTIONAL):
    return fastest(machine, [pair], asked, ())


def test_an_own_layer_for_drafts_counts_and_is_loaded_where_the_whole_target_stays_in_memory():
    asked = Asked(4096, budget=15, unpacked=False)
    alone = plan_for(LAPTOP, replace(OPTIONAL, own_layer="none"), asked)
    beside, pair = chosen(LAPTOP, asked)
    assert (alone.own_layer, beside.own_layer, pair.own_layer) == (False, True, "required")
    size = LAPTOP.cpu.itemsize
    working = LAYER.pass_nbytes(4096, size) + LAYER.states_nbytes(4096, size)
    assert beside.memory.ram - alone.memory.ram == LAYER.nbytes(4096, size) + working


@pytest.mark.parametrize(("disk", "is_loaded"), [(0.3e9, True), (30e9, False)])
def test_beside_a_streamed_target_its_own_layer_is_loaded_where_it_pays(disk, is_loaded):
    """Where reading is the bound, more tokens per pass pay; where computing is, drafting takes as long."""
    machine, asked = replace(LAPTOP, disk=disk), Asked(2048, ram_limit_nbytes=GIB // 2, unpacked=False)
    if not is_loaded:
        machine = replace(machine, cpu=replace(machine.cpu, memory=machine.cpu.memory / 20))
    ways = with_own_layer(OPTIONAL), replace(OPTIONAL, own_layer="none")
    beside, alone = (plan_for(machine, way, asked) for way in ways)
    assert beside.memory.ssd
    speeds = [plan.predicted_tokens_per_second for plan in (beside, alone)]
    assert (speeds[0] >= OWN_LAYER_PAYS * speeds[1]) == is_loaded
    found, pair = chosen(machine, asked)
    assert found == (beside if is_loaded else alone)
    assert (pair.own_layer == "required") == found.own_layer == is_loaded


LONG_HEADS = replace(LAYER, kv_row=1 << 20)  # their rows of a long context fill more than the memory


@pytest.mark.parametrize(("context", "is_loaded"), [(512, True), (16384, False)])
def test_optional_heads_are_loaded_where_the_plan_runs_with_them(context, is_loaded):
    offered = replace(OPTIONAL, own_layer="none", heads=LONG_HEADS, optional_heads=True)
    found, pair = chosen(LAPTOP, Asked(context), offered)
    assert found.runs
    assert found.heads == (pair.heads is not None) == is_loaded
    required, _ = chosen(LAPTOP, Asked(context), replace(offered, optional_heads=False))
    assert required.runs == is_loaded
    assert required.heads


def test_a_plan_that_does_not_run_says_what_it_would_have_loaded():
    asked = Asked(2048)
    poor = replace(LAPTOP, ram=GIB // 4)
    layer = plan_for(poor, with_own_layer(OPTIONAL), asked)
    heads = plan_for(poor, replace(OPTIONAL, own_layer="none", heads=LAYER), asked)
    assert not layer.runs
    assert not heads.runs
    assert (layer.own_layer, layer.heads) == (True, False)
    assert (heads.own_layer, heads.heads) == (False, True)


def test_answers_with_the_own_layer_teach_nothing_about_those_without():
    learned = Observed("target", OWN_LAYER, "cpu", 3.0, 1.0, 1.0, 1.0)
    asked = Asked(4096, unpacked=False)
    for pair, is_taught in ((with_own_layer(OPTIONAL), True), (replace(OPTIONAL, own_layer="none"), False)):
        plain, _ = fastest(LAPTOP, [pair], asked, ())
        taught, _ = fastest(LAPTOP, [pair], asked, [learned])
        assert (taught.predicted_tokens_per_pass > plain.predicted_tokens_per_pass) == is_taught
