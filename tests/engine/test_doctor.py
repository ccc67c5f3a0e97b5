"""`specexec doctor`: its text and its JSON output."""

import json
from dataclasses import replace
from pathlib import Path

import platformdirs
import pytest

from engine import cli, machine, ways
from engine.errors import DiskProblem
from engine.machine import DiskSpeed, Gpu, LinkSpeed
from engine.machine.stored_speeds import now
from engine.proof import card_proof, kernels
from tests.engine.proof.test_card_proof import Answers

SPEED = DiskSpeed(2.5, None, now())


@pytest.fixture(autouse=True)
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return the folders whose disk was measured. Nothing is read, and nothing was stored before."""
    folders: list[Path] = []

    def measure(folder: Path, open_file: object) -> DiskSpeed:
        folders.append(folder)
        return SPEED

    monkeypatch.setattr(machine, "measure_disk", measure)
    monkeypatch.setattr(platformdirs, "user_data_path", lambda *args, **kwargs: tmp_path / "data")
    monkeypatch.setenv("SPECEXEC_MODELS", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "60")
    return folders


def report(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> dict:
    assert cli.run(["doctor", "--json", *arguments]) == status
    return json.loads(capsys.readouterr().out)


def test_json_is_one_object_with_machine_torch_and_findings(capsys, tmp_path: Path):
    answer = report(capsys)
    assert answer.keys() == {"machine", "torch", "findings"}
    assert answer["machine"]["disk"]["folder"] == str(tmp_path)
    assert answer["machine"]["disk"]["speed"]["direct_gb_per_s"] == 2.5
    assert answer["machine"]["memory"]["total_nbytes"] > 0
    assert answer["torch"]["version"]
    for finding in answer["findings"]:
        assert finding.keys() == {"kind", "severity", "message", "hint"}


def test_the_disk_is_measured_once_a_week_or_on_request(capsys, measured, monkeypatch):
    report(capsys, "--no-measure")
    assert measured == []
    report(capsys)
    report(capsys)
    assert len(measured) == 1
    report(capsys, "--measure")
    assert len(measured) == 2
    monkeypatch.setattr(machine, "is_fresh", lambda moment: False)
    report(capsys)
    assert len(measured) == 3


def test_another_folder_can_be_given(capsys, measured, tmp_path: Path):
    other = tmp_path / "other"
    assert report(capsys, "--models", str(other))["machine"]["disk"]["folder"] == str(other)
    assert measured == [other]
    other.write_text("a file")
    assert report(capsys, "--models", str(other), status=1)["error"]["kind"] == "bad_option"


def test_a_disk_that_cannot_be_measured_is_a_finding(capsys, monkeypatch):
    def refused(folder: Path, open_file: object) -> DiskSpeed:
        raise DiskProblem("The disk cannot be measured.", "Choose another folder.")

    monkeypatch.setattr(machine, "measure_disk", refused)
    answer = report(capsys)
    assert answer["findings"][0]["message"] == "The disk cannot be measured."
    assert answer["machine"]["disk"]["speed"] is None


def test_a_missing_torch_is_said_and_the_disk_is_measured_all_the_same(capsys, measured, monkeypatch):
    monkeypatch.setattr(machine, "installed_torch", lambda: None)
    answer = report(capsys)
    assert answer["torch"] is None
    assert "no_torch" in [finding["kind"] for finding in answer["findings"]]
    assert len(measured) == 1
    assert cli.run(["doctor"]) == 0
    assert "PyTorch is not set up" in " ".join(capsys.readouterr().out.split())


def test_the_text_fits_the_terminal_in_columns(capsys, monkeypatch, tmp_path: Path):
    here = machine.probe(tmp_path)
    card = Gpu(
        "nvidia", "NVIDIA GeForce RTX 4090", "8d5d", 24 * 2**30, 20 * 2**30, "470.10", (8, 9), 31.5,
        LinkSpeed(25.3, SPEED.measured),
    )  # fmt: skip
    here = replace(here, gpus=(card,), gpu_problem=None)
    monkeypatch.setattr(machine, "probe", lambda folder: here)
    monkeypatch.setattr(machine, "installed_torch", lambda: machine.TorchBuild("2.13.0+cu130", "13.0"))
    assert cli.run(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    text = " ".join(" ".join(lines).split())
    assert lines[0].startswith("Graphics  NVIDIA GeForce RTX 4090, 24.0 GiB, 20.0 GiB free,")
    assert "compute capability 8.9, driver 470.10" in text
    assert f"31.5 GB/s at most, 25.3 GB/s measured on {SPEED.measured:%Y-%m-%d}" in text
    assert "torch 2.13.0+cu130, CUDA 13.0" in text
    assert "reads 2.50 GB/s directly, measured on" in text
    assert "warning NVIDIA driver 470.10 is too old" in text
    assert "No problems found" not in text
    assert all(len(line) <= 60 or str(tmp_path) in line for line in lines)
    assert all(line == "" or line[10:11] != " " for line in lines)


def test_a_machine_with_only_notes_is_healthy(capsys, monkeypatch):
    notes = [machine.Finding("on_battery", "note", "It runs on battery.", "Plug it in.")]
    monkeypatch.setattr(machine, "diagnose", lambda here, torch: notes)
    assert cli.run(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "note      It runs on battery.\n          → Plug it in." in out
    assert out.endswith("No problems found.\n")


GPU = Gpu("nvidia", "NVIDIA GeForce RTX 4090", "8d5d", 24 << 30, 20 << 30, "580.10", (8, 9), 31.5)


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch):
    """A card whose graphs are wrong; every check takes no time."""
    monkeypatch.setattr("engine.model.devices.choose_device", lambda requested: "cuda")
    monkeypatch.setattr("engine.torch_model.loader.choose_dtype", lambda requested, device: "torch.bfloat16")
    monkeypatch.setattr(card_proof, "first_card", lambda: GPU)
    answers = Answers("graphs replay")
    monkeypatch.setattr(card_proof.CardProof.__init__, "__defaults__", (lambda: answers,))
    yield answers
    ways.take({})


def test_a_card_is_checked_only_on_request(capsys, card, monkeypatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    assert "card" not in report(capsys)
    assert card.tested == []
    answer = report(capsys, "--device", "cuda")
    assert answer["card"]["taken"]["graphs"] == "launches"
    assert answer["card"]["identity"]["card"] == GPU.name
    assert json.loads((tmp_path / "specexec-card.json").read_text()) == answer["card"]


def test_each_request_checks_the_card_anew_and_prints_a_table(capsys, card, monkeypatch, tmp_path: Path):
    file = tmp_path / "report.json"
    for _ in range(2):
        card.tested.clear()
        assert cli.run(["doctor", "--device", "cuda", "--report", str(file)]) == 0
        assert len(card.tested) == len(kernels.every("bfloat16")) + 1
    out = capsys.readouterr().out
    assert "\nkernel " in out
    assert "\nunpack Q4_K bfloat16 " in out
    assert "\nReplaying a CUDA graph (replay) gives wrong numbers on this graphics card: all differ\n" in out
    assert f"\nThe report is in {file}.\n" in out


def test_a_report_that_cannot_be_written_is_an_error(capsys, card, tmp_path: Path):
    answer = report(capsys, "--device", "cuda", "--report", str(tmp_path / "no" / "r.json"), status=1)
    assert answer["error"]["kind"] == "disk"


def test_without_a_card_its_check_is_refused(capsys):
    answer = report(capsys, "--device", "cuda", status=1)
    assert answer["error"]["kind"] == "device_unavailable"
