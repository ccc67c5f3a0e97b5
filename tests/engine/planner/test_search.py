"""Plans keep to the available memory, and more of it never makes them slower."""

from dataclasses import replace
from math import log2

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from engine.checkpoints.storage import BLOCKS
from engine.compiled.instructions import LANES
from engine.compiled.layout import BLOCK, LAYOUTS, TILES
from engine.planner import (
    Acceptance,
    Asked,
    Correction,
    MachineProfile,
    PairOutline,
    plan_for,
    smaller,
    tree_plan,
)
from engine.planner.candidate import CUDA_VRAM, Candidate
from engine.planner.machines import GIB, VRAM_MARGIN, compiled_processor, processor
from engine.planner.outline import catalogued
from engine.planner.prediction import pass_s
from engine.planner.tiles import COMPILED, IN_PARTS, INDEXED_TILE_BITS, PACKING, PARTS_TILE_BITS
from engine.protocol.requests import MAX_BUDGET
from tests.engine.planner.made import (
    ALONE,
    ASKED,
    CARD,
    CPU,
    DESKTOP,
    LAPTOP,
    PAIR,
    SELF,
    SMALL,
    TARGET,
    outline,
)

MIXTURE = PairOutline(
    outline(32, 800 << 20, 45_000_000_000, 4096, 32_000, active=0.28, uncut=30 << 20), None, PAIR.acceptance
)
SMALL_COMPILED = replace(
    SMALL, target=replace(SMALL.target, compiled=True), draft=replace(SMALL.draft, compiled=True)
)
SIXTEEN_BIT = PairOutline(replace(SMALL.target, packed=False), SMALL.draft, SMALL.acceptance)

machines = st.builds(
    MachineProfile,
    vram=st.integers(0, 90 * GIB),
    ram=st.integers(0, 90 * GIB),
    link=st.floats(1e9, 60e9),
    disk=st.floats(1e8, 14e9),
    card=st.sampled_from([CARD, None]),
    cpu=st.just(CPU),
)
pairs = st.sampled_from([PAIR, SMALL, ALONE, MIXTURE, SIXTEEN_BIT, SELF])
limits = st.none() | st.integers(1, 40 * GIB)
asks = st.builds(Asked, st.sampled_from([2048, 8192]), limits, limits, st.sampled_from([None, 64]))


@settings(deadline=None)
@given(machine=machines, pair=pairs, asked=asks)
def test_a_plan_keeps_to_free_memory_and_limits_and_places_every_layer_once(machine, pair, asked):
    plan = plan_for(machine, pair, asked)
    if not plan.runs:
        assert plan.missing
        assert plan.predicted_tokens_per_second is None
        return
    assert plan.memory.vram <= machine.usable_vram
    assert plan.memory.ram <= machine.usable_ram
    assert sum((plan.layers.vram, plan.layers.ram, plan.layers.ssd)) == len(pair.target.layers)
    assert plan.layers.vram == 0 or plan.device == "cuda"
    assert (plan.layers.ssd == 0 and plan.memory.ssd == 0) or plan.fit == "with SSD"
    limit = asked.vram_limit_nbytes if plan.device == "cuda" else asked.ram_limit_nbytes
    given_limit = plan.vram_limit_nbytes if plan.device == "cuda" else plan.ram_limit_nbytes
    if limit is not None:
        assert given_limit is not None
        assert given_limit <= limit
    weights = sum(pair.target.layers) + pair.target.head
    if plan.device == "cuda" and limit is not None and limit < weights:
        assert plan.layers.vram * pair.target.layers[0] <= limit


@settings(deadline=None)
@given(
    machine=machines, pair=pairs, asked=asks,
    vram=st.integers(0, 20 * GIB), ram=st.integers(0, 20 * GIB), link=st.floats(1, 2), disk=st.floats(1, 2),
)  # fmt: skip
def test_more_memory_or_bandwidth_never_predicts_slower(machine, pair, asked, vram, ram, link, disk):
    larger = replace(
        machine,
        vram=machine.vram + vram,
        ram=machine.ram + ram,
        link=machine.link * link,
        disk=machine.disk * disk,
        card=machine.card or CARD,
    )
    less, more = plan_for(machine, pair, asked), plan_for(larger, pair, asked)
    if less.runs:
        assert more.runs
        assert more.predicted_tokens_per_second >= less.predicted_tokens_per_second * (1 - 1e-9)


