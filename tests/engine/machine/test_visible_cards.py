"""Plans, checks and computing mean the same card where there are several."""

import pytest

from engine.machine import Gpu, survey
from engine.machine.visible_cards import in_order, let_cuda_see

SMALL = Gpu("nvidia", "GTX 1650", uuid="aaaa1111-0", total_nbytes=4 << 30)
LARGE = Gpu("nvidia", "RTX 4090", uuid="bbbb2222-0", total_nbytes=24 << 30)
TWIN = Gpu("nvidia", "RTX 3090", uuid="cccc3333-0", total_nbytes=24 << 30)
BUS = [SMALL, LARGE, TWIN]


@pytest.mark.parametrize(
    ("visible", "cards"),
    [
        (None, [LARGE, TWIN, SMALL]),
        ("0", [SMALL]),
        ("2,0", [TWIN, SMALL]),
        ("GPU-bbbb", [LARGE]),
        ("GPU-cccc3333-0, 1", [TWIN, LARGE]),
        ("1,7,0", [LARGE]),
        ("1,1", [LARGE]),
        ("-1", []),
        ("", []),
        ("GPU-", []),
        ("MIG-aaaa", BUS),
    ],
)
def test_cards_come_in_the_order_in_which_cuda_sees_them(visible, cards):
    assert in_order(BUS, visible) == cards


def test_a_card_too_old_for_torch_comes_last_however_much_memory_it_has():
    old = Gpu("nvidia", "Tesla P40", uuid="dddd", total_nbytes=24 << 30, compute_capability=(6, 1))
    new = Gpu("nvidia", "RTX 3060", uuid="eeee", total_nbytes=12 << 30, compute_capability=(8, 6))
    assert in_order([old, new], None) == [new, old]
    assert in_order([old, new], "0,1") == [old, new]


def test_cuda_is_told_the_order_and_then_agrees():
    environ = {"PATH": "/bin"}
    let_cuda_see(in_order(BUS, None), environ)
    assert environ["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    assert in_order(BUS, environ["CUDA_VISIBLE_DEVICES"]) == [LARGE, TWIN, SMALL]


@pytest.mark.parametrize(
    ("cards", "before"),
    [([LARGE], {}), (BUS, {"CUDA_VISIBLE_DEVICES": "2"}), ([SMALL], {"CUDA_DEVICE_ORDER": "FASTEST_FIRST"})],
)
def test_a_lone_card_and_what_the_user_says_stay(cards, before):
    environ = dict(before)
    let_cuda_see(cards, environ)
    assert environ == {**before, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}


def test_the_survey_has_the_card_in_use_first(monkeypatch):
    monkeypatch.setattr(survey, "nvidia_gpus", lambda: (list(BUS), None))
    monkeypatch.setattr(survey, "amd_gpus", lambda: [])
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")  # so that it is what it was, afterwards
    monkeypatch.setenv("CUDA_DEVICE_ORDER", "")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    assert survey.cards_here()[0] == LARGE
    survey.show_cards()
    assert survey.cards_here() == [LARGE, TWIN, SMALL]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert survey.cards_here() == [SMALL]


def test_hidden_cards_are_not_taken_for_missing_ones(monkeypatch, tmp_path):
    monkeypatch.setattr(survey, "nvidia_gpus", lambda: (list(BUS), None))
    monkeypatch.setattr(survey, "amd_gpus", lambda: [])
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    found = survey.probe(tmp_path)
    assert (found.gpus, found.gpu_problem) == ((), "CUDA_VISIBLE_DEVICES hides it")
