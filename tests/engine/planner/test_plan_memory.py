"""What a plan counts in memory beside weights and rows."""

from dataclasses import replace

import pytest

from engine.checkpoints.windows import ROOM, SAVEPOINTS, held, kept_slots
from engine.planner import (
    Acceptance,
    Asked,
    PairOutline,
    plan_for,
)
from engine.planner.candidate import CUDA_VRAM, Candidate
from engine.planner.machines import GIB, VRAM_MARGIN, compiled_processor, named_machines
from engine.planner.outline import catalogued
from engine.planner.pairs import pair_named
from engine.planner.run_rows import AHEAD_RECORDS_NBYTES, DROPPED_RECORDS, OWN_ROWS
from tests.engine.planner.made import ALONE, ASKED, CARD, DESKTOP, LAPTOP, PAIR, SELF, SMALL, TARGET


@pytest.mark.parametrize(("context", "rows"), [(512, 512), (8192, OWN_ROWS)])
def test_rows_of_a_draft_beside_those_of_its_target_take_room(context, rows):
    without = replace(SELF, draft=replace(SELF.draft, kv_row=0))
    candidates = [
        Candidate(pair, LAPTOP, Asked(context), "cpu", 64, False, False) for pair in (SELF, without)
    ]
    own, none = (each.overhead_nbytes for each in candidates)
    assert own - none == SELF.target.kv_row * rows * candidates[0].compute(SELF.draft).itemsize


@pytest.mark.parametrize("context", [2048, 4096, 32768])
def test_layers_with_a_window_take_memory_for_few_rows_and_for_savepoints_in_ram(context):
    whole = PairOutline(SMALL.target, None, SMALL.acceptance)
    row = SMALL.target.kv_row // 2
    pair = replace(whole, target=replace(SMALL.target, window=1024, window_row=row))
    read = 3 * SMALL.target.widest + 6 * SMALL.target.hidden
    for device, compute, narrows in (
        ("cuda", DESKTOP.card, context > 2048),  # where savepoints, which are in RAM, do not count
        ("cpu", DESKTOP.cpu, context > 4096),
    ):
        dropped = row * (context - kept_slots(1024, context, apart=device == "cuda"))
        savepoints = row * SAVEPOINTS * held(1024) if narrows else 0
        assert (dropped > 0) == narrows
        few, every = (Candidate(of, DESKTOP, Asked(context), device, 1, False, False) for of in (pair, whole))
        # A prompt is read in pieces of half as many rows.
        saved = (dropped + (read * ROOM if narrows else 0)) * compute.itemsize
        beside = savepoints * compute.itemsize
        on_device = beside if device == "cpu" else 0
        assert every.overhead_nbytes - few.overhead_nbytes == saved - on_device
        if device == "cuda":
            assert few.ram_beside_card - every.ram_beside_card == beside
    own = replace(SELF, target=replace(SELF.target, window=1024, window_row=SELF.target.kv_row))
    few, every = (Candidate(of, LAPTOP, Asked(context), "cpu", 1, False, False) for of in (own, SELF))
    assert few._cache_nbytes(own.target) == every._cache_nbytes(SELF.target), "a draft reads all rows"


@pytest.mark.parametrize(
    ("machine", "target"), [("rtx-4070ti", "gemma-4-31b-q4_k_m"), ("rtx-4060", "gemma-4-12b-q4_k_m")]
)
def test_models_with_windows_are_streamed_to_small_cards(machine, target):
    """Were all rows kept, the processor would run them."""
    profile = named_machines()[machine][1]
    pair = pair_named(target, "gemma-4-e2b-q8_0")
    plan = plan_for(profile, pair, Asked(8192))
    assert plan.device == "cuda"
    assert plan.memory.vram <= profile.vram
    assert plan.memory.ram <= profile.ram
    every = replace(pair, target=replace(pair.target, window=0, window_row=0))
    before = plan_for(profile, every, Asked(8192))
    assert before.device == "cpu"
    assert plan.predicted_tokens_per_second > 1.5 * before.predicted_tokens_per_second


@pytest.mark.parametrize(("device", "copies"), [("cuda", 2), ("cpu", 8)])
def test_of_states_a_card_has_two_copies_and_ram_the_savepoints(device, copies):
    few, more = (replace(SMALL, target=replace(SMALL.target, states=nbytes)) for nbytes in (1000, 3000))
    before, after = (Candidate(pair, DESKTOP, ASKED, device, 63, False, False) for pair in (few, more))
    assert after.overhead_nbytes - before.overhead_nbytes == 2000 * copies
    assert after.ram_beside_card - before.ram_beside_card == 2000 * 6


