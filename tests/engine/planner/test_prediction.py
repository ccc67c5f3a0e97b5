"""Predicted seconds, compared with measurements and with the formula of the bound."""

from dataclasses import replace

import pytest

from engine import catalog
from engine.planner import Asked, pair_named, plan_for
from engine.planner.launches import OutlinedMatrix
from engine.planner.layer_placement import LayerPlacement, place
from engine.planner.machines import GIB, MachineProfile, graphics_card, processor
from engine.planner.outline import catalogued
from engine.planner.prediction import Stream, growth, iteration, misses, pass_s, stream
from engine.routing import RoutingCounts, RoutingFile
from tests.engine.planner.made import CARD, CPU, DESKTOP, DRAFT, PAIR, SMALL, TARGET, outline

# The machine on which the README's figures were measured.
EPYC = processor(2, {"avx2", "avx512f", "avx512_bf16"})
EPYC_DISK = MachineProfile(0, 16 * GIB, 1e9, 2e9, None, EPYC)
CODER = catalogued(catalog.entries()["coder"].id)
CODER_DRAFT = catalogued("coder-draft")


@pytest.mark.parametrize(("rows", "measured_s"), [(1, 0.44), (64, 0.66), (256, 1.57)])
def test_passes_over_packed_weights_take_as_long_as_measured(rows: int, measured_s: float):
    assert pass_s(CODER, rows, EPYC, unpacked=False) == pytest.approx(measured_s, rel=0.15)


@pytest.mark.parametrize(("rows", "measured_s"), [(1, 0.137), (64, 0.38), (256, 1.31)])
def test_passes_over_unpacked_weights_take_as_long_as_measured(rows: int, measured_s: float):
    assert pass_s(CODER, rows, EPYC, unpacked=True) == pytest.approx(measured_s, rel=0.15)


@pytest.mark.parametrize(
    ("budget", "tokens", "measured_s"), [(16, 4.0, 0.48), (64, 5.3, 0.66), (256, 6.9, 1.45)]
)
def test_trees_grow_as_fast_as_measured(budget: int, tokens: float, measured_s: float):
    """README: seconds of an iteration less those of the target's pass."""
    assert growth(CODER_DRAFT, budget, tokens, EPYC, unpacked=True).s == pytest.approx(measured_s, rel=0.35)


def test_few_rows_are_multiplied_on_a_card_without_unpacking():
    weights = TARGET.layer_weights + TARGET.table_weights
    few, many = pass_s(TARGET, 16, CARD, False), pass_s(TARGET, 17, CARD, False)
    assert many - few > weights / CARD.unpack
    assert pass_s(TARGET, 1, CARD, False) == pytest.approx(
        (sum(TARGET.layers) + TARGET.head) / CARD.memory + 2 * weights / CARD.flops + 80 * CARD.layer_s
    )


def test_many_rows_are_read_and_written_more_often_on_cards_before_ampere():
    old = replace(CARD, halves=True)
    matrices = ((OutlinedMatrix(8192, 1024, 1), 80), (OutlinedMatrix(512, 1024, 1, expert=True), 64))
    target = replace(TARGET, matrices=matrices, chosen=0.25)
    moved = 10 * (80 * (8192 + 1024) + 16 * (512 + 1024))
    for rows in (17, 2048):
        more = pass_s(target, rows, old, False) - pass_s(target, rows, CARD, False)
        assert more == pytest.approx(rows * moved / CARD.memory)
    assert pass_s(target, 16, old, False) == pass_s(target, 16, CARD, False), "kernels read float32"


def test_few_rows_take_longer_where_packed_weights_are_multiplied_without_cores_for_matrices():
    old = replace(CARD, fused_share=0.25)
    products = 2 * 16 * (TARGET.layer_weights + TARGET.table_weights)
    more = pass_s(TARGET, 16, old, False) - pass_s(TARGET, 16, CARD, False)
    assert more == pytest.approx(3 * products / CARD.flops)
    plain = outline(packed=False)
    for rows, model, unpacked in ((17, TARGET, False), (16, TARGET, True), (16, plain, False)):
        assert pass_s(model, rows, old, unpacked) == pass_s(model, rows, CARD, unpacked)


