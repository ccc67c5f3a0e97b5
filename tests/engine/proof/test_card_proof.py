"""What a card has shown is kept, taken back by one step if the card stops, and tried again if the card, its
driver, torch or the program changes."""

import json
from collections.abc import Callable
from dataclasses import replace

import platformdirs
import pytest

from engine import machine, ways
from engine.machine import Gpu, TorchBuild, stored_speeds
from engine.proof import ladder, record
from engine.proof.card_proof import CardProof
from engine.proof.trial import Trial, TriedWay
from tests.engine.remarks import said

GPU = Gpu("nvidia", "NVIDIA GeForce RTX 4090", "8d5d", 24 << 30, 20 << 30, "580.10", (8, 9), 31.5)
KERNELS = [
    "memory",
    "dense bfloat16",
    "unpack Q4_K bfloat16",
    "unpack Q6_K bfloat16",
    "product Q4_K bfloat16",
    "streams",
    "graphs",
]
RATES = {"memory": 8e11, "dense": 1.5e14, "unpack": 3e11, "product": 7e11, "streams": 25e9}


class Answers:
    """A `Tester`. wrong: "kernel way" of those that are wrong. reachable: whether the card can be used.
    tested: what was asked for."""

    def __init__(self, *wrong: str, reachable: bool = True) -> None:
        self.wrong = wrong
        self.reachable = reachable
        self.tested: list[str] = []
        self.closed = 0

    def test(self, trial: Trial, waiting: Callable[[], object] = lambda: None) -> TriedWay:
        place = f"{trial.kernel} {trial.way}"
        self.tested.append(place)
        if not self.reachable:
            return TriedWay(trial.kernel, trial.way, "unreachable", "CUDA error: unknown error")
        if place in self.wrong:
            return TriedWay(trial.kernel, trial.way, "wrong", "all differ")
        rate = RATES.get(ways.kind_of(trial.kernel))
        if trial.way == "torch":
            rate = 4e10
        return TriedWay(trial.kernel, trial.way, "right", "", rate, None, "B/s")

    def close(self) -> None:
        self.closed += 1


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(platformdirs, "user_data_path", lambda *args, **kwargs: tmp_path)
    yield tmp_path
    ways.take({})


def prove(tester: Answers, gpu: Gpu = GPU, kernels=KERNELS) -> CardProof:
    proof = CardProof(gpu, lambda: tester)
    proof.prove(kernels)
    assert tester.closed == 1, "the process keeps memory on the card"
    return proof


def test_a_second_load_tries_only_what_is_new():
    first, second, third = Answers(), Answers(), Answers()
    prove(first)
    assert first.tested == [f"{name} {ways.LADDERS[ways.kind_of(name)].ways[0].name}" for name in KERNELS]
    prove(second)
    assert second.tested == []
    prove(third, kernels=[*KERNELS, "noise"])
    assert third.tested == ["noise card"]


@pytest.mark.parametrize(
    "gpu",
    [
        replace(GPU, driver="581.1"),
        replace(GPU, name="NVIDIA GeForce RTX 5090"),
        replace(GPU, uuid="77aa"),
    ],
)
def test_another_card_or_driver_is_tried_anew(gpu):
    prove(Answers())
    again = Answers()
    prove(again, gpu)
    assert len(again.tested) == len(KERNELS)


@pytest.mark.parametrize("changed", ["torch", "program"])
def test_another_torch_or_program_is_tried_anew(changed, monkeypatch):
    prove(Answers())
    if changed == "torch":
        monkeypatch.setattr(machine, "installed_torch", lambda: TorchBuild("9.0", "14.0"))
    else:
        monkeypatch.setattr(record, "_version", lambda package: "9.0")
    again = Answers()
    prove(again)
    assert len(again.tested) == len(KERNELS)


def test_what_checks_that_asked_less_have_shown_is_tried_anew(folder):
    prove(Answers())
    file = folder / "card.json"
    kept = json.loads(file.read_text())
    assert kept["identity"].pop("checks") > 1
    file.write_text(json.dumps(kept))
    again = Answers()
    prove(again)
    assert len(again.tested) == len(KERNELS)


def test_a_damaged_file_counts_as_missing(folder):
    prove(Answers())
    (folder / "card.json").write_text("{")
    again = Answers()
    prove(again)
    assert len(again.tested) == len(KERNELS)


