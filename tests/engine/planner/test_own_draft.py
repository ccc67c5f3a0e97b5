"""When a target should draft for itself."""

from dataclasses import replace

import pytest

from engine.errors import BadOption
from engine.planner import (
    Asked,
    fastest,
    outline_named,
    own_draft,
    own_draft_refusal,
    pairs_named,
    plan_for,
    self_pairs,
)
from engine.planner.acceptance import acceptance
from engine.planner.machines import GIB
from engine.planner.own_draft import NOTHING_KEPT
from engine.planner.pairs import PairOutline, pair_of
from engine.planner.recommendation import reliable_speed
from tests.engine.planner.made import DESKTOP, LAPTOP, SMALL, outline

TARGET = outline(28, 90 << 20, 1_310_000_000, 1536, 151_936, packed=False, tied=True, compiled=True)
ALONE = PairOutline(TARGET, None, acceptance(0))
SCARCE = replace(LAPTOP, ram=4 * GIB, disk=0.5e9)


PLAIN = Asked(2048)


def offered(machine, pair, asked=PLAIN, kept=NOTHING_KEPT):
    return own_draft(machine, pair, asked, plan_for(machine, pair, asked), kept=kept)


def test_a_streamed_target_without_a_draft_should_and_its_copies_are_counted():
    own = offered(SCARCE, ALONE, Asked(2048, ram_limit_nbytes=GIB // 2))
    assert own.speedup >= 1.25
    plan, pair = fastest(SCARCE, self_pairs(TARGET), Asked(2048, ram_limit_nbytes=GIB // 2), ())
    assert own.nbytes == pytest.approx(pair.substitutes.stored * plan.memory.ssd / TARGET.multiplied)


def test_the_copy_that_the_disk_has_is_offered_and_takes_no_more_room():
    """Only what would be made takes room: a full disk that has the copies is no reason against them."""
    asked = Asked(2048, ram_limit_nbytes=GIB // 2)
    plain = fastest(SCARCE, self_pairs(TARGET), asked, ())[1].substitutes.name
    for kept in {form.name for form in TARGET.substitutes} - {plain}:
        plan, pair = fastest(SCARCE, self_pairs(TARGET), asked, (), {kept})
        if pair.substitutes.name == kept:
            break
    share, stored = plan.memory.ssd / TARGET.multiplied, pair.substitutes.stored
    for there, missing in ((0.0, share), (share / 4, share * 3 / 4), (1.0, 0.0)):
        own = offered(SCARCE, ALONE, asked, {kept: there})
        assert own.nbytes == pytest.approx(missing * stored)
    whole = offered(SCARCE, ALONE, asked).nbytes
    assert whole != pytest.approx(share * stored), "without a copy on the disk, the best format"


def test_one_that_is_in_memory_or_on_a_card_should_not():
    assert offered(LAPTOP, ALONE) is None
    assert plan_for(DESKTOP, ALONE, Asked(2048)).device == "cuda"
    assert offered(DESKTOP, ALONE) is None


def test_beside_a_draft_model_the_better_of_both_is_offered():
    machine, asked = replace(SCARCE, ram=8 * GIB), Asked(2048, ram_limit_nbytes=GIB // 2)
    dear = outline(28, 45 << 20, 1_310_000_000, 1536, 151_936, name="dear", tied=True)
    assert offered(machine, pair_of(TARGET, SMALL.draft), asked) is None
    pair = pair_of(TARGET, dear)
    own = offered(machine, pair, asked)
    plan, itself = fastest(machine, self_pairs(TARGET), asked, ())
    speeds = [
        reliable_speed(*planned, ()) for planned in ((plan, itself), (plan_for(machine, pair, asked), pair))
    ]
    assert own.speedup == pytest.approx(speeds[0] / speeds[1])
    assert own.speedup >= 1.25


def test_one_that_computes_longer_than_it_reads_should_not():
    slow = replace(SCARCE.cpu, flops=SCARCE.cpu.flops / 50, memory=SCARCE.cpu.memory / 50)
    asked = Asked(2048, ram_limit_nbytes=GIB // 2, budget=64)
    assert offered(SCARCE, ALONE, asked) is not None
    assert offered(replace(SCARCE, cpu=slow), ALONE, asked) is None
    assert offered(replace(SCARCE, disk=5e9), ALONE, asked) is None


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("qwen2.5-14b-awq", "compiled passes"),
        ("qwen3-30b-a3b-q4_k_m", "mixture of experts"),
        ("coder", None),
    ],
)
def test_plans_refuse_by_name_what_loading_refuses(target, reason):
    if reason is None:
        assert own_draft_refusal(outline_named(target)) is None
        assert pairs_named(target, "self")[0].shared
        return
    with pytest.raises(BadOption, match=reason):
        pairs_named(target, "self")
    alone = replace(ALONE, target=outline_named(target))
    assert offered(SCARCE, alone, Asked(2048, ram_limit_nbytes=GIB // 2)) is None


def test_a_target_of_few_bits_or_with_states_is_refused():
    assert "few bits" in own_draft_refusal(replace(TARGET, substitutes=())).message
    assert "states" in own_draft_refusal(replace(TARGET, states=1)).message
    assert own_draft_refusal(TARGET) is None
