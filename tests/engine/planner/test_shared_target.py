"""Plans reckon with a processor that helps a card, by the rule that a loaded model uses. How well they
predict its passes is compared in tests/engine/bench/simulation/test_outcome.py."""

from dataclasses import replace

import pytest

from engine.checkpoints import open_checkpoint
from engine.planner import (
    Asked,
    HelpingProcessor,
    PairOutline,
    checkpoint_outline,
    iteration_seconds,
    plan_for,
)
from engine.planner.lent_share import GAIN, ROWS
from engine.planner.machines import GIB, compiled_processor
from engine.planner.outline import catalogued
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.models import reference
from tests.engine.planner.made import DESKTOP, PAIR

MACHINE = replace(DESKTOP, vram=12 * GIB, link=12.4e9)
PROCESSOR = replace(compiled_processor(8, {"avx512_vnni"}), memory=62e9)
HELPED = Asked(8192, device="cuda", helper=HelpingProcessor(PROCESSOR, "measured"))
LENDABLE = replace(PAIR, target=replace(PAIR.target, lendable=1.0))
WITHOUT_DRAFT = PairOutline(LENDABLE.target, None, PAIR.acceptance)


def test_a_plan_shares_the_target_with_the_processor_in_trees_of_few_rows():
    plan = plan_for(MACHINE, LENDABLE, HELPED)
    assert plan.helped > 0.3
    assert plan.budget < ROWS
    alone = plan_for(MACHINE, LENDABLE, replace(HELPED, helper=None, budget=plan.budget))
    assert alone.helped == 0
    assert plan.seconds_per_pass < GAIN * alone.seconds_per_pass
    assert plan.memory == alone.memory


def test_more_rows_are_the_cards_alone():
    fixed = replace(HELPED, budget=ROWS)
    plan = plan_for(MACHINE, LENDABLE, fixed)
    alone = plan_for(MACHINE, LENDABLE, replace(fixed, helper=None))
    assert (plan.budget, plan.seconds_per_pass) == (ROWS, alone.seconds_per_pass)
    seconds = iteration_seconds(MACHINE, LENDABLE, HELPED, plan)
    assert seconds(ROWS - 1) < 0.8 * seconds(ROWS)


@pytest.mark.parametrize(
    ("machine", "pair", "asked"),
    [
        (MACHINE, LENDABLE, replace(HELPED, helper=None)),
        (MACHINE, PAIR, HELPED),
        (replace(MACHINE, link=60e9), LENDABLE, HELPED),
        (replace(MACHINE, vram=80 * GIB), LENDABLE, HELPED),
        (MACHINE, LENDABLE, replace(HELPED, ram_limit_nbytes=2 * GIB)),
    ],
    ids=["not asked", "another format", "a fast link", "nothing streamed", "the disk is the limit"],
)
def test_the_processor_does_not_help_where_it_does_not_pay(machine, pair, asked):
    plan = plan_for(machine, pair, asked)
    assert plan.runs
    assert plan.helped == 0


def test_what_can_be_lent_is_in_a_format_of_compiled_passes_and_no_expert():
    assert catalogued("qwen2.5-72b-q4_k_m").lendable == 1
    assert catalogued("qwen2.5-72b-awq").lendable == 0
    assert 0 < catalogued("qwen3-30b-a3b-q4_k_m").lendable < 0.1


@pytest.mark.parametrize(("kind", "share"), [("qwen3", 1.0), ("qwen3_moe", 0.4)])
def test_a_file_says_what_can_be_lent(kind, share, tmp_path):
    module = reference(kind, hidden_size=64, intermediate_size=128)
    file = open_checkpoint(convert(module, tmp_path / "model.gguf", "Q8_0"))
    assert checkpoint_outline(file, "tiny").lendable == pytest.approx(share, abs=0.1)


def test_a_draft_of_the_same_pair_takes_its_time_beside_the_help():
    fixed = replace(HELPED, budget=ROWS - 1)
    plan = plan_for(MACHINE, LENDABLE, fixed)
    without = plan_for(MACHINE, WITHOUT_DRAFT, fixed)
    assert plan.draft_s > 0 == without.draft_s
    assert without.helped == pytest.approx(plan.helped, rel=0.1)


def test_larger_trees_without_help_are_taken_where_they_give_more_tokens_per_second():
    """A card that is fast for its link verifies large trees while the weights arrive."""
    few = plan_for(MACHINE, WITHOUT_DRAFT, replace(HELPED, budget=ROWS - 1))
    assert few.helped > 0.2, "it pays by the rule of passes of few rows"
    best = plan_for(MACHINE, WITHOUT_DRAFT, HELPED)
    assert (best.helped, best.forgoes_help) == (0, True)
    assert best.budget >= ROWS
    assert best.other_way.predicted_tokens_per_second < best.predicted_tokens_per_second
    assert best.other_way.budget < ROWS
    assert best.held_to(HELPED).helper is None
    seconds = iteration_seconds(MACHINE, WITHOUT_DRAFT, HELPED, best)
    assert seconds(ROWS - 1) == pytest.approx(seconds(ROWS), rel=0.05), "no trees are helped then"


def test_help_is_taken_where_it_gives_more_tokens_per_second_than_larger_trees():
    best = plan_for(MACHINE, LENDABLE, HELPED)
    alone = plan_for(MACHINE, LENDABLE, replace(HELPED, helper=None))
    assert not best.forgoes_help
    assert best.predicted_tokens_per_second > alone.predicted_tokens_per_second
    assert best.other_way.budget == alone.budget
    assert best.other_way.predicted_tokens_per_second == alone.predicted_tokens_per_second


def test_by_itself_the_processor_multiplies_by_experts_only():
    """The card has no room for a cache of experts, so these are streamed with their layers; half of what is
    streamed is no expert, and could be lent."""
    dense = LENDABLE.target
    experts = sum(dense.layers) // 2
    of_mixture = {"experts": experts, "expert": experts // 640, "chosen": 0.25, "active": 0.625}
    mixture = replace(LENDABLE, target=replace(dense, lendable=0.5, near_experts=True, **of_mixture))
    auto = replace(HELPED, helper=HelpingProcessor(PROCESSOR, "auto"))
    helped, alone, by_itself = (
        plan_for(MACHINE, mixture, asked) for asked in (HELPED, replace(HELPED, helper=None), auto)
    )
    assert helped.helped > 0
    assert helped.experts is None
    assert by_itself == alone
    assert by_itself.help_once_loaded("auto") == "never"
    assert by_itself.held_to(auto).helper is None
