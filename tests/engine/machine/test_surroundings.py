"""WSL, containers, remote sessions and batteries, from recorded files and variables."""

from pathlib import Path

import pytest

from engine.machine.data import Surroundings
from engine.machine.surroundings import linux_surroundings, windows_surroundings
from tests.engine.machine.trees import put

OSRELEASE = "proc/sys/kernel/osrelease"


def test_an_ordinary_desktop_has_nothing_to_note(tmp_path: Path):
    put(tmp_path, {OSRELEASE: "6.8.0-45-generic"})
    assert linux_surroundings(False, {}, tmp_path) == Surroundings()


@pytest.mark.parametrize("kernel", ["5.15.153.1-microsoft-standard-WSL2", "4.4.0-19041-Microsoft"])
def test_wsl_is_known_by_its_kernel_and_is_no_container(tmp_path: Path, kernel: str):
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
def test_containers_are_known_by_their_marks(tmp_path: Path, files, environ, container):
    assert linux_surroundings(False, environ, put(tmp_path, files)).container == container


def test_remote_sessions_and_batteries(tmp_path: Path):
    ssh = {"SSH_CONNECTION": "10.0.0.2 50000 10.0.0.1 22"}
    assert linux_surroundings(True, ssh, tmp_path) == Surroundings(on_battery=True, remote="ssh")
    assert windows_surroundings(True, {}, True) == Surroundings(on_battery=True, remote="remote desktop")
    assert windows_surroundings(False, ssh, False) == Surroundings(remote="ssh")
    assert windows_surroundings(False, {}, False) == Surroundings()
