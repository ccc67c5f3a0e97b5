"""The machine's hardware, its measured bandwidths and its problems. Does not import torch."""

from engine.machine.bandwidth import measure_disk
from engine.machine.data import (
    CardSpeed,
    Cpu,
    Disk,
    DiskSpeed,
    Gpu,
    LinkSpeed,
    Machine,
    Surroundings,
    SystemMemory,
)
from engine.machine.findings import Finding, diagnose, has_code
from engine.machine.stored_speeds import is_fresh, now, remember_card, remember_disk, remember_link
from engine.machine.survey import available_nbytes, cards_here, probe, show_cards
from engine.machine.torch_build import TorchBuild, installed_torch

__all__ = [
    "CardSpeed",
    "Cpu",
    "Disk",
    "DiskSpeed",
    "Finding",
    "Gpu",
    "LinkSpeed",
    "Machine",
    "Surroundings",
    "SystemMemory",
    "TorchBuild",
    "available_nbytes",
    "cards_here",
    "diagnose",
    "has_code",
    "installed_torch",
    "is_fresh",
    "measure_disk",
    "now",
    "probe",
    "remember_card",
    "remember_disk",
    "remember_link",
    "show_cards",
]