def test_a_mixture_reads_only_the_experts_it_uses():
    mixture = outline(active=0.25)
    assert mixture.touched(1) == 0.25
    assert mixture.touched(64) == pytest.approx(1.0)
    assert pass_s(mixture, 1, CPU, False) < pass_s(TARGET, 1, CPU, False) / 2


def test_a_mixture_on_the_processor_reads_what_its_cache_lacks():
    mixture = catalogued("qwen3-30b-a3b-q4_k_m")
    assert 0.9 * mixture.nbytes < mixture.experts < mixture.nbytes
    placed = [place(mixture, gib * GIB, None) for gib in (4, 8, 12)]
    read = []
    for each in placed:
        assert each.device + each.ssd == sum(mixture.layers) + mixture.head
        read.append(misses(mixture, each, EPYC_DISK, 1).disk_s)
    assert read == sorted(read, reverse=True)
    of_token = mixture.experts * mixture.chosen / EPYC_DISK.disk
    assert read[1] == pytest.approx(of_token * (1 - mixture.hit_rate(placed[1].cache / mixture.experts)))
    # Eight rows share experts: they read more than one, and less than all experts that eight choose alone.
    assert read[1] < misses(mixture, placed[1], EPYC_DISK, 8).disk_s <= 8 * read[1]
    whole = place(mixture, 40 * GIB, None)
    assert (whole.whole, whole.cache) == (True, 0)


def test_a_card_keeps_what_every_pass_uses_and_as_many_experts_as_fit_then():
    mixture = catalogued("qwen3-30b-a3b-q4_k_m")
    always = sum(mixture.layers) + mixture.head - mixture.experts
    moved = []
    for gib in (4, 8, 12):
        placed = place(mixture, gib * GIB, 40 * GIB)
        assert placed.layers == ("device",) * len(mixture.layers)
        assert placed.device == always + placed.cache <= gib * GIB < placed.device + mixture.expert
        assert (placed.ram, placed.ssd) == (mixture.experts, 0)
        missed = misses(mixture, placed, DESKTOP, 1, on_card=True)
        assert (missed.disk_s, missed.slower) == (0, "PCIe")
        moved.append(missed.link_s)
    assert moved == sorted(moved, reverse=True)
    share = (8 * GIB - always) / mixture.experts  # until answers have taught more, it hits as often
    assert moved[1] == pytest.approx(mixture.experts * mixture.chosen * (1 - share) / 25e9, rel=0.01)
    homes = [place(mixture, 4 * GIB, gib * GIB) for gib in (2, 8, 12)]  # less than all experts take
    for each in homes:
        assert each.ram + each.ssd == mixture.experts
    read = [misses(mixture, each, DESKTOP, 1, on_card=True).disk_s for each in homes]
    assert read == sorted(read, reverse=True)
    assert read[2] > 0
    assert place(mixture, always, 40 * GIB).cache == 0, "the layers do not even leave room for a cache"


