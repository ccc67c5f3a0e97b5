"""A card proves itself before a pair is planned for it; one that stops ends the engine."""

import sys
from pathlib import Path

import platformdirs
import pytest

from engine import machine, protocol, ways
from engine.errors import CardFailed, DeviceUnavailable
from engine.launch import interpreter
from engine.machine import Gpu
from engine.proof import card_proof, record
from engine.proof.trial import TriedWay
from engine.protocol import EngineConnection, Load
from engine.serving import card
from engine.serving import load as steps
from engine.serving.load import LoadJob, check, resolve
from engine.serving.service import EngineService
from tests.engine.heads.test_service import write_target
from tests.engine.proof.test_card_proof import Answers
from tests.engine.remarks import said

GPU = Gpu("nvidia", "NVIDIA GeForce RTX 4090", "8d5d", 24 << 30, 20 << 30, "580.10", (8, 9), 31.5)
# An engine whose card stops at the first request.
STOPPING = """
import sys
from engine.serving import process
from engine.serving.service import EngineService

class Proof:
    def step_back(self, problem):
        print("stepped back after", problem, file=sys.stderr)

def load(self, request, emit, cancelled):
    self._proof = Proof()
    error = RuntimeError("CUDA error: WORDS")
    raise self._problem(error) from error

EngineService.load = load
process.main()
"""


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_target(tmp_path_factory.mktemp("target"))


@pytest.fixture(autouse=True)
def on_a_card(tmp_path, monkeypatch):
    monkeypatch.setattr(platformdirs, "user_data_path", lambda *args, **kwargs: tmp_path)
    monkeypatch.setattr(card_proof, "first_card", lambda: GPU)
    monkeypatch.setattr(card, "choose_device", lambda requested: "cpu" if requested == "cpu" else "cuda")
    monkeypatch.setattr("torch.cuda.is_bf16_supported", lambda **_: True)
    yield
    ways.take({})


def answering(monkeypatch, *wrong: str, reachable: bool = True) -> Answers:
    tester = Answers(*wrong, reachable=reachable)
    make = card_proof.CardProof.__init__

    def init(self, gpu, make_tester=None):
        make(self, gpu, lambda: tester)

    monkeypatch.setattr(card_proof.CardProof, "__init__", init)
    return tester


def proven(target: Path, **options):
    events: list[protocol.Event] = []
    job = LoadJob(1, events.append, lambda: False)
    request = Load(id=1, target=str(target), draft="none", **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "choose_device", card.choose_device)
        pair = check(job, request, resolve(job, request))
    return (*card.proven(job, pair), events)


