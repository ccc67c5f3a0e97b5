"""The survey of this machine, and surroundings from recorded files and variables."""

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
    remember_disk,
    remember_link,
    survey,
)
from engine.machine.data import LinkSpeed, Surroundings
from engine.machine.stored_speeds import now
from engine.machine.survey import linux_surroundings, windows_surroundings
from tests.engine.machine.trees import put


def test_the_survey_includes_stored_bandwidths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    cards = [Gpu("nvidia", "RTX 4090", "8d5d"), Gpu("nvidia", "RTX 4090", "77aa")]
    monkeypatch.setattr(survey, "nvidia_gpus", lambda: (cards, None))
    before = probe(tmp_path)
    assert before.disk.speed is None
    assert [gpu.link for gpu in before.gpus[:2]] == [None, None]
    speed = DiskSpeed(1.5, 0.5, now())
    remember_disk(before.disk.mount_point, speed)
    remember_link("77aa", LinkSpeed(25.5, now()))
    after = probe(tmp_path / "not" / "there" / "yet")
    assert after.disk.speed == speed
    assert after.gpus[0].link is None
    assert after.gpus[1].link is not None
    assert after.gpus[1].link.gb_per_s == 25.5


def test_the_survey_of_this_machine_is_consistent(tmp_path: Path):
    machine = probe(tmp_path)
    assert 0 < machine.memory.available_nbytes <= machine.memory.total_nbytes
    assert machine.memory.total_nbytes <= psutil.virtual_memory().total
    assert 1 <= machine.cpu.usable <= machine.cpu.threads
    assert machine.cpu.cores <= machine.cpu.threads
    assert 0 < machine.disk.free_nbytes <= machine.disk.total_nbytes
    assert all(finding.message and finding.hint for finding in diagnose(machine, installed_torch()))


def test_a_card_without_a_driver_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(survey, "nvidia_gpus", lambda: ([], None))
    monkeypatch.setattr(survey, "has_nvidia_card", lambda: True)
    assert probe(tmp_path).gpu_problem == survey.NO_DRIVER


def test_the_installed_torch_is_found_without_importing_it():
    build = installed_torch()
    assert build is not None
    assert (build.version, build.cuda) == (torch.__version__, torch.version.cuda)
    program = (
        "import sys; from engine import machine; print(machine.installed_torch(), 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{build} False"


def test_a_missing_torch_is_none(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("engine.machine.torch_build.find_spec", lambda name: None)
    assert installed_torch() is None


# -- surroundings -------------------------------------------------------------------------------------------

OSRELEASE = "proc/sys/kernel/osrelease"


def test_an_ordinary_desktop_has_no_special_surroundings(tmp_path: Path):
    put(tmp_path, {OSRELEASE: "6.8.0-45-generic"})
    assert linux_surroundings(False, {}, tmp_path) == Surroundings()


@pytest.mark.parametrize("kernel", ["5.15.153.1-microsoft-standard-WSL2", "4.4.0-19041-Microsoft"])
def test_wsl_is_recognized_by_its_kernel_and_is_no_container(tmp_path: Path, kernel: str):
    put(tmp_path, {OSRELEASE: kernel, "run/systemd/container": "wsl"})
    assert linux_surroundings(False, {}, tmp_path) == Surroundings(wsl=True)


@pytest.mark.parametrize(
    ("files", "environ", "container"),
    [
        ({".dockerenv": ""}, {}, "docker"),
        ({"run/.containerenv": ""}, {"container": "podman"}, "podman"),
        ({".dockerenv": ""}, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "kubernetes"),
        ({"run/systemd/container": "lxc"}, {}, "lxc"),
        ({}, {"container": "systemd-nspawn"}, "systemd-nspawn"),
    ],
)
def test_containers_are_recognized_by_their_files_and_variables(tmp_path: Path, files, environ, container):
    assert linux_surroundings(False, environ, put(tmp_path, files)).container == container


def test_remote_sessions_and_batteries(tmp_path: Path):
    ssh = {"SSH_CONNECTION": "10.0.0.2 50000 10.0.0.1 22"}
    assert linux_surroundings(True, ssh, tmp_path) == Surroundings(on_battery=True, remote="ssh")
    assert windows_surroundings(True, {}, True) == Surroundings(on_battery=True, remote="remote desktop")
    assert windows_surroundings(False, ssh, False) == Surroundings(remote="ssh")
    assert windows_surroundings(False, {}, False) == Surroundings()
