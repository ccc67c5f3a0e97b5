"""Survey the whole machine quickly. Measures nothing, but includes stored measurements."""

import contextlib
import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import psutil

from engine.machine import stored_speeds, visible_cards
from engine.machine.cpu import linux_cpu, windows_cpu
from engine.machine.data import Cpu, Gpu, Machine, Surroundings
from engine.machine.disk import disk_of
from engine.machine.gpu import NO_DRIVER, amd_gpus, has_nvidia_card, nvidia_gpus
from engine.machine.memory import memory
from engine.machine.system_files import ROOT, text


def probe(models_folder: Path) -> Machine:
    """Return this machine's hardware, including the disk of `models_folder`, which need not exist yet.

    Raises BadOption if the folder is a file; DiskProblem if it cannot be examined.
    """
    measured = stored_speeds.read()
    gpus, gpu_problem = nvidia_gpus()
    if not gpus and gpu_problem is None and has_nvidia_card():
        gpu_problem = NO_DRIVER
    if gpus and not _nvidia(gpus):
        gpu_problem = "CUDA_VISIBLE_DEVICES hides it"
    gpus = [
        replace(gpu, link=measured.links.get(gpu.uuid), speed=measured.cards.get(gpu.uuid))
        for gpu in (*_nvidia(gpus), *amd_gpus())
    ]
    disk = disk_of(models_folder)
    surroundings = _surroundings()
    ram = psutil.virtual_memory()
    windows = sys.platform == "win32"
    return Machine(
        system="windows" if windows else "linux",
        gpus=tuple(gpus),
        gpu_problem=gpu_problem,
        cpu=_cpu(),
        memory=memory(ram.total, ram.available, windows_pinning=windows or surroundings.wsl),
        disk=replace(disk, speed=measured.disks.get(disk.mount_point)),
        surroundings=surroundings,
    )


def cards_here() -> list[Gpu]:
    """Return this machine's graphics cards, without measurements; of NVIDIA's, the one in use first."""
    return [*_nvidia(nvidia_gpus()[0]), *amd_gpus()]


def show_cards() -> None:
    """Let CUDA, which must not run yet in this process, see NVIDIA's cards in the order of `cards_here`."""
    visible_cards.let_cuda_see(_nvidia(nvidia_gpus()[0]))


def _nvidia(gpus: list[Gpu]) -> list[Gpu]:
    return visible_cards.in_order(gpus, os.environ.get("CUDA_VISIBLE_DEVICES"))


def available_nbytes() -> int:
    """Return the bytes of RAM that are free for this process now."""
    ram = psutil.virtual_memory()
    return memory(ram.total, ram.available, windows_pinning=False).available_nbytes


def _cpu() -> Cpu:
    threads = psutil.cpu_count() or 1
    cores = psutil.cpu_count(logical=False) or threads
    allowed = len(psutil.Process().cpu_affinity())
    if sys.platform == "win32":
        from engine.machine import windows

        name = windows.processor_name()
        return windows_cpu(cores, threads, allowed, name, platform.machine(), windows.processor_has)
    return linux_cpu(cores, threads, allowed)


def _surroundings() -> Surroundings:
    battery = None
    with contextlib.suppress(OSError):  # raised where Linux reports no power supplies
        battery = psutil.sensors_battery()
    on_battery = battery is not None and battery.power_plugged is False
    if sys.platform == "win32":
        from engine.machine import windows

        return windows_surroundings(on_battery, os.environ, windows.in_remote_session())
    return linux_surroundings(on_battery, os.environ)


def linux_surroundings(on_battery: bool, environ: Mapping[str, str], root: Path = ROOT) -> Surroundings:
    kernel = text(root / "proc/sys/kernel/osrelease").lower()
    return Surroundings(
        on_battery=on_battery,
        remote="ssh" if environ.get("SSH_CONNECTION") else None,
        wsl="microsoft" in kernel,
        container=_container(environ, root),
    )


def windows_surroundings(
    on_battery: bool, environ: Mapping[str, str], in_remote_session: bool
) -> Surroundings:
    ssh = "ssh" if environ.get("SSH_CONNECTION") else None
    return Surroundings(on_battery=on_battery, remote="remote desktop" if in_remote_session else ssh)


def _container(environ: Mapping[str, str], root: Path) -> str | None:
    if environ.get("KUBERNETES_SERVICE_HOST"):
        return "kubernetes"
    if (root / ".dockerenv").exists():
        return "docker"
    if (root / "run/.containerenv").exists():
        return "podman"
    kind = environ.get("container") or text(root / "run/systemd/container")  # systemd.io/CONTAINER_INTERFACE
    return None if kind in ("", "wsl") else kind