def test_what_a_model_has_learned_replaces_the_usual_hit_rate(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("SPECEXEC_MODELS", str(tmp_path))
    mixture = catalogued("qwen3-30b-a3b-q4_k_m")
    usual = mixture.hit_rate(0.25)
    file = tmp_path / mixture.file
    file.touch()
    even = RoutingCounts((50.0,) * 64, (800.0,) * 64, 8.0, 128.0, 850.0)  # no expert is used more than others
    RoutingFile(file).keep(even)
    learned = catalogued("qwen3-30b-a3b-q4_k_m").hit_rate(0.25)
    assert learned == pytest.approx(0.25, abs=0.02)
    assert learned < usual


def test_measured_overlap_of_rows_makes_a_tree_of_a_mixture_cheaper():
    mixture = catalogued("qwen3-30b-a3b-q4_k_m")
    counts = RoutingCounts((50.0,) * 64, (800.0,) * 64, 8.0, 128.0, 850.0)
    apart, sharing = (
        replace(mixture, routing=replace(counts, others=10_000.0, apart=rows)) for rows in (10_000.0, 3_000.0)
    )
    assert apart.touched(16) == pytest.approx(mixture.touched(16), rel=1e-3)
    assert sharing.touched(1) == mixture.touched(1)
    assert sharing.touched(16) < 0.6 * apart.touched(16)
    assert sharing.missed(16, 0.3) < 0.6 * apart.missed(16, 0.3)
    assert sharing.missed(1, 0.3) == apart.missed(1, 0.3)


def test_a_prompt_needs_the_head_once():
    assert pass_s(TARGET, 100, CPU, False) - pass_s(TARGET, 100, CPU, False, logits=1) == pytest.approx(
        2 * 99 * TARGET.table_weights / CPU.flops
    )


def test_streaming_is_limited_by_the_slower_of_link_and_disk():
    machine = MachineProfile(24 * GIB, 64 * GIB, 25e9, 5e9, graphics_card(165, 1008), CPU)
    placed = LayerPlacement(("ram",), 0, 20 * 10**9, 10 * 10**9, ring=10**9, staging=2 * 10**9)
    found = stream(placed, machine, on_card=True, used=1.0)
    assert (found.link_s, found.disk_s, found.slower) == (30 / 25, 10 / 5, "disk")
    assert found.behind_ring_s == pytest.approx(max(29 / 25, 8 / 5))
    here = stream(LayerPlacement(("ssd",), 0, 0, 10 * 10**9, ring=10**9), machine, on_card=False, used=0.5)
    assert (here.link_s, here.disk_s) == (0, 5 / 5)
    assert here.behind_ring_s == pytest.approx(4 / 5)


@pytest.mark.parametrize(
    ("draft_s", "computing_s", "streaming", "seconds", "limited_by"),
    [
        (0.1, 0.2, Stream(1.0, 0.0, 0.8), 1.0, "PCIe"),
        (0.1, 0.2, Stream(0.5, 2.0, 1.95), 2.05, "disk"),
        (0.5, 0.2, Stream(1.0, 0.0, 0.8), 1.3, "PCIe"),
        (0.9, 0.2, Stream(1.0, 0.0, 0.8), 1.7, "draft"),
        (0.5, 0.9, Stream(1.0, 0.0, 0.8), 1.4, "compute"),
        (0.5, 0.4, Stream(0.0, 0.0, 0.0), 0.9, "draft"),
        (0.0, 0.4, Stream(0.0, 0.0, 0.0), 0.4, "compute"),
    ],
)
def test_an_iteration_takes_its_bound(draft_s, computing_s, streaming, seconds, limited_by):
    """docs/design.md, section 4: max(B / link, t_draft + max((B - ring) / link, t_target))."""
    found = iteration(8.0, draft_s, computing_s, streaming)
    assert found.s == pytest.approx(seconds)
    assert found.limited_by == limited_by
    assert found.tokens_per_second == pytest.approx(8 / seconds)


def test_a_growing_budget_takes_longer_to_draft():
    seconds = [growth(DRAFT, budget, 10.0, CARD, False).s for budget in (16, 256, 2048)]
    assert seconds == sorted(seconds)
    assert seconds[0] < seconds[-1]


def test_a_pair_is_known_by_its_ids_without_its_files(monkeypatch, tmp_path):
    monkeypatch.setenv("SPECEXEC_MODELS", str(tmp_path))
    found = pair_named("llama-3.3-70b", "auto")
    assert found.target.name == "llama-3.3-70b-q4_k_m"
    assert found.draft.name == "llama-3.1-8b-q4_k_m"
    assert found.acceptance.source == "paper"
    assert place(found.target, 12 * GIB, 64 * GIB).streamed > 28 * 10**9
    assert PAIR.draft is not None


@pytest.mark.parametrize(
    ("streaming", "seconds", "limited_by"),
    [
        (Stream(0.4, 0.0, 0.3), 0.6, "launching"),
        (Stream(0.9, 0.0, 0.8), 0.9, "PCIe"),
        (Stream(0.2, 0.0, 0.2, in_turn=True), 0.6, "launching"),
        (Stream(0.4, 0.0, 0.4, in_turn=True), 0.7, "PCIe"),
    ],
)
def test_launching_takes_its_time_beside_computing(streaming, seconds, limited_by):
    found = iteration(8.0, 0.1, 0.2, streaming, launching_s=0.5)
    assert found.s == pytest.approx(seconds)
    assert found.limited_by == limited_by


def test_readers_that_pack_slowly_hold_up_the_disk():
    """Two of them take turns: while one packs, the other reads."""
    mixture = catalogued("qwen3-30b-a3b-q4_k_m")
    placed = place(mixture, 8 * GIB, None)
    alone_s, fast_s, slow_s = (
        misses(mixture, placed, EPYC_DISK, 1, packing_s=seconds).disk_s for seconds in (0.0, 0.4e-9, 1.5e-9)
    )
    assert alone_s == fast_s == pytest.approx(mixture.missed(1, placed.cache / mixture.experts) / 2e9)
    assert slow_s == pytest.approx(alone_s * (0.5e-9 + 1.5e-9) / 2 / 0.5e-9)


@pytest.mark.parametrize(
    ("one_stream", "disk_s", "seconds", "limited_by"),
    [
        (False, 0.0, 0.1 + 0.9, "PCIe"),
        (True, 0.0, 0.1 + 0.4 + 1.0, "PCIe"),  # everything on one stream
        (True, 3.0, 0.1 + 3.0, "disk"),  # reads go on meanwhile
    ],
)
def test_with_one_stream_copies_add_to_drafting_and_computing(one_stream, disk_s, seconds, limited_by):
    streaming = Stream(1.0, disk_s, max(0.9, disk_s), one_stream=one_stream)
    found = iteration(8.0, 0.1, 0.4, streaming)
    assert found.s == pytest.approx(seconds)
    assert found.limited_by == limited_by


def test_plans_for_a_card_with_one_stream_predict_less_where_weights_are_streamed():
    one = replace(DESKTOP, one_stream=True)
    asked = Asked(8192, budget=64)
    streamed, slower = (plan_for(machine, PAIR, asked) for machine in (DESKTOP, one))
    assert slower.predicted_tokens_per_second < 0.95 * streamed.predicted_tokens_per_second
    assert slower.time_to_first_token_s > streamed.time_to_first_token_s
    whole, same = (plan_for(machine, SMALL, asked) for machine in (DESKTOP, one))
    assert same.predicted_tokens_per_second == whole.predicted_tokens_per_second


def test_with_one_stream_the_first_token_of_a_mixture_waits_for_copies_and_computation():
    """Its experts cross the link in turn with computation in any case, so that later tokens take as long."""
    one = replace(DESKTOP, vram=8 * GIB, link=6e9, one_stream=True)
    two = replace(one, one_stream=False)
    mixture = replace(SMALL, target=catalogued("qwen3-30b-a3b-q4_k_m"), draft=None)
    copied, slower = (plan_for(machine, mixture, Asked(2048, budget=16)) for machine in (two, one))
    assert copied.experts.hit_rate < 1
    assert slower.predicted_tokens_per_second == copied.predicted_tokens_per_second
    assert slower.time_to_first_token_s > 1.05 * copied.time_to_first_token_s