def test_the_ways_that_are_right_are_taken_and_told():
    proof = prove(Answers("unpack Q4_K bfloat16 triton", "graphs replay"))
    assert ways.taken("unpack", "Q4_K", "bfloat16") == "torch"
    assert ways.taken("unpack", "Q6_K", "bfloat16") == "triton"
    assert ways.taken("graphs") == "launches"
    assert ways.taken("streams") == "two"
    assert said(proof.remarks) == (
        "Unpacking weights (Q4_K, bfloat16; triton) gives wrong numbers on this graphics card, so plain "
        "torch unpacks them, which is several times slower. Replaying a CUDA graph (replay) gives wrong "
        "numbers on this graphics card, so kernels are launched one by one, which is slower."
    )
    assert proof.refused is None


def test_without_any_right_way_the_card_is_refused():
    proof = prove(Answers("dense bfloat16 card"))
    assert proof.refused is not None
    assert ladder.described(proof.refused) == (
        "Multiplying matrices (bfloat16; card) gives wrong numbers on this graphics card"
    )


def test_a_way_that_is_right_but_slow_is_taken_if_the_safer_one_fails():
    class Slow(Answers):
        def test(self, trial: Trial, waiting: Callable[[], object] = lambda: None) -> TriedWay:
            shown = super().test(trial)
            return TriedWay(trial.kernel, trial.way, "slow") if trial.way == "card" else shown

    tester = Slow("halves float32")
    proof = prove(tester, kernels=["halves"])
    assert tester.tested == ["halves card", "halves float32"]
    assert proof.refused is None
    assert proof.remarks == []
    assert ways.taken("halves") == "card"
    proof.step_back("AcceleratorError")
    assert proof.refused is not None, "a suspected way is not slow"


def test_a_card_that_cannot_be_reached_is_refused_and_tried_again_at_the_next_load():
    lost, again = Answers(reachable=False), Answers()
    refused = prove(lost).refused
    assert refused is not None
    assert ladder.described(refused) == "The graphics card cannot be used now"
    assert lost.tested == ["memory card"]
    assert prove(again).refused is None
    assert len(again.tested) == len(KERNELS)


def test_a_check_anew_that_does_not_reach_the_card_forgets_nothing():
    prove(Answers("graphs replay"))
    anew = CardProof(GPU, lambda: Answers(reachable=False))
    anew.renew()
    anew.prove(KERNELS)
    assert anew.refused is not None
    again = Answers()
    prove(again)
    assert again.tested == []
    assert ways.taken("graphs") == "launches"


def test_after_the_card_has_stopped_one_kernel_takes_one_step_at_each_start():
    steps = []
    for _ in range(8):
        tester = Answers()
        proof = prove(tester)
        if proof.refused:
            break
        steps.append(ladder.choices(KERNELS, proof.tried))
        assert all(place.split()[-1] != "card" for place in tester.tested) or len(steps) == 1
        proof.step_back("AcceleratorError")
    assert steps == [
        {},
        (graphs := {"graphs": "launches"}),
        (product := graphs | {"product Q4_K bfloat16": "unpack"}),
        (streams := product | {"streams": "one"}),
        (first := streams | {"unpack Q4_K bfloat16": "torch"}),
        first | {"unpack Q4_K bfloat16": "processor"},
        first | {"unpack Q4_K bfloat16": "processor", "unpack Q6_K bfloat16": "torch"},
        first | {"unpack Q4_K bfloat16": "processor", "unpack Q6_K bfloat16": "processor"},
    ]
    proof.step_back("AcceleratorError")
    assert (refused := prove(Answers()).refused) is not None
    assert refused.kernel == "dense bfloat16"


def test_measured_speeds_are_kept_for_plans(tmp_path):
    prove(Answers("unpack Q6_K bfloat16 triton", "product Q4_K bfloat16 triton"))
    stored = stored_speeds.read()
    speed = stored.cards["8d5d"]
    assert (speed.flops, speed.memory_gb_per_s) == (1.5e14, 800.0)
    assert speed.unpack == {"Q4_K": 3e11, "Q6_K": 4e10}
    assert speed.fused == ()
    assert stored.links["8d5d"].gb_per_s == 25.0
    assert not stored.links["8d5d"].one_stream


def test_plans_are_told_that_copies_and_computation_take_turns():
    prove(Answers("streams two"))
    assert stored_speeds.read().links["8d5d"].one_stream


def test_a_format_is_fast_in_plans_only_if_all_its_kernels_are():
    kernels = ["memory", "dense bfloat16", "product GPTQ-4-128-1 bfloat16", "product GPTQ-4-32-1 bfloat16"]
    prove(Answers("product GPTQ-4-32-1 bfloat16 triton"), kernels=kernels)
    assert stored_speeds.read().cards["8d5d"].fused == ()
