"""Plans with heads, and with the layer for drafts that comes with a target."""

from dataclasses import replace

import pytest

from engine.planner import Asked, Observed, fastest, plan_for, selection, smaller
from engine.planner.candidate import Candidate
from engine.planner.heads import HeadsOutline
from engine.planner.machines import GIB
from engine.planner.pairs import OWN_LAYER, with_heads, without_heads
from engine.planner.run_rows import HEAD_ROWS
from engine.planner.selection import OTHERS_PAY, OWN_LAYER_PAYS
from tests.engine.planner.made import CARD, DESKTOP, LAPTOP, SMALL

HEADS = HeadsOutline(
    stored=30 << 20, unpacked=0, kv_row=1024, weights=50_000_000, read=1536, width=1536, widest=8960
)
LAYER = replace(HEADS, is_layer=True)
REQUIRED = with_heads(SMALL.target, LAYER)
OPTIONAL = with_heads(SMALL.target, LAYER, optional=True)
ALONE = without_heads(OPTIONAL)


def chosen(machine, asked, pair=OPTIONAL):
    return fastest(machine, [pair], asked, ())


def test_an_own_layer_for_drafts_counts_and_is_loaded_where_the_whole_target_stays_in_memory():
    asked = Asked(4096, budget=15, unpacked=False)
    alone = plan_for(LAPTOP, ALONE, asked)
    beside, pair = chosen(LAPTOP, asked)
    assert (alone.heads, beside.heads, pair.layer) == (None, "own layer", LAYER)
    size = LAPTOP.cpu.itemsize
    working = LAYER.pass_nbytes(4096, size) + LAYER.states_nbytes(4096, size)
    assert beside.memory.ram - alone.memory.ram == LAYER.nbytes(4096, size) + working


