"""The whole machine, asked quickly: nothing is measured; what was measured before is put where it belongs."""

import contextlib
import os
import platform
import sys
from dataclasses import replace
from pathlib import Path

import psutil

from engine.machine import kept
from engine.machine.cpu import linux_cpu, windows_cpu
from engine.machine.data import Cpu, Machine, Surroundings
from engine.machine.disk import disk_of
from engine.machine.gpu import NO_DRIVER, amd_gpus, has_nvidia_card, nvidia_gpus
from engine.machine.memory import memory
from engine.machine.surroundings import linux_surroundings, windows_surroundings


def probe(models_folder: Path) -> Machine:
    """models_folder: whose disk is described; it need not be there yet.

    Raises BadOption where it is a file, DiskProblem where nothing may be asked about it.
    """
    measured = kept.read()
    gpus, gpu_problem = nvidia_gpus()
    if not gpus and gpu_problem is None and has_nvidia_card():
        gpu_problem = NO_DRIVER
    gpus = [replace(gpu, link=measured.links.get(gpu.uuid)) for gpu in (*gpus, *amd_gpus())]
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
    with contextlib.suppress(OSError):  # raised where Linux tells nothing of power
        battery = psutil.sensors_battery()
    on_battery = battery is not None and battery.power_plugged is False
    if sys.platform == "win32":
        from engine.machine import windows

        return windows_surroundings(on_battery, os.environ, windows.in_remote_session())
    return linux_surroundings(on_battery, os.environ)
