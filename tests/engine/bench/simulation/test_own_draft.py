"""A copy of the target as its draft on a described card: its bytes, its rounds, and what sharing adds."""

from dataclasses import replace

import pytest

from engine import catalog
from engine.bench.simulation import own_draft
from engine.bench.simulation.model import catalogued_weights
from engine.bench.simulation.outcome import simulate_own_draft
from engine.bench.simulation.own_draft import fastest_own_draft, own_pairs, pairs_with_copies
from engine.catalog import sizes
from engine.checkpoints.storage import stored_nbytes
from engine.errors import BadOption
from engine.planner import Asked, described_machine, fastest, variant_outline
from engine.planner.candidate import CUDA_VRAM, Candidate
from engine.planner.machines import processor, usual_card

ENTRY = catalog.entries()["qwen3-14b-16bit"]
MODEL = catalog.catalog().models[ENTRY.model]
TARGET = variant_outline(MODEL, ENTRY)
IN_8_BITS = variant_outline(MODEL, replace(ENTRY, format="gguf", mix="Q8_0"))
ASKED = Asked(8192, device="cuda")
LARGE = replace(ASKED, budget=255)


def machine(vram):
    return described_machine(vram, 64, 24.9e9, 7e9, usual_card(vram), processor(8, {"avx2"}))


def test_a_copy_has_the_bytes_of_its_blocks():
    shapes = [(rows, columns) for rows, columns, *_ in sizes.multiplied(MODEL, ENTRY)]
    shapes.append((MODEL.vocabulary, MODEL.hidden))
    for own, apart in zip(own_pairs(TARGET), pairs_with_copies(TARGET), strict=True):
        nbytes = sum(stored_nbytes(own.substitutes.name, shape) for shape in shapes)
        assert own.draft.nbytes == own.draft.multiplied == pytest.approx(nbytes, rel=1e-6)
        assert apart.draft.nbytes == own.draft.nbytes + own.draft.head, "an embedding of its own"


@pytest.mark.parametrize("copied", [0.0, 0.5, 1.0])
def test_resident_layers_and_copy_fill_the_card(copied, monkeypatch):
    monkeypatch.setattr(own_draft, "COPIED", (copied,))
    there = machine(16)
    own = fastest_own_draft(there, TARGET, LARGE)
    pair = next(each for each in own_pairs(TARGET) if each.substitutes.name == own.form)
    rest = Candidate(pair, there, LARGE, "cuda", 255, False, False).overhead_nbytes - pair.draft.nbytes
    assert own.copied == copied
    used = own.limits.device_nbytes + own.copy + rest
    assert used == pytest.approx(there.usable_vram - CUDA_VRAM, rel=1e-6)
    of_all = pair.draft.multiplied / TARGET.multiplied
    assert own.copy == pytest.approx(of_all * (TARGET.multiplied - (1 - copied) * own.resident), rel=1e-6)


@pytest.mark.parametrize("copied", [0.0, 1.0])
def test_a_round_reads_the_copy_and_the_layers_that_are_shared(copied, monkeypatch):
    monkeypatch.setattr(own_draft, "COPIED", (copied,))
    there = machine(24)
    own = fastest_own_draft(there, TARGET, LARGE)
    read = own.copy + (1 - copied) * own.resident
    products = 2 * (TARGET.layer_weights + TARGET.table_weights) * own.growth.beams
    seconds = read / there.card.memory + products / there.card.flops + MODEL.layers * there.card.layer_s
    assert own.growth.round_s == pytest.approx(seconds, rel=1e-3)


def test_a_draft_that_shares_resident_layers_is_slower_than_a_whole_copy(monkeypatch):
    ways = []
    for copied in (0.0, 1.0):
        monkeypatch.setattr(own_draft, "COPIED", (copied,))
        ways.append(fastest_own_draft(machine(24), TARGET, LARGE))
    shared, whole = ways
    assert shared.resident > whole.resident
    assert shared.growth.round_s > 1.5 * whole.growth.round_s
    assert shared.predicted.tokens_per_second < whole.predicted.tokens_per_second
    monkeypatch.undo()
    assert fastest_own_draft(machine(24), TARGET, LARGE) == whole


@pytest.mark.parametrize(
    ("target", "vram"), [(TARGET, 12), (TARGET, 16), (TARGET, 24), (IN_8_BITS, 12), (IN_8_BITS, 16)]
)
def test_a_file_of_the_target_in_fewer_bits_is_nearly_as_fast(target, vram):
    """If this fails, targets should draft for themselves on cards (docs/benchmarks/cards.md)."""
    own = fastest_own_draft(machine(vram), target, ASKED)
    plan, _ = fastest(machine(vram), pairs_with_copies(target), ASKED, ())
    assert 1 < own.predicted.tokens_per_second / plan.predicted_tokens_per_second < 1.15


def test_copies_may_be_said_to_gain_more():
    usual, more = (fastest_own_draft(machine(16), TARGET, LARGE, gain) for gain in (1.0, 1.4))
    assert usual.form == more.form
    assert more.predicted.tokens - 1 == pytest.approx(1.4 * (usual.predicted.tokens - 1))
    assert more.growth.rounds > usual.growth.rounds, "deeper trees take more rounds"


SMALL = "granite-3.3-2b-16bit"


def simulated(vram, rows=None):
    variant = catalog.entries()[SMALL]
    model = catalog.catalog().models[variant.model]
    weights, target = catalogued_weights(model, variant), variant_outline(model, variant)
    return target, simulate_own_draft(weights, target, machine(vram), rows, 2048)


def test_the_simulation_streams_what_is_not_resident_and_takes_as_long_as_predicted():
    target, outcome = simulated(5)
    own, one, iteration = outcome.own, outcome.one_pass, outcome.iteration
    assert one.rows == own.budget + 1
    assert one.nbytes == pytest.approx(target.multiplied - own.resident, rel=0.02)
    assert iteration.drafting_s == own.growth.s
    assert iteration.turns_bound_s <= iteration.turns_s * 1.001
    assert iteration.planned_s == pytest.approx(iteration.turns_s, rel=0.1)
    assert iteration.tokens_per_second == pytest.approx(own.predicted.tokens_per_second, rel=0.1)


def test_a_card_without_memory_for_a_copy_runs_none():
    assert simulated(2, 64)[1].missing == "more VRAM, for the copy"


def test_a_target_that_fits_has_no_copy():
    with pytest.raises(BadOption, match="Nothing is streamed"):
        simulated(24, 64)
