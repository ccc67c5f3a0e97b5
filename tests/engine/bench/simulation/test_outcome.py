"""Simulated cases: their bounds hold, and the code of the engine comes close to them."""

import json
from dataclasses import replace

import pytest

from engine import catalog, cli
from engine.bench.schedule import PCIE
from engine.bench.simulation.model import catalogued_weights
from engine.bench.simulation.outcome import simulate, simulate_help
from engine.errors import BadOption
from engine.planner import asked_for, described_machine, named_machines, plan_for
from engine.planner.machines import (
    LAUNCH_S,
    LINK_SHARE,
    cards,
    compiled_processor,
    processor,
    usual_card,
)
from engine.planner.outline import catalogued
from engine.planner.pairs import pair_of
from engine.streaming import ram_tier

TARGET, DRAFT = "qwen2.5-14b-awq", "qwen2.5-1.5b-q4_k_m"
PAIR = pair_of(catalogued(TARGET), catalogued(DRAFT))
BOUND = 0.1  # by which predictions may differ from simulated seconds
VARIANT = catalog.entries()[TARGET]
WEIGHTS = catalogued_weights(catalog.catalog().models[VARIANT.model], VARIANT)


def machine(ram=64, link=12.5e9, disk=7e9, vram=8):
    return described_machine(vram, ram, link, disk, usual_card(vram), processor(8, {"avx2"}))


def test_a_pass_and_its_iterations_come_close_to_the_bound_and_to_the_plan():
    outcome = simulate(WEIGHTS, PAIR, machine(link=4e9), 64, 4096)
    one, iteration = outcome.one_pass, outcome.iteration
    assert one.moving_s > one.computing_s
    assert one.bound_s == one.moving_s <= one.pass_s
    assert one.share > 0.97
    assert one.planned_s == pytest.approx(one.pass_s, rel=0.1)
    assert iteration.turns_bound_s <= iteration.turns_s * 1.001
    assert iteration.turns_s < 1.05 * iteration.turns_bound_s
    assert one.pass_s <= iteration.overlapped_s * 1.001 < iteration.turns_s
    assert iteration.overlapped_s < 1.03 * iteration.overlapped_bound_s
    assert outcome == simulate(WEIGHTS, PAIR, machine(link=4e9), 64, 4096), "not the same each time"


def test_a_head_of_16_bits_does_not_starve_the_card_at_the_end_of_a_pass():
    """Where moving takes as long as computing, a head that arrives while it is used costs 14 %."""
    # Beside what the draft may take for its own pass over a prompt, as much of the target is resident.
    prompt = 2048 * (6 * PAIR.draft.hidden + 3 * PAIR.draft.widest) * 2
    one = simulate(WEIGHTS, PAIR, machine(vram=8 + prompt / 2**30), 64, 4096).one_pass
    assert 0.9 < one.moving_s / one.computing_s < 1
    assert one.ratio < 1.01


def test_the_next_tree_is_spared_the_share_that_survives():
    """Beside a pass, the draft has what the card does not need for the pass itself."""
    few, more = (simulate(WEIGHTS, PAIR, machine(link=4e9), 64, 4096, share) for share in (0.02, 0.1))
    idle_s = few.one_pass.pass_s - few.one_pass.computing_s
    assert 0.1 * idle_s < more.iteration.drafting_s, "a part of each tree grows in turn"
    spared_s = few.iteration.overlapped_s - more.iteration.overlapped_s
    assert spared_s == pytest.approx((0.1 - 0.02) * idle_s, rel=0.1)


LARGE, ITS_DRAFT = "qwen2.5-72b-awq", "qwen2.5-7b-q4_k_m"