def test_models_with_states_take_room_for_records_of_nodes():
    """A draft beside a streamed target has some of nodes that grow while that verifies a tree, too."""

    def candidates(**changes):
        changed = replace(PAIR, **{of: replace(model, state_row=1) for of, model in changes.items()})
        return [Candidate(pair, DESKTOP, ASKED, "cuda", 63, False, False) for pair in (PAIR, changed)]

    without, target = candidates(target=TARGET)
    assert target.overhead_nbytes - without.overhead_nbytes == 2 * (1 + 63), "old and new"
    without, draft = candidates(draft=PAIR.draft)
    assert draft.overhead_nbytes - without.overhead_nbytes == 2 * (63 + DROPPED_RECORDS)
    ahead = 2 * AHEAD_RECORDS_NBYTES
    assert draft.beside_streamed_nbytes - without.beside_streamed_nbytes == ahead
    placed = draft.placement()
    assert placed.ram
    more = 2 * (63 + DROPPED_RECORDS)
    assert draft.device_nbytes(placed) - without.device_nbytes(placed) == more + ahead
    placed = replace(draft, machine=replace(DESKTOP, vram=80 * GIB)).placement()
    assert placed.whole
    assert draft.device_nbytes(placed) - without.device_nbytes(placed) == more
    _, both = candidates(draft=PAIR.draft, target=replace(TARGET, states=1))
    assert both.beside_streamed_nbytes == without.beside_streamed_nbytes, "they take turns on a card"


def test_numbers_between_products_take_more_memory_on_cards_before_ampere():
    old = replace(DESKTOP, card=replace(CARD, halves=True))
    asked, of = Asked(2048), SMALL.target
    with_states = replace(SMALL, draft=replace(SMALL.draft, states=1))  # its passes are not recorded
    wide, narrow = (
        Candidate(with_states, machine, asked, "cuda", 64, False, False).overhead_nbytes
        for machine in (old, DESKTOP)
    )
    rows, numbers = of.pass_rows(2048, 2048, True), 6 * of.hidden + 3 * of.widest
    halves_and_outputs = 3 * of.widest // 2
    assert wide - narrow == rows * (4 * (numbers + halves_and_outputs) - 2 * numbers)


@pytest.mark.parametrize("unpacked", [False, True])
def test_a_target_is_on_a_card_as_a_whole_only_with_the_memory_of_its_recordings(unpacked):
    """Both models' passes are recorded then: their logits for 64 rows alone take 37 MiB."""
    target, draft = SMALL.target, SMALL.draft
    candidate = Candidate(SMALL, DESKTOP, ASKED, "cuda", 63, unpacked, False)
    recorded = candidate._recordings_nbytes(target)
    assert recorded > 2 * 64 * target.vocabulary * CARD.itemsize
    with_states = replace(SMALL, draft=replace(draft, states=1))  # its passes are not recorded
    more = candidate.overhead_nbytes - replace(candidate, pair=with_states).overhead_nbytes
    assert more == candidate._recordings_nbytes(draft) - 2  # copies of the states
    needed = recorded + candidate.overhead_nbytes
    needed += target.weights * CARD.itemsize if unpacked else target.nbytes

    def placed(nbytes):
        machine = replace(DESKTOP, vram=nbytes + CUDA_VRAM + VRAM_MARGIN)
        return replace(candidate, machine=machine).placement()

    assert placed(needed).whole
    assert candidate.device_nbytes(placed(needed)) == needed
    assert placed(needed - 1) is None if unpacked else not placed(needed - 1).whole


def test_what_a_draft_computes_from_a_prompt_beside_a_streamed_target_takes_room():
    """`--overlap on`: the draft reads the prompt while the target does."""
    asked = Asked(8192)
    candidate = Candidate(PAIR, DESKTOP, asked, "cuda", 63, False, False)
    beside = 2048 * (6 * PAIR.draft.hidden + 3 * PAIR.draft.widest) * CARD.itemsize
    assert candidate.beside_streamed_nbytes == beside
    placed = candidate.placement()
    assert placed.ram
    taken = placed.device + placed.ring + candidate.overhead_nbytes
    assert candidate.device_nbytes(placed) == taken + beside <= candidate.usable_nbytes
    whole = replace(candidate, machine=replace(DESKTOP, vram=80 * GIB))
    placed = whole.placement()
    assert placed.whole
    recorded = whole._recordings_nbytes(TARGET)
    assert whole.device_nbytes(placed) == placed.device + placed.table + whole.overhead_nbytes + recorded
    alone = replace(candidate, pair=ALONE)
    assert alone.beside_streamed_nbytes == 0


def test_the_memory_of_a_plan_counts_the_experts_that_are_being_packed():
    """What is left of the RAM has room for no further expert beside them."""
    target = catalogued("qwen3-30b-a3b-q4_k_m")
    machine = replace(LAPTOP, compiled=compiled_processor(8, {"avx2"}))
    plan = plan_for(machine, PairOutline(target, None, Acceptance(0, "measured")), Asked(2048, budget=0))
    assert 0 < plan.experts.cached < target.experts
    assert 0 <= machine.usable_ram - plan.memory.ram < target.expert * target.expansion + 2