@pytest.mark.parametrize("ampere", [True, False])
def test_the_kernels_of_the_pair_are_tried_and_progress_is_told(target, ampere, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_bf16_supported", lambda **_: ampere)
    tester = answering(monkeypatch)
    pair, proof, remarks, events = proven(target, device="auto")
    assert pair.request.device == "auto"
    assert remarks == []
    assert proof is not None
    kinds = [place.split()[0] for place in tester.tested]
    others = {"unpack", "product", "scores", "states"} | ({"halves"} if ampere else set())
    assert kinds == [kind for kind in ways.LADDERS if kind not in others], "none is packed"
    stages = [(each.done, each.total) for each in events if each.stage == "kernels"]
    assert stages == [(done, len(kinds)) for done in range(len(kinds) + 1)]


def test_the_user_is_told_of_a_safer_way(target, monkeypatch):
    answering(monkeypatch, "graphs replay")
    _, _, remarks, _ = proven(target, device="cuda")
    start = "Replaying a CUDA graph (replay) gives wrong numbers on this graphics card, so"
    assert said(remarks).startswith(start)
    assert ways.taken("graphs") == "launches"


def test_a_card_that_cannot_multiply_leaves_the_model_to_the_processor(target, monkeypatch):
    answering(monkeypatch, "dense bfloat16 card")
    engine = EngineService()
    request = Load(id=1, target=str(target), draft="none", context=96)
    loaded = engine.load(request, lambda event: None, lambda: False)
    try:
        assert loaded.device == "cpu"
        sentence = said(loaded.remarks)
        assert sentence.startswith("Multiplying matrices (bfloat16; card) gives wrong numbers on this")
        assert sentence.endswith(
            "so the processor runs the model; specexec doctor --device cuda checks the card anew."
        )
    finally:
        engine.unload()


def test_a_card_that_cannot_be_reached_leaves_the_model_to_the_processor_until_the_next_load(
    target, monkeypatch
):
    answering(monkeypatch, reachable=False)
    pair, proof, remarks, _ = proven(target, device="auto")
    assert (pair.request.device, proof) == ("cpu", None)
    assert said(remarks) == (
        "The graphics card cannot be used now, so the processor runs the model; the next load tries it again."
    )
    with pytest.raises(DeviceUnavailable, match="cannot be used now"):
        proven(target, device="cuda")


def test_a_card_that_is_asked_for_by_name_is_refused_by_name(target, monkeypatch):
    answering(monkeypatch, "dense bfloat16 card")
    with pytest.raises(DeviceUnavailable, match="Multiplying matrices") as error:
        proven(target, device="cuda")
    assert "--device cpu" in error.value.hint


def test_the_processor_proves_nothing(target, monkeypatch):
    tester = answering(monkeypatch)
    assert proven(target, device="cpu")[1] is None
    monkeypatch.setattr(card_proof, "first_card", lambda: None)
    assert proven(target, device="auto")[1] is None
    assert tester.tested == []


def test_after_the_card_has_stopped_the_next_start_takes_one_step(target, monkeypatch):
    answering(monkeypatch)
    engine = EngineService()
    _, engine._proof, _, _ = proven(target, device="auto")
    error = RuntimeError("CUDA error: unspecified launch failure")
    with pytest.raises(CardFailed) as named:
        engine._shrink(error)
    assert named.value.kind == "card_failed"
    kept = record.read(record.identity_of(GPU))
    assert [each for each in kept if each.outcome != "right"] == [
        TriedWay("graphs", "replay", "suspected", "RuntimeError")
    ]
    _, _, remarks, _ = proven(target, device="auto")
    assert said(remarks) == (
        "Replaying a CUDA graph (replay) may have stopped the graphics card, so kernels are launched one by "
        "one, which is slower."
    )


def test_without_a_proof_no_safer_way_is_promised():
    with pytest.raises(CardFailed) as named:
        EngineService()._shrink(RuntimeError("CUDA error: unspecified launch failure"))
    assert "safer" not in named.value.hint
    assert named.value.cause == "fault"


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("CUDA error: unknown error"),  # as after suspend
        RuntimeError("CUDA error: uncorrectable ECC error encountered"),
    ],
    ids=str,
)
def test_after_a_fault_that_no_kernel_causes_every_kernel_keeps_its_way(target, monkeypatch, error):
    answering(monkeypatch)
    engine = EngineService()
    _, engine._proof, _, _ = proven(target, device="auto")
    before = record.read(record.identity_of(GPU))
    with pytest.raises(CardFailed) as named:
        engine._shrink(error)
    assert "safer" not in named.value.hint
    assert record.read(record.identity_of(GPU)) == before
    assert before


@pytest.mark.parametrize(
    ("words", "status", "hint"),
    [
        ("an illegal memory access was encountered", protocol.CARD_FAILED_STATUS, "safer way"),
        ("unknown error", protocol.CARD_FAULT_STATUS, "restart the computer"),
    ],
)
def test_an_engine_whose_card_has_stopped_ends_with_its_own_status(words, status, hint, monkeypatch):
    def command(module, *arguments):
        return [sys.executable, "-c", STOPPING.replace("WORDS", words), *arguments]

    monkeypatch.setattr(interpreter, "command", command)
    connection = EngineConnection.start()
    connection.post(Load(id=1))
    *_, failed, lost = connection.events()
    assert isinstance(failed, protocol.Failed)
    assert (failed.request, failed.kind, failed.loaded) == (1, "card_failed", False)
    assert isinstance(lost, protocol.EngineLost)
    assert lost.exit_code == status
    assert lost.card_failed
    assert not lost.killed
    assert hint in lost.hint
    assert hint in failed.hint


def test_machine_facts_come_from_the_driver(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(machine, "cards_here", lambda: [Gpu("amd", "integrated"), GPU])
    assert card_proof.first_card() == GPU