@pytest.mark.parametrize(
    ("card", "vram", "pcie", "launch_s"),
    [
        ("RTX 5090", 32, 5, LAUNCH_S),
        ("RTX 5090", 32, 5, 90e-6),
        ("RTX 5090", 32, 5, 200e-6),
        ("RTX 4090", 24, 5, LAUNCH_S),
        ("RTX 4090", 24, 3, LAUNCH_S),
        ("RTX 4060", 8, 4, LAUNCH_S),
    ],
)
def test_a_plan_knows_of_the_pieces_that_are_launched(card, vram, pcie, launch_s):
    """4,555 of them: on a fast card over a fast link they can take longer than both."""
    variant = catalog.entries()[LARGE]
    weights = catalogued_weights(catalog.catalog().models[variant.model], variant)
    speed = replace(cards()[card], launch_s=launch_s)
    there = described_machine(vram, 64, PCIE[pcie] * LINK_SHARE, 7e9, speed, processor(8, {"avx2"}))
    pair = pair_of(catalogued(LARGE), catalogued(ITS_DRAFT if vram > 8 else "qwen2.5-0.5b-q4_k_m"))
    outcome = simulate(weights, pair, there, 64, 2048)
    one, iteration = outcome.one_pass, outcome.iteration
    assert one.pass_s > 4555 * launch_s
    assert one.planned_s == pytest.approx(one.pass_s, rel=BOUND)
    assert iteration.planned_s == pytest.approx(iteration.turns_s, rel=BOUND)


# Of the seconds for which a draft computed beside passes, the most that the next tree was spared
# (docs/benchmarks/cards.md, “What growing ahead would add to plans”).
SPARED = 0.17


def test_growing_ahead_would_hardly_change_the_predictions_of_plans():
    """Plans reckon with taking turns. If this fails, they should no longer."""
    variant = catalog.entries()[LARGE]
    weights = catalogued_weights(catalog.catalog().models[variant.model], variant)
    pair, there = pair_of(catalogued(LARGE), catalogued(ITS_DRAFT)), named_machines()["rtx-4090"][1]
    plan = plan_for(there, pair, asked_for(there, pair.target))
    iteration = simulate(weights, pair, there, 1 + plan.budget, plan.context, SPARED).iteration
    assert plan.draft_s > 0.15 * plan.seconds_per_pass, "there is much to hide"
    assert iteration.turns_s == pytest.approx(iteration.overlapped_s, rel=0.04)


HELPED = "qwen2.5-14b-q4_k_m"


def test_a_processor_that_helps_makes_passes_faster_the_fewer_rows_they_have():
    few, more = (helped(HELPED, rows) for rows in (1, 32))
    assert 0 < few.share == more.share < 1
    assert few.alone_s / few.shared_s > 1.5
    assert more.alone_s / more.shared_s > 1.4


@pytest.mark.parametrize(
    ("target", "described"), [(HELPED, {"memory": 6e9}), (HELPED, {"link": 25e9}), (TARGET, {})]
)
def test_a_processor_does_not_help_where_it_does_not_pay(target, described):
    """The link leaves no bandwidth; the card is what takes time; or AWQ's words are no tiles."""
    one = helped(target, 1, **described)
    assert one.share == one.planned_share == 0


def test_a_processor_does_not_help_with_many_rows():
    many = helped(HELPED, 64)
    assert many.shared_s == pytest.approx(many.alone_s)
    assert many.planned_s == pytest.approx(many.shared_s, rel=0.1)


@pytest.mark.parametrize("vram", [8, 12, 16, 24])
def test_a_plan_predicts_the_passes_of_a_72b_that_card_and_processor_share(vram, monkeypatch):
    monkeypatch.setattr(ram_tier, "check_valid", lambda *weight: None)  # there are no numbers to check
    one = helped("qwen2.5-72b-q4_k_m", 32, link=12.4e9, vram=vram)
    assert one.shared_s < 0.7 * one.alone_s
    assert one.planned_share == pytest.approx(one.share, rel=BOUND)
    assert one.planned_s == pytest.approx(one.shared_s, rel=BOUND)


@pytest.mark.parametrize("rows", [1, 16, 32])
def test_a_plan_predicts_shared_passes_of_a_model_whose_matrices_are_few_pieces(rows):
    """A lent piece of a 14B's matrix is most of it, and takes the processor longer than the card."""
    one = helped(HELPED, rows)
    assert one.shared_s < 0.7 * one.alone_s
    assert one.planned_share == pytest.approx(one.share, rel=BOUND)
    assert one.planned_s == pytest.approx(one.shared_s, rel=BOUND)