@pytest.mark.parametrize(
    ("machine", "pair", "fit", "limited_by"),
    [
        (DESKTOP, SMALL, "in VRAM", "draft"),
        (DESKTOP, PAIR, "VRAM + RAM", "PCIe"),
        (replace(DESKTOP, ram=16 * GIB), PAIR, "with SSD", "disk"),
        (LAPTOP, SMALL, "in RAM", "compute"),
        (replace(LAPTOP, ram=9 * GIB, disk=1e8), ALONE, "with SSD", "disk"),
    ],
)
def test_fit_and_limit_in_words(machine, pair, fit, limited_by):
    plan = plan_for(machine, pair, ASKED)
    assert (plan.fit, plan.limited_by) == (fit, limited_by)


def test_a_plan_that_will_not_run_says_what_is_missing():
    plan = plan_for(replace(LAPTOP, ram=3 * GIB), PAIR, ASKED)
    assert plan.fit == "will not run"
    missing = float(plan.missing.split(" GiB more of RAM")[0])
    assert plan_for(replace(LAPTOP, ram=int((3 + missing) * GIB)), PAIR, ASKED).runs
    assert not plan_for(replace(LAPTOP, ram=int((3 + missing - 0.2) * GIB)), PAIR, ASKED).runs


@settings(deadline=None)
@given(ram=st.integers(0, 9 * GIB), asked=asks.filter(lambda asked: asked.ram_limit_nbytes is None))
def test_with_as_much_more_memory_as_is_said_to_be_missing_a_plan_runs(ram, asked):
    machine = replace(LAPTOP, ram=ram)
    plan = plan_for(machine, PAIR, asked)
    if not plan.runs:
        missing = float(plan.missing.split(" GiB more of RAM")[0])
        assert plan_for(replace(machine, ram=ram + int(missing * GIB)), PAIR, asked).runs
        shorter = plan_for(machine, PAIR, replace(asked, context=512))
        assert shorter.runs == ("a smaller context" in plan.missing)


def test_a_card_of_24_gib_reaches_the_expected_speed():
    """12 tokens per pass are 11.8 tokens/s if drafting is hidden; here drafting and verifying alternate."""
    plan = plan_for(DESKTOP, PAIR, ASKED)
    assert 8 < plan.predicted_tokens_per_second < 12.5
    assert plan.vram_limit_nbytes is not None
    assert plan.ram_limit_nbytes is None, "RAM takes all remaining weights"
    assert plan.seconds_per_pass == pytest.approx(
        plan.predicted_tokens_per_pass / plan.predicted_tokens_per_second
    )


@pytest.mark.parametrize("pair", [PAIR, SMALL, ALONE], ids=["streamed", "resident", "without a draft"])
@pytest.mark.parametrize("machine", [DESKTOP, replace(LAPTOP, ram=20 * GIB)], ids=["card", "processor"])
def test_there_is_memory_for_the_largest_tree_that_a_plan_allows_and_for_none_larger(machine, pair):
    plan = plan_for(machine, pair, ASKED)
    trees = tree_plan(machine, pair, ASKED, plan)
    assert trees.first == plan.budget <= trees.most
    limits = plan.held_to(ASKED)

    def candidate(budget):
        return Candidate(
            pair, machine, limits, plan.device, budget, plan.target_unpacked, plan.draft_unpacked
        )

    placement = candidate(plan.budget).placement()
    taken, usable = candidate(trees.most).device_nbytes(placement), candidate(0).usable_nbytes
    assert taken <= max(usable, candidate(plan.budget).device_nbytes(placement))
    if trees.most < MAX_BUDGET:
        assert candidate(trees.most + 1).device_nbytes(placement) > usable


@pytest.mark.parametrize(("pair", "is_moving"), [(PAIR, True), (SMALL, False)])
def test_a_plan_says_whether_moving_bytes_limits_the_speed(pair, is_moving):
    assert tree_plan(DESKTOP, pair, ASKED, plan_for(DESKTOP, pair, ASKED)).is_moving == is_moving


def test_a_plan_that_fills_the_memory_allows_no_tree_much_larger_than_its_own():
    plan = plan_for(DESKTOP, PAIR, replace(ASKED, budget=255))
    most = tree_plan(DESKTOP, PAIR, replace(ASKED, budget=255), plan).most
    logits = PAIR.target.vocabulary * 5 * CARD.itemsize
    assert (most - 255) * logits < GIB
    assert tree_plan(replace(DESKTOP, vram=80 * GIB), PAIR, ASKED, plan).most == MAX_BUDGET


