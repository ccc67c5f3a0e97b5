"""What this machine has, how fast it moves bytes, and what is wrong with it. Free of torch."""

from engine.machine.bandwidth import measure_disk
from engine.machine.data import (
    Cpu,
    Disk,
    DiskSpeed,
    Gpu,
    LinkSpeed,
    Machine,
    Memory,
    Surroundings,
)
from engine.machine.findings import Finding, diagnose
from engine.machine.kept import is_fresh, remember_disk, remember_link
from engine.machine.probing import probe
from engine.machine.torch_build import TorchBuild, installed_torch

__all__ = [
    "Cpu",
    "Disk",
    "DiskSpeed",
    "Finding",
    "Gpu",
    "LinkSpeed",
    "Machine",
    "Memory",
    "Surroundings",
    "TorchBuild",
    "diagnose",
    "installed_torch",
    "is_fresh",
    "measure_disk",
    "probe",
    "remember_disk",
    "remember_link",
]