def helped(target, rows, memory=62e9, link=6e9, vram=8):
    variant = catalog.entries()[target]
    weights = catalogued_weights(catalog.catalog().models[variant.model], variant)
    processor = replace(compiled_processor(8, {"avx512_vnni"}), memory=memory)
    there = machine(link=link, vram=vram)
    return simulate_help(weights, catalogued(target), there, processor, rows, 4096)


def test_the_disk_is_the_bound_where_ram_is_short():
    one = simulate(WEIGHTS, PAIR, machine(ram=8, disk=1e9), 16, 4096).one_pass
    assert one.moving_s > one.nbytes / 12.5e9
    assert one.share > 0.95


def test_what_the_planner_refuses_is_not_simulated():
    assert "VRAM" in simulate(WEIGHTS, PAIR, machine(vram=3), 64, 4096).missing


def test_a_target_that_fits_is_refused():
    with pytest.raises(BadOption, match="Nothing is streamed"):
        simulate(WEIGHTS, PAIR, machine(vram=64), 64, 4096)


OPTIONS = ["--target", TARGET, "--drafts", DRAFT, "--vram", "8", "--pcie", "3", "--rows", "16"]


def test_the_command_says_that_its_figures_are_simulated(capsys):
    assert cli.run(["bench", "schedule", *OPTIONS]) == 0
    text = capsys.readouterr().out
    assert text.startswith("Simulated, not measured")
    assert f"| {DRAFT} | RTX 4060 8 GB | 3 | 16 |" in text


def test_the_report_has_the_cases_and_the_source_of_their_durations(capsys):
    assert cli.run(["bench", "schedule", *OPTIONS, "--helped-rows", "1", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert "data sheets" in report["sources"]
    assert report["cases"][0]["outcome"]["one_pass"]["nbytes"] > 1e9
    assert report["survival"] == 1
    assert report["helped"][0]["one_pass"]["shared_s"] > 0


OWN = ["bench", "schedule", "--target", "granite-3.3-2b-q4_k_m", "--stored-as", "16-bit"]
OWN += ["--vram", "5", "--pcie", "3", "--rows", "planned"]


def test_the_command_compares_a_target_that_drafts_for_itself_with_other_drafts(capsys):
    assert cli.run([*OWN, "--drafts", "self,copy,none"]) == 0
    fastest = capsys.readouterr().out.split("\n\n")[-1].splitlines()[2:]
    assert [row.split(" | ")[0] for row in fastest] == ["| self", "| copy", "| none"]
    speeds = [float(row.split(" | ")[-2]) for row in fastest]
    assert speeds[0] > speeds[1] > 1.2 * speeds[2]
    forms = [row.split(" | ")[4] for row in fastest]
    assert {*forms[:2]} <= {"Q2_K", "Q3_K", "Q4_0"}
    assert not forms[2].strip()


def test_the_report_says_how_a_target_drafts_for_itself(capsys):
    assert cli.run([*OWN, "--drafts", "self", "--json"]) == 0
    (case,) = json.loads(capsys.readouterr().out)["cases"]
    own = case["outcome"]["own"]
    assert own["form"] == case["outcome"]["form"]
    assert own["copy"] > 0
    assert case["rows"] == case["outcome"]["one_pass"]["rows"] == own["budget"] + 1


WRONG = {
    "--pcie": "6",
    "--card": "none",
    "--rows": "0",
    "--survival": "1.1",
    "--target": "mixtral-8x7b-awq",
    "--drafts": "unknown",
    "--stored-as": "Q9",
    "--copy-gain": "0",
}


@pytest.mark.parametrize("option", WRONG)
def test_impossible_descriptions_are_refused(option, capsys):
    assert cli.run(["bench", "schedule", *OPTIONS, option, WRONG[option], "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "bad_option"
