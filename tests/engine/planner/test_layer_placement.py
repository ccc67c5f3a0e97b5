"""Each layer goes to the fastest tier with enough memory."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from engine.machine.disk_reads import READERS
from engine.planner.layer_placement import place, spread_order
from engine.planner.outline import catalogued
from engine.planner.tiers import SLOTS
from tests.engine.planner.made import outline

MIB = 1 << 20
MODEL = outline(layers=10, layer_nbytes=100 * MIB, hidden=1024, vocabulary=10 * 1024)  # head 10 MiB


def test_a_model_that_fits_is_resident_and_needs_no_ring():
    found = place(MODEL, MODEL.nbytes, None)
    assert found.layers == ("device",) * 10
    assert (found.device, found.ring, found.table, found.whole) == (1010 * MIB, 0, 10 * MIB, True)


def test_the_embedding_is_left_on_the_disk_first():
    found = place(MODEL, MODEL.nbytes - 1, None)
    assert found.layers == ("device",) * 10
    assert (found.table, found.whole) == (0, False)


def test_resident_layers_are_spread_evenly_between_the_others():
    found = place(MODEL, 128 * MIB + 500 * MIB, None)
    assert [tier == "device" for tier in found.layers].count(True) == 5
    assert "ram" not in found.layers
    runs = "".join("d" if tier == "device" else "s" for tier in found.layers)
    assert "dddd" not in runs
    assert "sss" not in runs


def test_ram_holds_what_does_not_fit_the_card_and_the_disk_the_rest():
    found = place(MODEL, 128 * MIB + 300 * MIB, 128 * MIB + 450 * MIB)
    assert [found.layers.count(tier) for tier in ("device", "ram", "ssd")] == [3, 4, 3]
    assert (found.device, found.ram, found.ssd) == (300 * MIB, 400 * MIB, 310 * MIB)
    assert found.staging == found.ring == 128 * MIB
    assert place(MODEL, 128 * MIB + 300 * MIB, 710 * MIB).staging == 0, "nothing is read from the disk"


def test_nothing_is_placed_where_a_ring_does_not_fit():
    wide = outline(layers=2, uncut=200 * MIB)
    assert wide.piece >= 200 * MIB
    assert place(wide, SLOTS * wide.piece - 1, None) is None
    assert place(wide, SLOTS * wide.piece, None) is not None
    assert place(MODEL, 300 * MIB, 100) is None, "the way from the disk to a card is through RAM"
    assert place(MODEL, -1, None) is None


def test_a_cache_holds_whole_experts_and_leaves_room_for_those_being_packed():
    model = catalogued("qwen3-30b-a3b-q4_k_m")
    always = sum(model.layers) + model.head - model.experts
    assert 2 << 20 < model.expert < 4 << 20
    for experts in (SLOTS, SLOTS + 1):
        assert place(model, always + (experts + READERS) * model.expert, None).cache == experts * model.expert
    little = place(model, always + (SLOTS + READERS) * model.expert - 1, None)
    assert little is None or not little.cache
    on_card = place(model, always + SLOTS * model.expert, 1 << 40)
    assert (on_card.cache, on_card.ram) == (SLOTS * model.expert, model.experts)


@pytest.mark.parametrize("count", [1, 2, 28, 80])
def test_every_layer_has_its_place_in_the_order(count: int):
    assert sorted(spread_order(count)) == list(range(count))


@given(room=st.integers(0, 3 << 30), ram=st.none() | st.integers(0, 3 << 30), tied=st.booleans())
def test_no_tier_holds_more_than_its_capacity(room: int, ram: int | None, tied: bool):
    model = outline(layers=13, layer_nbytes=(90 * MIB) + 7, hidden=1024, vocabulary=50_000, tied=tied)
    found = place(model, room, ram)
    if found is None:
        return
    assert found.device + found.ring + found.table <= room
    assert found.ram + found.staging <= (ram or 0)
    assert found.device + found.ram + found.ssd == sum(model.layers) + model.head
    in_layers = found.device - found.layers.count("device") * model.layers[0]
    assert in_layers in (0, model.head)
    assert len(found.layers) == 13


@given(
    room=st.integers(0, 3 << 30), more=st.integers(0, 1 << 30),
    ram=st.integers(0, 3 << 30), more_ram=st.integers(0, 1 << 30),
    uncut=st.sampled_from([0, 70 * MIB]),
)  # fmt: skip
def test_more_memory_never_puts_fewer_bytes_into_a_faster_tier(
    room: int, more: int, ram: int, more_ram: int, uncut: int
):
    model = outline(layers=13, layer_nbytes=90 * MIB, hidden=1024, vocabulary=50_000, uncut=uncut)
    less, larger = place(model, room, ram), place(model, room + more, ram + more_ram)
    if less is not None:
        assert larger is not None
        assert larger.streamed <= less.streamed
        assert larger.ssd <= less.ssd
