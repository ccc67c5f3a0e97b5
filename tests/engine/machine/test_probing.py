"""This machine, whatever it is."""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import torch

from engine.machine import (
    DiskSpeed,
    Gpu,
    diagnose,
    installed_torch,
    probe,
    probing,
    remember_disk,
    remember_link,
)
from engine.machine.kept import now


def test_a_machine_is_probed_with_what_was_measured_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    cards = [Gpu("nvidia", "RTX 4090", "8d5d"), Gpu("nvidia", "RTX 4090", "77aa")]
    monkeypatch.setattr(probing, "nvidia_gpus", lambda: (cards, None))
    before = probe(tmp_path)
    assert before.disk.speed is None
    assert [gpu.link for gpu in before.gpus[:2]] == [None, None]
    speed = DiskSpeed(1.5, 0.5, now())
    remember_disk(before.disk.mount_point, speed)
    remember_link("77aa", 25.5)
    after = probe(tmp_path / "not" / "there" / "yet")
    assert after.disk.speed == speed
    assert after.gpus[0].link is None
    assert after.gpus[1].link is not None
    assert after.gpus[1].link.gb_per_s == 25.5


def test_what_is_said_of_this_machine_holds_together(tmp_path: Path):
    machine = probe(tmp_path)
    assert 0 < machine.memory.available_nbytes <= machine.memory.total_nbytes
    assert machine.memory.total_nbytes <= psutil.virtual_memory().total
    assert 1 <= machine.cpu.usable <= machine.cpu.threads
    assert machine.cpu.cores <= machine.cpu.threads
    assert 0 < machine.disk.free_nbytes <= machine.disk.total_nbytes
    assert all(finding.message and finding.hint for finding in diagnose(machine, installed_torch()))


def test_a_card_without_a_driver_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(probing, "nvidia_gpus", lambda: ([], None))
    monkeypatch.setattr(probing, "has_nvidia_card", lambda: True)
    assert probe(tmp_path).gpu_problem == probing.NO_DRIVER


def test_the_installed_torch_is_known_without_importing_it():
    build = installed_torch()
    assert build is not None
    assert (build.version, build.cuda) == (torch.__version__, torch.version.cuda)
    asked = "import sys; from engine import machine; print(machine.installed_torch(), 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{build} False"


def test_a_missing_torch_is_none(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("engine.machine.torch_build.find_spec", lambda name: None)
    assert installed_torch() is None
