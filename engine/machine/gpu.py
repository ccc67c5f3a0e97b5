"""Graphics cards: NVIDIA's through NVML, AMD's through Linux's sysfs. Starts neither CUDA nor torch."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pynvml

from engine.machine.data import Gpu
from engine.machine.system_files import ROOT, number, text

# GB/s of one lane by generation, after line coding (PCI Express base specifications).
_LANE_GB_PER_S = {1: 0.25, 2: 0.5, 3: 0.985, 4: 1.969, 5: 3.938, 6: 7.563}
_NVIDIA, _AMD = "0x10de", "0x1002"
NO_DRIVER = "an NVIDIA card is there, but no driver for it"


def nvidia_gpus(nvml: Any = pynvml) -> tuple[list[Gpu], str | None]:
    """The cards that answer, and the driver's words about one that does not.

    nvml: the module pynvml, or one like it. No driver at all: no cards and no words.
    """
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        missing = error.value == nvml.NVML_ERROR_LIBRARY_NOT_FOUND
        return [], None if missing else str(error)
    found: list[Gpu] = []
    problem = None
    try:
        driver = str(nvml.nvmlSystemGetDriverVersion())
        for index in range(nvml.nvmlDeviceGetCount()):
            try:
                found.append(_nvidia_gpu(nvml, nvml.nvmlDeviceGetHandleByIndex(index), driver))
            except nvml.NVMLError as error:
                problem = str(error)
    except nvml.NVMLError as error:
        problem = str(error)
    finally:
        nvml.nvmlShutdown()
    return found, problem


def _nvidia_gpu(nvml: Any, handle: Any, driver: str) -> Gpu:
    def known(ask: Callable[[Any], Any]) -> Any:
        try:
            return ask(handle)
        except nvml.NVMLError:  # not every card knows everything
            return None

    memory = known(nvml.nvmlDeviceGetMemoryInfo)
    capability = known(nvml.nvmlDeviceGetCudaComputeCapability)
    lane = _LANE_GB_PER_S.get(known(nvml.nvmlDeviceGetMaxPcieLinkGeneration))
    lanes = known(nvml.nvmlDeviceGetMaxPcieLinkWidth)
    return Gpu(
        vendor="nvidia",
        name=str(nvml.nvmlDeviceGetName(handle)),
        uuid=str(nvml.nvmlDeviceGetUUID(handle)).removeprefix("GPU-"),
        total_nbytes=memory and int(memory.total),
        free_nbytes=memory and int(memory.free),
        driver=driver,
        compute_capability=capability and (int(capability[0]), int(capability[1])),
        pcie_gb_per_s=lane * lanes if lane and lanes else None,
    )


def amd_gpus(root: Path = ROOT) -> list[Gpu]:
    """The cards that Linux's amdgpu driver runs.

    Its files: docs.kernel.org/gpu/amdgpu/driver-misc.html.
    """
    return [
        Gpu(
            vendor="amd",
            name=text(card / "product_name") or f"AMD graphics card {text(card / 'device')}",
            uuid=text(card / "unique_id"),
            total_nbytes=total,
            free_nbytes=max(0, total - (number(card / "mem_info_vram_used") or 0)),
            driver=text(root / "sys/module/amdgpu/version") or None,
        )
        for card in _cards(root, _AMD)
        if (total := number(card / "mem_info_vram_total")) is not None
    ]


def has_nvidia_card(root: Path = ROOT) -> bool:
    """Whether the PCI bus has one, driver or not."""
    return bool(_cards(root, _NVIDIA))


def _cards(root: Path, vendor: str) -> list[Path]:
    """PCI devices of the class "display controller" (0x03)."""
    devices = root / "sys/bus/pci/devices"
    return [
        device
        for device in (sorted(devices.iterdir()) if devices.is_dir() else ())
        if text(device / "vendor") == vendor and text(device / "class").startswith("0x03")
    ]