@pytest.mark.parametrize("stored", [0, 30 << 20])
def test_on_cards_before_ampere_weights_and_rows_of_heads_take_two_bytes_a_number_and_states_four(stored):
    heads = replace(HEADS, stored=stored, unpacked=50_000_000)
    asked, old = Asked(4096), replace(DESKTOP, card=replace(CARD, halves=True))
    of_heads = []
    for machine in (old, DESKTOP):
        beside, alone = (
            Candidate(pair, machine, asked, "cuda", 15, False, False).overhead_nbytes
            for pair in (with_heads(SMALL.target, heads), ALONE)
        )
        of_heads.append(beside - alone)
    between = 4096 * (heads.read + heads.width) + HEAD_ROWS * (6 * heads.width + 3 * heads.widest)
    halves_and_outputs = 4 * HEAD_ROWS * (3 * heads.widest // 2)
    assert of_heads[0] - of_heads[1] == 2 * between + halves_and_outputs


def test_a_limit_that_holds_everything_does_not_leave_it_out(monkeypatch):
    """However much it would have to pay beside a streamed target."""
    monkeypatch.setattr(selection, "OWN_LAYER_PAYS", 1e9)
    for limit, is_loaded in ((8 * GIB, True), (GIB // 2, False)):
        found, pair = chosen(LAPTOP, Asked(2048, ram_limit_nbytes=limit))
        assert found.ram_limit_nbytes == limit
        assert (pair.layer is not None) == (found.heads == "own layer") == is_loaded == (not found.streams)


@pytest.mark.parametrize(("disk", "is_loaded"), [(0.3e9, True), (30e9, False)])
def test_beside_a_streamed_target_its_own_layer_is_loaded_where_it_pays(disk, is_loaded):
    """Where reading is the bound, more tokens per pass pay; where computing is, drafting takes as long."""
    machine, asked = replace(LAPTOP, disk=disk), Asked(2048, ram_limit_nbytes=GIB // 2, unpacked=False)
    if not is_loaded:
        machine = replace(machine, cpu=replace(machine.cpu, memory=machine.cpu.memory / 20))
    beside, alone = (plan_for(machine, way, asked) for way in (REQUIRED, ALONE))
    assert beside.memory.ssd
    speeds = [plan.predicted_tokens_per_second for plan in (beside, alone)]
    assert (speeds[0] >= OWN_LAYER_PAYS * speeds[1]) == is_loaded
    found, pair = chosen(machine, asked)
    assert found == (beside if is_loaded else alone)
    assert (pair.layer is not None) == (found.heads == "own layer") == is_loaded


LONG_HEADS = replace(HEADS, kv_row=1 << 20)  # their rows of a long context fill more than the memory


@pytest.mark.parametrize(("context", "is_loaded"), [(512, True), (16384, False)])
def test_optional_heads_are_loaded_where_the_plan_runs_with_them(context, is_loaded):
    offered = with_heads(SMALL.target, LONG_HEADS, optional=True)
    found, pair = chosen(LAPTOP, Asked(context), offered)
    assert found.runs
    assert (found.heads == "other") == (pair.heads is not None) == is_loaded
    required, _ = chosen(LAPTOP, Asked(context), replace(offered, optional_heads=False))
    assert required.runs == is_loaded
    assert required.heads == "other"


def test_a_plan_that_does_not_run_says_what_it_would_have_loaded():
    asked = Asked(2048)
    poor = replace(LAPTOP, ram=GIB // 4)
    layer = plan_for(poor, REQUIRED, asked)
    heads = plan_for(poor, with_heads(SMALL.target, HEADS), asked)
    assert not layer.runs
    assert not heads.runs
    assert (layer.heads, heads.heads) == ("own layer", "other")


def test_answers_with_the_own_layer_teach_nothing_about_those_without():
    learned = Observed("target", OWN_LAYER, "cpu", 3.0, 1.0, 1.0, 1.0)
    asked = Asked(4096, unpacked=False)
    for pair, is_taught in ((REQUIRED, True), (ALONE, False)):
        plain, _ = fastest(LAPTOP, [pair], asked, ())
        taught, _ = fastest(LAPTOP, [pair], asked, [learned])
        assert (taught.predicted_tokens_per_pass > plain.predicted_tokens_per_pass) == is_taught


OTHERS = with_heads(SMALL.target, HEADS, optional=True)


@pytest.mark.parametrize("offered", [OPTIONAL, OTHERS])
def test_if_memory_runs_out_optional_heads_are_given_up_before_layers_of_the_target(offered):
    machine, asked = LAPTOP, Asked(2048, unpacked=False)
    plan, pair = fastest(machine, [offered], asked, ())
    while pair.heads:
        assert plan.heads
        assert not plan.streams
        plan, pair, machine = smaller(plan, machine, pair, asked, "ram")
    assert plan.heads is None
    beside = plan_for(machine, offered, asked)
    assert beside.layers.ram < plan.layers.ram
    assert beside.predicted_tokens_per_second < plan.predicted_tokens_per_second
    required = replace(offered, optional_heads=False)
    assert smaller(plan, machine, required, asked, "ram")[0].heads


@pytest.mark.parametrize(("offered", "stay"), [(OPTIONAL, True), (OTHERS, False)])
def test_beside_a_streamed_target_heads_that_pay_stay_if_memory_runs_out(offered, stay):
    """Where reading is the bound, the guesses of an own layer pay; nothing predicts those of others."""
    machine, asked = replace(LAPTOP, disk=0.1e9), Asked(2048, ram_limit_nbytes=GIB // 2, unpacked=False)
    plan, pair = fastest(machine, [offered], asked, ())
    assert plan.streams
    assert plan.heads
    plan, pair, _ = smaller(plan, machine, pair, asked, "ram")
    assert bool(plan.heads) == (pair.heads is not None) == stay


def test_heads_are_given_up_before_the_context():
    asked = Asked(4096, unpacked=False)
    offered = with_heads(SMALL.target, replace(HEADS, kv_row=1 << 18), optional=True)
    machine, (plan, pair) = LAPTOP, fastest(LAPTOP, [offered], asked, ())
    assert plan.heads
    while plan.heads:
        plan, pair, machine = smaller(plan, machine, pair, asked, "ram")
    assert plan.context == asked.context


LARGE = HeadsOutline(
    stored=0,
    unpacked=100_000_000,
    kv_row=1024,
    weights=100_000_000,
    read=1536,
    width=1536,
    widest=8960,
)


def with_card(quarters):
    return replace(DESKTOP, vram=quarters * GIB // 4)


def assert_heads_pay(planned, machine, offered, asked, others_pay):
    """Optional heads never cost the card, nor more speed than is allowed where weights are streamed."""
    plan, pair = planned
    alone = plan_for(machine, without_heads(offered), asked)
    assert alone.runs
    if pair.heads is None:
        assert plan == alone
    elif plan.streams or plan.device != alone.device:
        least = OWN_LAYER_PAYS if offered.layer else others_pay
        assert plan.predicted_tokens_per_second >= least * alone.predicted_tokens_per_second


@pytest.mark.parametrize("heads", [HEADS, LARGE])
@pytest.mark.parametrize("is_layer", [True, False])
def test_on_no_card_do_optional_heads_cost_more_speed_than_is_allowed(heads, is_layer):
    """Some cards are so small that the target beside heads would leave them, or would be streamed."""
    offered = with_heads(SMALL.target, replace(heads, is_layer=is_layer), optional=True)
    asked = Asked(4096)
    loaded = set()
    for quarters in range(8, 17):
        machine = with_card(quarters)
        plan, pair = chosen(machine, asked, offered)
        loaded.add(pair.heads is not None)
        assert_heads_pay((plan, pair), machine, offered, asked, OTHERS_PAY)
        if pair.heads is not None and plan.device == "cuda":
            *found, its_machine = smaller(plan, machine, pair, asked, "vram")
            assert_heads_pay(found, its_machine, offered, replace(asked, context=found[0].context), 1.0)
    assert loaded == {True, False}


@pytest.mark.parametrize("offered", [OPTIONAL, OTHERS])
def test_optional_heads_do_not_drive_the_target_from_its_card(offered):
    machine, asked = with_card(9), Asked(4096)
    devices = [plan_for(machine, way, asked).device for way in (offered, without_heads(offered))]
    assert devices == ["cpu", "cuda"]
    plan, pair = chosen(machine, asked, offered)
    assert (plan.device, pair.heads) == ("cuda", None)
