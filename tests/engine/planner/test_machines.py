"""Machine profiles from probed and described machines."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine import machine
from engine.machine import CardSpeed, DiskSpeed, Gpu, LinkSpeed
from engine.machine.stored_speeds import now
from engine.planner import cards, computing_in, data_sheet, described_machine, profile_of
from engine.planner.machines import DESKTOP_RAM, DESKTOP_VRAM, GIB, UNMEASURED_DISK, processor
from tests.engine.planner.made import CARD, CPU

GPU = Gpu("nvidia", "NVIDIA GeForce RTX 4070 Ti", "8d5d", 12 * GIB, 10 * GIB, pcie_gb_per_s=31.5)


@pytest.fixture
def here(tmp_path: Path):
    probed = machine.probe(tmp_path)
    return replace(probed, gpus=(), disk=replace(probed.disk, speed=None))


def test_a_machine_without_a_card(here):
    found = profile_of(here, cards())
    assert found.card is None
    assert (found.vram, found.usable_vram) == (0, 0)
    assert found.ram == here.memory.available_nbytes
    assert 0 < found.usable_ram < found.ram
    assert found.disk == UNMEASURED_DISK


def test_measured_bandwidths_take_precedence_over_the_lanes_raw_rate(here):
    speed = DiskSpeed(2.5, 3.5, now())
    here = replace(here, gpus=(GPU,), disk=replace(here.disk, speed=speed))
    found = profile_of(here, cards())
    assert found.disk == 3.5e9
    assert found.vram == 10 * GIB
    assert 24e9 < found.link < 26e9
    assert found.card == cards()["RTX 4070 Ti"] != cards()["RTX 4070"]
    measured = replace(GPU, link=LinkSpeed(21.0, now()))
    profile = profile_of(replace(here, gpus=(measured,)), cards())
    assert (profile.link, profile.one_stream) == (21e9, False)
    measured = replace(GPU, link=LinkSpeed(21.0, now(), one_stream=True))
    assert profile_of(replace(here, gpus=(measured,)), cards()).one_stream


def test_a_measured_card_takes_precedence_over_its_data_sheet(here):
    speed = CardSpeed(5e13, 400.0, {"Q4_K": 3e11, "Q6_K": 4e10}, ("Q4_K",), now())
    here = replace(here, gpus=(replace(GPU, speed=speed),))
    card = profile_of(here, cards(), ["Q4_K", "F32"]).card
    sheet = cards()["RTX 4070 Ti"]
    assert (card.flops, card.memory, card.unpack) == (5e13, 400e9, 3e11)
    assert card.fused_rows == sheet.fused_rows > 0
    assert card.layer_s == sheet.layer_s
    mixed = profile_of(here, cards(), ["Q4_K", "Q6_K"]).card
    assert (mixed.unpack, mixed.fused_rows) == (4e10, 0), "the slowest format counts"
    assert profile_of(here, cards(), ["Q5_K"]).card.unpack == sheet.unpack
    assert profile_of(here, cards()).card.unpack == 4e10
    assert card.launch_s == sheet.launch_s, "that was not measured"


def test_the_time_of_launching_is_that_of_the_formats_in_use(here):
    launching = {"Q4_K": 40e-6, "IQ1_S": 200e-6}
    speed = CardSpeed(5e13, 400.0, {"Q4_K": 3e11, "IQ1_S": 4e10}, ("Q4_K",), now(), launching)
    here = replace(here, gpus=(replace(GPU, speed=speed),))
    assert profile_of(here, cards(), ["Q4_K"]).card.launch_s == 40e-6
    assert profile_of(here, cards()).card.launch_s == 200e-6
    assert profile_of(here, cards(), ["Q5_K"]).card.launch_s == cards()["RTX 4070 Ti"].launch_s


def test_a_card_with_an_unknown_name_gets_the_generic_figures(here):
    other = replace(GPU, name="NVIDIA Quadro 8000", vendor="nvidia")
    assert profile_of(replace(here, gpus=(other,)), cards()).card == cards()[""]


@pytest.mark.parametrize(("capability", "halves"), [((7, 5), True), ((8, 0), False), (None, False)])
def test_cards_before_ampere_multiply_in_float16_and_keep_float32(here, capability, halves):
    found = profile_of(replace(here, gpus=(replace(GPU, compute_capability=capability),)), cards()).card
    assert found.halves == halves
    assert (found.itemsize, found.state_itemsize) == (2, 4 if halves else 2)
    assert found.flops == cards()["RTX 4070 Ti"].flops


def test_cards_before_ampere_are_known_by_name_too():
    old = {name for name, card in cards().items() if card.halves}
    assert old == {"RTX 2060", "RTX 2080 Ti", "Tesla T4", "GTX 16", "GTX 1660", "GTX 1660 Ti"}
    assert data_sheet("Tesla T4") == {"halves": 65e12, "memory": 320e9}
    assert data_sheet("NVIDIA GeForce RTX 3060").keys() == {"dense", "memory"}


@pytest.mark.parametrize(
    ("name", "listed"),
    [("1660 Ti", "GTX 1660 Ti"), ("1660 SUPER", "GTX 1660"), ("1650 SUPER", "GTX 16"), ("1630", "GTX 16")],
)
def test_turing_without_cores_for_matrices_is_not_taken_for_a_usual_card(here, name, listed):
    gpu = replace(GPU, name=f"NVIDIA GeForce GTX {name}", compute_capability=(7, 5))
    found = profile_of(replace(here, gpus=(gpu,)), cards()).card
    assert found == cards()[listed]
    assert found.halves
    assert found.flops < cards()["Tesla T4"].flops / 10


@pytest.mark.parametrize(
    ("name", "listed"),
    [
        ("NVIDIA T1000", "GTX 16"),
        ("NVIDIA GeForce MX450", "GTX 16"),
        ("NVIDIA GeForce RTX 2070 SUPER", "RTX 2060"),
        ("Quadro RTX 5000", "RTX 2060"),
    ],
)
def test_a_card_before_ampere_that_is_not_listed_is_planned_as_the_slowest_of_its_kind(here, name, listed):
    gpu = replace(GPU, name=name, compute_capability=(7, 5))
    found = profile_of(replace(here, gpus=(gpu,)), cards()).card
    assert found == cards()[listed]
    assert found.flops < cards()[""].flops / 2
    newer = replace(gpu, compute_capability=(8, 6))
    assert profile_of(replace(here, gpus=(newer,)), cards()).card == cards()[""]


def test_products_of_packed_weights_before_ampere_reach_what_cards_reach_without_cores_for_matrices(here):
    reached = {name: card.flops * card.fused_share for name, card in cards().items() if card.halves}
    assert reached["Tesla T4"] == pytest.approx(4.05e12)
    assert reached["RTX 2080 Ti"] == pytest.approx(6.7e12)
    assert reached["GTX 1660"] == cards()["GTX 1660"].flops
    assert {card.fused_share for card in cards().values() if not card.halves} == {1.0}
    speed = CardSpeed(2e13, 400.0, {"Q4_K": 3e11}, ("Q4_K",), now())
    gpu = replace(GPU, name="Tesla T4", compute_capability=(7, 5), speed=speed)
    measured = profile_of(replace(here, gpus=(gpu,)), cards(), ["Q4_K"]).card
    assert measured.flops * measured.fused_share == pytest.approx(2e13 * 8.1 / 65)


@pytest.mark.parametrize(
    ("dtype", "itemsize", "between"), [("float32", 4, 4), ("bfloat16", 2, 2), ("float16", 2, 4)]
)
def test_a_dtype_that_is_asked_for_tells_how_many_bytes_numbers_take(dtype, itemsize, between):
    for device in (CARD, cards()["Tesla T4"], CPU):
        found = computing_in(device, dtype)
        assert (found.itemsize, found.state_itemsize) == (itemsize, between)


def test_a_described_machine_reserves_memory_for_its_desktop():
    found = described_machine(24, 64, 25e9, 7e9, CARD, CPU)
    assert (found.vram, found.ram) == (24 * GIB - DESKTOP_VRAM, 64 * GIB - DESKTOP_RAM)
    assert described_machine(0, 1, 25e9, 7e9, CARD, CPU).card is None
    assert described_machine(0, 1, 25e9, 7e9, CARD, CPU).ram == 0


def test_processors_with_bfloat16_compute_in_it():
    assert processor(2, {"avx2", "avx512f", "avx512_bf16"}).itemsize == 2
    speeds = [processor(4, {name}).flops for name in ("", "avx2", "avx512f", "avx512_bf16")]
    assert speeds == sorted(speeds)
    assert processor(64, {"avx2"}).memory == processor(32, {"avx2"}).memory, "limited by memory, not by cores"


def test_without_kernels_a_card_unpacks_slowly_and_multiplies_no_packed_weights():
    fast, slow = cards(), cards(kernels=False)
    assert fast.keys() == slow.keys()
    for name, card in slow.items():
        assert 6 <= fast[name].unpack / card.unpack <= 10
        assert card.fused_rows == 0
        assert card.launch_s > 2 * fast[name].launch_s
        assert card.memory == fast[name].memory
