"""`specexec doctor`, as a person and as a program sees it."""

import json
from dataclasses import replace
from pathlib import Path

import platformdirs
import pytest

from engine import cli, machine
from engine.errors import DiskProblem
from engine.machine import DiskSpeed, Gpu, LinkSpeed
from engine.machine.kept import now

SPEED = DiskSpeed(2.5, None, now())


@pytest.fixture(autouse=True)
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Folders whose disk was measured; nothing is read, and nothing was kept before."""
    folders: list[Path] = []

    def measure(folder: Path, open_file: object) -> DiskSpeed:
        folders.append(folder)
        return SPEED

    monkeypatch.setattr(machine, "measure_disk", measure)
    monkeypatch.setattr(platformdirs, "user_data_path", lambda *args, **kwargs: tmp_path / "data")
    monkeypatch.setenv("SPECEXEC_MODELS", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "60")
    return folders


def told(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> dict:
    assert cli.run(["doctor", "--json", *arguments]) == status
    return json.loads(capsys.readouterr().out)


def test_json_is_one_object_with_machine_torch_and_findings(capsys, tmp_path: Path):
    answer = told(capsys)
    assert answer.keys() == {"machine", "torch", "findings"}
    assert answer["machine"]["disk"]["folder"] == str(tmp_path)
    assert answer["machine"]["disk"]["speed"]["direct_gb_per_s"] == 2.5
    assert answer["machine"]["memory"]["total_nbytes"] > 0
    assert answer["torch"]["version"]
    for finding in answer["findings"]:
        assert finding.keys() == {"kind", "severity", "message", "hint"}


def test_the_disk_is_measured_once_a_week_or_when_asked(capsys, measured, monkeypatch):
    told(capsys, "--no-measure")
    assert measured == []
    told(capsys)
    told(capsys)
    assert len(measured) == 1
    told(capsys, "--measure")
    assert len(measured) == 2
    monkeypatch.setattr(machine, "is_fresh", lambda moment: False)
    told(capsys)
    assert len(measured) == 3


def test_another_folder_can_be_named(capsys, measured, tmp_path: Path):
    other = tmp_path / "other"
    assert told(capsys, "--models", str(other))["machine"]["disk"]["folder"] == str(other)
    assert measured == [other]
    other.write_text("no folder")
    assert told(capsys, "--models", str(other), status=1)["error"]["kind"] == "bad_option"


def test_a_disk_that_cannot_be_measured_is_a_finding(capsys, monkeypatch):
    def refused(folder: Path, open_file: object) -> DiskSpeed:
        raise DiskProblem("The disk cannot be measured.", "Name another folder.")

    monkeypatch.setattr(machine, "measure_disk", refused)
    answer = told(capsys)
    assert answer["findings"][0]["message"] == "The disk cannot be measured."
    assert answer["machine"]["disk"]["speed"] is None


def test_where_nothing_can_run_the_status_is_1_and_says_why(capsys, measured, monkeypatch):
    monkeypatch.setattr(machine, "installed_torch", lambda: None)
    answer = told(capsys, status=1)
    assert answer["error"] == {
        "kind": "no_torch", "message": "torch is not installed.", "hint": "Install the program again.",
    }  # fmt: skip
    assert measured == []
    assert cli.run(["doctor"]) == 1
    assert "error     torch is not installed.\n          → Install" in capsys.readouterr().out


def test_a_person_sees_columns_that_fit_the_terminal(capsys, monkeypatch, tmp_path: Path):
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
    assert "warning The NVIDIA driver 470.10 is too old" in text
    assert "Nothing is wrong" not in text
    assert all(len(line) <= 60 or str(tmp_path) in line for line in lines)
    assert all(line == "" or line[10:11] != " " for line in lines)


def test_a_machine_with_mere_notes_is_sound(capsys, monkeypatch):
    notes = [machine.Finding("on_battery", "note", "It runs on battery.", "Plug it in.")]
    monkeypatch.setattr(machine, "diagnose", lambda here, torch: notes)
    assert cli.run(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "note      It runs on battery.\n          → Plug it in." in out
    assert out.endswith("Nothing is wrong.\n")