def test_the_best_budget_is_larger_where_a_pass_takes_longer():
    slow = plan_for(replace(DESKTOP, link=6e9), PAIR, ASKED).budget
    fast = plan_for(replace(DESKTOP, vram=80 * GIB), PAIR, ASKED).budget
    assert fast < slow
    assert plan_for(DESKTOP, PAIR, replace(ASKED, budget=7)).budget == 7


def test_limits_are_respected_even_if_more_memory_is_free():
    plan = plan_for(
        DESKTOP, PAIR, replace(ASKED, vram_limit_nbytes=4 * GIB, ram_limit_nbytes=10 * GIB, device="cuda")
    )
    assert plan.vram_limit_nbytes == 4 * GIB
    assert plan.ram_limit_nbytes <= 10 * GIB
    assert plan.layers.vram == (4 * GIB - (128 << 20)) // TARGET.layers[0]
    assert plan.fit == "with SSD"


def test_weights_are_unpacked_if_they_fit_and_the_user_allows_it():
    roomy = replace(LAPTOP, ram=32 * GIB)
    assert plan_for(roomy, SMALL, ASKED).target_unpacked
    assert not plan_for(LAPTOP, SMALL, ASKED).target_unpacked
    assert not plan_for(roomy, SMALL, replace(ASKED, unpacked=False)).target_unpacked
    assert not plan_for(roomy, SMALL, replace(ASKED, ram_limit_nbytes=GIB // 2)).target_unpacked


def test_a_correction_changes_what_is_predicted():
    plain = plan_for(DESKTOP, PAIR, replace(ASKED, budget=64))

    def corrected(**factors):
        return plan_for(DESKTOP, PAIR, replace(ASKED, budget=64), lambda device: Correction(**factors))

    assert corrected(verifying=2.0).seconds_per_pass > plain.seconds_per_pass * 1.4
    assert corrected(drafting=3.0).draft_s == pytest.approx(3 * plain.draft_s)
    assert corrected(choosing=0.9).predicted_tokens_per_second == pytest.approx(
        0.9 * plain.predicted_tokens_per_second
    )
    tokens = corrected(acceptance=0.5).predicted_tokens_per_pass
    assert tokens - 1 == pytest.approx((plain.predicted_tokens_per_pass - 1) / 2)


@pytest.mark.parametrize(("full", "pair"), [("vram", SMALL), ("ram", PAIR)])
def test_each_smaller_plan_takes_less_of_the_full_tier_until_none_is_left(full, pair):
    machine = DESKTOP
    plan = plan_for(machine, pair, ASKED)
    contexts, fits = [plan.context], [plan.fit]
    for _ in range(200):
        found = smaller(plan, machine, pair, ASKED, full)
        if found is None:
            break
        less, _, machine = found
        assert less.runs
        assert getattr(less.memory, full) < getattr(plan.memory, full)
        plan = less
        contexts.append(plan.context)
        fits.append(plan.fit)
        full = "vram" if plan.device == "cuda" and full == "vram" else "ram"
    assert found is None
    assert contexts == sorted(contexts, reverse=True)
    if pair is SMALL:
        assert "in RAM" in fits, "the card is abandoned before the model"
        assert contexts[-1] < ASKED.context, "and so is half of the context"
    else:
        assert fits[0] == "VRAM + RAM"
        assert fits[-1] == "with SSD"


def test_a_share_of_the_card_is_left_to_the_desktop():
    plan = plan_for(DESKTOP, PAIR, ASKED)
    assert plan.memory.vram <= DESKTOP.vram - VRAM_MARGIN
    assert plan.memory.vram > DESKTOP.vram - VRAM_MARGIN - TARGET.layers[0] - CUDA_VRAM


@pytest.mark.parametrize(
    ("target", "disk", "budget", "tokens", "tokens_per_second"),
    [
        ("qwen2.5-coder-1.5b-16bit", 2.5e9, 64, 7.8, 4.48),
        ("qwen2.5-coder-1.5b-16bit", 2.5e9, 256, 9.4, 3.80),
        ("coder", 2.2e9, 64, 7.8, 5.49),
        ("coder", 2.2e9, 256, 9.4, 2.92),
    ],
)
def test_a_streamed_pair_takes_as_long_as_measured(target, disk, budget, tokens, tokens_per_second):
    """0.5 GiB of RAM for the target, without compiled passes, with the tokens per pass that were measured."""
    here = MachineProfile(0, 20 * GIB, 1e9, disk, None, processor(2, {"avx512_bf16"}))
    accepted = Acceptance((tokens - 1) / log2(1 + budget), "measured")
    pair = PairOutline(catalogued(target), catalogued("coder-draft"), accepted)
    plan = plan_for(here, pair, Asked(8192, ram_limit_nbytes=GIB // 2, budget=budget))
    assert plan.predicted_tokens_per_second == pytest.approx(tokens_per_second, rel=0.2)


@pytest.mark.parametrize(("budget", "tokens", "tokens_per_second"), [(16, 4.85, 11.2), (64, 7.0, 8.55)])
def test_compiled_passes_of_a_streamed_pair_take_as_long_as_measured(budget, tokens, tokens_per_second):
    """docs/benchmarks/streaming.md, “A target that does not fit”, with the tokens per pass measured there."""
    cores = processor(2, {"avx512_bf16"}), compiled_processor(2, {"avx512_vnni"})
    here = MachineProfile(0, 20 * GIB, 1e9, 2.2e9, None, *cores)
    accepted = Acceptance((tokens - 1) / log2(1 + budget), "measured")
    pair = PairOutline(catalogued("coder"), catalogued("coder-draft"), accepted)
    plan = plan_for(here, pair, Asked(8192, ram_limit_nbytes=GIB // 2, budget=budget))
    assert plan.predicted_tokens_per_second == pytest.approx(tokens_per_second, rel=0.2)


@pytest.mark.parametrize(
    ("model", "rows", "measured_s"),
    [("smollm2", 1, 0.0038), ("coder", 1, 0.041), ("coder", 16, 0.104), ("coder", 64, 0.347)],
)
def test_compiled_passes_take_as_long_as_measured(model, rows, measured_s):
    compute = compiled_processor(2, {"avx512_vnni"})
    assert pass_s(catalogued(model), rows, compute, unpacked=False) == pytest.approx(measured_s, rel=0.2)


def test_compiled_passes_never_unpack():
    laptop = replace(LAPTOP, compiled=compiled_processor(8, {"avx2"}))
    plan, other = plan_for(laptop, SMALL_COMPILED, Asked(2048)), plan_for(laptop, SMALL, Asked(2048))
    assert not plan.target_unpacked
    assert not plan.draft_unpacked
    assert other.target_unpacked
    assert plan.predicted_tokens_per_second > 1.5 * other.predicted_tokens_per_second


def test_a_cache_in_8_bits_takes_half_the_memory_in_compiled_passes_only():
    laptop = replace(LAPTOP, compiled=compiled_processor(8, {"avx2"}))
    rows = SMALL.target.kv_row + SMALL.draft.kv_row
    for pair, saved in ((SMALL_COMPILED, 8192 * rows * 30 // 32), (SMALL, 0)):
        plans = [plan_for(laptop, pair, Asked(8192, budget=64, cache=cache)) for cache in ("F16", "Q8_0")]
        assert plans[0].memory.ram - plans[1].memory.ram == saved


def test_the_formats_of_compiled_passes_are_those_of_tiles():
    assert set(COMPILED) == set(LAYOUTS)
    assert {*IN_PARTS.values()} == {*PARTS_TILE_BITS}
    for name, layout in TILES.items():
        blocks = layout.unit // BLOCK
        bits = 8 * (layout.scales_nbytes + blocks * layout.block_nbytes) / (LANES * layout.unit)
        if planned := (INDEXED_TILE_BITS | PARTS_TILE_BITS).get(name):
            assert bits == planned
        else:
            values, nbytes = BLOCKS[name]
            assert bits < 1.2 * 8 * nbytes / values, "about as many as the file has"


def test_vectors_that_are_looked_up_slow_only_what_is_streamed():
    assert PACKING.keys() == INDEXED_TILE_BITS.keys()
    pair = replace(SMALL_COMPILED, draft=None)
    slow = replace(pair, target=replace(pair.target, packing=100.0))
    cores = replace(LAPTOP, compiled=compiled_processor(8, {"avx2"}), disk=100e9)
    whole = [plan_for(cores, each, Asked(2048)) for each in (pair, slow)]
    assert whole[0].predicted_tokens_per_second == whole[1].predicted_tokens_per_second
    little = cores.with_usable_ram(whole[0].memory.ram // 2)
    part = [plan_for(little, each, Asked(2048)) for each in (pair, slow)]
    assert part[1].fit == "with SSD"
    assert part[1].predicted_tokens_per_second < 0.5 * part[0].predicted_tokens_per_second


def test_a_target_that_grows_in_memory_stays_within_it():
    pair = replace(SMALL_COMPILED, draft=None)
    grown = replace(pair, target=replace(pair.target, tiling=pair.target.nbytes // 2))
    cores = replace(LAPTOP, compiled=compiled_processor(8, {"avx2"}))
    whole = [plan_for(cores, each, Asked(2048)) for each in (pair, grown)]
    assert [each.fit for each in whole] == ["in RAM", "in RAM"]
    assert whole[1].memory.ram - whole[0].memory.ram == pytest.approx(grown.target.tiling, rel=1e-6)
    assert whole[1].predicted_tokens_per_second < whole[0].predicted_tokens_per_second
    machine = cores.with_usable_ram(whole[0].memory.ram)
    part = plan_for(machine, grown, Asked(2048))
    assert part.fit == "with SSD"
    assert 0.8 * machine.usable_ram < part.memory.ram <= machine.usable_ram
    assert plan_for(machine, pair, Asked(2048)).fit == "in RAM"


def test_a_mixture_reads_what_it_touches_in_compiled_passes():
    """Far more tokens per second than a dense model of as many bytes."""
    cores = replace(LAPTOP, ram=64 * GIB, compiled=compiled_processor(8, {"avx2"}))
    target = catalogued("qwen3-30b-a3b-q4_k_m")
    assert target.compiled
    alone = PairOutline(target, None, Acceptance(0, "measured"))
    dense = replace(alone, target=replace(target, active=1.0))
    speeds = [
        plan_for(cores, each, Asked(2048, budget=0)).predicted_tokens_per_second for each in (alone, dense)
    ]
    assert speeds[0] > 5 * speeds[1]


@pytest.mark.parametrize("ram", [12, 64], ids=["some experts in RAM", "all in RAM"])
def test_a_mixture_on_a_card_is_faster_with_more_memory_and_says_where_its_experts_are(ram):
    target = catalogued("qwen3-30b-a3b-q4_k_m")
    alone = PairOutline(target, None, Acceptance(0, "measured"))
    plans = [
        plan_for(
            replace(DESKTOP, vram=vram * GIB, ram=ram * GIB), alone, Asked(2048, budget=0, device="cuda")
        )
        for vram in (5, 8, 12, 16, 24)
    ]
    speeds = [plan.predicted_tokens_per_second for plan in plans]
    assert speeds == sorted(speeds)
    *cached, resident = [plan.experts for plan in plans]
    assert (resident.resident, resident.cached) == (target.experts, 0)
    for plan, experts in zip(plans, cached, strict=False):
        assert experts.cached + experts.streamed == target.experts
        assert (experts.in_ram == target.experts) == (ram == 64)
        assert plan.fit == ("VRAM + RAM" if ram == 64 else "with SSD")
        assert (plan.ram_limit_nbytes is None) == (ram == 64)
    assert [each.hit_rate for each in cached] == sorted(each.hit_rate for each in cached)


def test_plans_reckon_with_the_tiles_of_gptq_and_awq():
    """Between what files and what tiles take, a model is streamed."""
    pair = replace(SMALL, target=catalogued("qwen2.5-coder-32b-awq"), draft=None)
    assert pair.target.tiling > 0.2 * pair.target.nbytes
    assert catalogued("mixtral-8x7b-awq").tiling > 0.2 * catalogued("mixtral-8x7b-awq").nbytes
    assert catalogued("coder").tiling == 0
    cores = replace(LAPTOP, compiled=compiled_processor(8, {"avx2"}))
    for more, fit in ((GIB, "with SSD"), (pair.target.tiling + 3 * GIB, "in RAM")):
        machine = replace(cores, ram=pair.target.nbytes + 4 * GIB + more)
        assert plan_for(machine, pair, Asked(2048)).fit == fit
        assert plan_for(replace(machine, compiled=None), pair, Asked(2048)).fit == "in RAM"


def test_what_a_target_lends_to_its_own_draft_is_counted_once():
    """With a draft that shares nothing, less of the target would stay in memory."""
    machine = replace(LAPTOP, ram=4 * GIB, compiled=compiled_processor(8, {"avx2"}))
    shared = plan_for(machine, SELF, Asked(2048))
    apart = plan_for(machine, replace(SELF, shared=False), Asked(2048))
    assert shared.runs
    assert apart.runs
    assert shared.layers.ram > apart.layers.ram
    assert shared.memory.ram <= machine.usable_ram
    assert plan_for(DESKTOP, SELF, Asked(2048)).device == "cpu", "a card does not run it"
    substitutes = SELF.draft.nbytes / SELF.target.nbytes * shared.memory.ssd
    assert shared.memory.ram >= substitutes + shared.layers.ram * (90 << 20)
